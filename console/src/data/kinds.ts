import type { LogEvent } from "./api";
import { subjectOf } from "./risk";

/** Where an event stands in the timeline. */
export type Lane = "model" | "tool" | "wait" | "session" | "debug";

interface Kind {
  readonly lane: Lane;
  readonly say: (p: Fields) => string;
  /** Events of this kind that follow each other are shown as one. */
  readonly folds?: true;
  readonly tone?: (p: Fields) => "bad" | "warn" | "ok" | undefined;
}

export type Fields = Readonly<Record<string, unknown>>;

const s = (v: unknown) => (typeof v === "string" ? v : v === undefined || v === null ? "" : typeof v === "object" ? JSON.stringify(v) : String(v));
const join = (...parts: unknown[]) => parts.map(s).filter((x) => x !== "").join(" · ");
const line = (v: unknown) => s(v).replace(/\s+/g, " ").slice(0, 300);

/**
 * Every event that a server may send, by its type: exactly those of
 * GET /stream-events, which kinds_test.go compares. One that is not here is
 * shown by its name.
 */
export const kinds = {
  session: { lane: "session", say: (p) => s(p["session_id"]) },
  session_state: { lane: "session", say: (p) => join(p["status"], p["reason"], p["title"], p["permission_mode"], p["model"]), tone: (p) => (p["status"] === "failed" ? "bad" : undefined) },
  session_checkpoint: { lane: "session", say: (p) => join(p["checkpoint_type"], p["phase"], line(p["summary_text"])) },
  user_message: { lane: "session", say: (p) => line((p["parts"] as { text?: string; path?: string }[] | undefined)?.map((x) => x.text ?? x.path).join(" ")) },
  turn_start: { lane: "debug", say: (p) => join(p["engine"], p["model"], Number(p["attempt"]) > 1 ? `#${s(p["attempt"])}` : "") },
  turn_start_tools: { lane: "debug", say: (p) => ((p["tools"] as { name: string }[] | undefined) ?? []).map((x) => x.name).join(", ") },
  token: { lane: "model", say: (p) => line(p["text"]), folds: true },
  response: { lane: "model", say: (p) => line(p["text"]) },
  thinking: { lane: "model", say: (p) => line(p["text"]), folds: true },
  reflection: { lane: "model", say: (p) => line(p["text"]) },
  tool_call: { lane: "tool", say: (p) => join(p["name"], line(subjectOf(s(p["name"]), p["arguments"]))) },
  tool_log: { lane: "debug", say: (p) => line(p["text"]), folds: true },
  tool_result: { lane: "tool", say: (p) => join(p["tool_name"], line(p["output"])) },
  tool_outcome: { lane: "tool", say: (p) => join(p["tool_name"], p["status"], p["error"], p["reason"]), tone: (p) => (p["status"] === "error" || p["status"] === "timeout" ? "bad" : p["status"] === "denied" ? "warn" : "ok") },
  tool_batch: { lane: "debug", say: (p) => join(`${((p["waves"] as unknown[] | undefined) ?? []).length}`, p["reason"]) },
  tool_selected: { lane: "debug", say: (p) => ((p["tools"] as { name: string }[] | undefined) ?? []).map((x) => x.name).join(", ") },
  tool_validation_error: { lane: "debug", say: (p) => join(p["tool_name"], ((p["errors"] as string[] | undefined) ?? []).join("; ")), tone: () => "warn" },
  approval_required: { lane: "wait", say: (p) => join(p["tool_name"], line(p["description"])), tone: () => "warn" },
  approval_applied: { lane: "wait", say: (p) => join(p["tool_name"], p["decision"], p["scope"], p["source"], p["actor"], p["reason"]), tone: (p) => (p["decision"] === "deny" ? "warn" : "ok") },
  context_warning: { lane: "session", say: (p) => join(`${s(p["pct"])} %`, p["used_tokens"]), tone: () => "warn" },
  context_compacted: { lane: "session", say: (p) => join(`${s(p["original_count"])} → ${s(p["compacted_count"])}`, line(p["summary"])) },
  step_progress: { lane: "session", say: (p) => join(`${s(p["index"])}/${s(p["total"])}`, p["title"], p["status"]) },
  usage: { lane: "debug", say: (p) => join(p["model"], `${s(p["input_tokens"])} → ${s(p["output_tokens"])}`, p["cost_usd"] === null || p["cost_usd"] === undefined ? "" : `$${s(p["cost_usd"])}`) },
  retrieval: { lane: "tool", say: (p) => line(p["query"]) },
  antahkarana: { lane: "session", say: (p) => join(s(p["confidence"]), line((p["buddhi"] as Fields | undefined)?.["decision"])) },
  policy_decision: { lane: "debug", say: (p) => join(p["subject"], p["outcome"], p["source"], p["policy_path"], p["reason"]) },
  hook_event: { lane: "debug", say: (p) => join(p["kind"], p["status"], p["reason"], p["actor"]) },
  sandbox_notice: { lane: "debug", say: (p) => join(p["resolved_backend"], p["isolation"], p["reason"]) },
  transport_diagnostic: { lane: "debug", say: (p) => join(p["kind"], p["status"], p["provider_actual"], p["reason"]), tone: () => "warn" },
  subagent_event: { lane: "debug", say: (p) => join(p["agent_id"], p["status"], line(p["task"]), line(p["summary"])) },
  artifact: { lane: "session", say: (p) => join(p["artifact_type"], p["title"]) },
  rewind: { lane: "session", say: (p) => join(p["dry_run"] === true ? "dry run" : "", ((p["files_changed"] as string[] | undefined) ?? []).join(", "), p["error"]) },
  turn_end: { lane: "session", say: (p) => join(p["status"], p["reason"]), tone: (p) => (p["status"] === "error" ? "bad" : p["status"] === "completed" ? "ok" : undefined) },
  completed: { lane: "session", say: (p) => line(p["result"]), tone: () => "ok" },
  error: { lane: "session", say: (p) => join(p["code"], p["message"]), tone: () => "bad" },
  health_snapshot: { lane: "session", say: (p) => join(s(p["score"]), p["grade"]) },
} as const satisfies Readonly<Record<string, Kind>>;

const unknown: Kind = { lane: "debug", say: (p) => line(JSON.stringify(p)) };

export function kindOf(type: string): Kind {
  return Object.hasOwn(kinds, type) ? kinds[type as keyof typeof kinds] : unknown;
}

/** One row of a list of events: an event, or several that say one thing in pieces. */
export interface Entry {
  readonly event: LogEvent;
  readonly last: LogEvent;
  readonly count: number;
  readonly text: string;
}

/** The reducer of the log: events of a page, in order, as rows. */
export function fold(events: readonly LogEvent[]): readonly Entry[] {
  const rows: { event: LogEvent; last: LogEvent; count: number; text: string }[] = [];
  for (const e of events) {
    const kind = kindOf(e.type);
    const before = rows.at(-1);
    const text = kind.say((e.payload ?? {}) as Fields);
    if (kind.folds === true && before?.event.type === e.type && before.event.turn_id === e.turn_id) {
      before.last = e;
      before.count++;
      if (before.text.length < 300) before.text += s((e.payload as Fields)["text"]).replace(/\s+/g, " ");
    } else rows.push({ event: e, last: e, count: 1, text });
  }
  return rows;
}
