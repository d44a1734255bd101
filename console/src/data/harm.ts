import { plain } from "./plain";
import { commandIn, isGrave, reads, toolKind } from "./risk";

/** How much a call can break, as far as it can be seen from outside. */
export type Risk = "low" | "medium" | "high";

const none = /^$/, writes = /^--(ou|ext)/;

/** Commands that change nothing, with the arguments by which they would. */
const harmless: Readonly<Record<string, RegExp>> = {
  ls: none, cat: none, head: none, tail: none, wc: none, pwd: none, echo: none, grep: none,
  date: /^(?!\+|-u$)/, rg: /^--(pre|host)/, find: /^-(delete|exec|ok|f)/,
  "git status": none, "git log": writes, "git diff": writes, "git show": writes, "git branch": /^(?!(-[arv]+|--all|--list|--show-current)$)/,
  "go list": /^-(?!m$|json$)/, "go version": none, "npm ls": none,
};

/** A word that a shell leaves as it is, but for the names of files. */
const word = /[ \t]*(?:([\p{L}\p{N}_@%+=:,./~^*?[\]-]+)|'([^'\n]*)'|"([^"\\$`\n]*)")(?=[ \t]|$)/guy;

/** Whether it is one command, without anything that a shell runs, joins or writes besides, that changes nothing. */
function changesNothing(command: string): boolean {
  const found = [...command.matchAll(word)];
  if (found.reduce((n, m) => n + m[0].length, 0) !== command.trimEnd().length || plain(command) !== command) return false;
  const words = found.map((m) => m[1] ?? m[2] ?? m[3]!);
  const long = Object.hasOwn(harmless, words.slice(0, 2).join(" ")), name = words.slice(0, long ? 2 : 1).join(" ");
  if (!Object.hasOwn(harmless, name)) return false;
  const wrong = harmless[name]!;
  return found.slice(long ? 2 : 1).every((m) => !wrong.test(m[1] ?? m[2] ?? m[3]!) && (wrong === none || !/[*?[]/.test(m[1] ?? ""))); // a file may be named like an option
}

/** What may stand beside a command and changes nothing about it. */
const beside = /^(description|timeout\w*|directory|cwd|workdir|run_in_background)$/;

export function riskOf(tool: string, input: unknown): Risk {
  if (tool === "health_policy") return "medium";
  const command = commandIn(input);
  if (isGrave(input)) return "high";
  if (command === undefined) return reads.test(tool) ? "low" : "medium";
  return toolKind(tool) === "run" && changesNothing(command.text) && Object.keys(input as object).every((k) => k === command.name || beside.test(k)) ? "low" : "medium";
}
