/** Tools that only look, and what is written for nobody but the agent. */
export const reads = /^(read|glob|grep|ls|list|search|local_search|todo|plan|ask_user|Read|Glob|Grep|LS|TodoWrite|bash_output)$/;
const edits = /^(write|edit|multi_edit|patch|apply_patch|Write|Edit|MultiEdit|NotebookEdit)$/;
const grave = /\brm\s+(-\w*[rf]|--recursive|--force)|\bgit\s+(push|reset\s+--hard|clean)|\bsudo\b|\bmkfs|\bdd\s+if=|\bchmod\s+-R|\bchown\s+-R|\b(curl|wget)\b[^|]*\|\s*(ba|z)?sh|\bkubectl\s+delete|\bterraform\s+(apply|destroy)|\bdrop\s+(table|database)|\bnpm\s+publish|\bshutdown\b|\breboot\b|>\s*\/dev\/sd|:\(\)\s*\{/i;

/** The field of a call that has its command, and how that reads. */
export function commandIn(input: unknown): { readonly name: "command" | "cmd"; readonly text: string } | undefined {
  const i = (input ?? {}) as { readonly command?: unknown; readonly cmd?: unknown };
  const name = i.command === undefined || i.command === null ? "cmd" : "command", c = i[name];
  const text = typeof c === "string" ? c : Array.isArray(c) && c.every((w) => typeof w === "string") ? c.join(" ") : undefined;
  return text === undefined ? undefined : { name, text };
}

/** Whether a call may do what cannot be taken back. */
export function isGrave(input: unknown): boolean {
  return grave.test(commandIn(input)?.text ?? "");
}

export type ToolKind = "read" | "edit" | "run" | "net" | "agent" | "ask" | "plan" | "other";

export function toolKind(tool: string): ToolKind {
  if (/^(todo|plan|TodoWrite|update_plan)$/.test(tool)) return "plan";
  if (/^(ask_user|AskUserQuestion)$/.test(tool)) return "ask";
  if (reads.test(tool)) return "read";
  if (edits.test(tool)) return "edit";
  if (/^(bash|shell|exec|Bash|run|bash_kill|execute|local_shell)/.test(tool)) return "run";
  if (/fetch|web|http/i.test(tool)) return "net";
  if (/^(task|Task|delegate|agent)/.test(tool)) return "agent";
  return "other";
}

/** What a call is about in a few words: its command, its file, its pattern. */
export function subjectOf(tool: string, input: unknown): string {
  const command = commandIn(input)?.text;
  if (command !== undefined && toolKind(tool) === "run") return command;
  if (typeof input !== "object" || input === null) return "";
  const i = input as Readonly<Record<string, unknown>>;
  for (const name of ["path", "file_path", "notebook_path", "pattern", "url", "query", "question", "description", "title", "action", "id"]) {
    const v = i[name];
    if (typeof v === "string" && v !== "") return v;
  }
  if (command !== undefined) return command;
  if (Array.isArray(i["items"])) return (i["items"] as { readonly content?: string }[]).map((x) => x.content).join(" · ");
  const first = Object.values(i).find((v) => typeof v === "string");
  return typeof first === "string" ? first : "";
}
