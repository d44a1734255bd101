import type { LogEvent } from "../../data/api";
import type { Fields } from "../../data/kinds";
import { subjectOf } from "../../data/risk";

export type Lane = "model" | "tool" | "wait" | "agent" | "checkpoint";

/** Something that took its time, or a point in it. */
export interface Span {
  readonly lane: Lane;
  readonly row: number; // within its lane, where several go on at once
  readonly from: number;
  readonly to: number;
  readonly seq: number;
  readonly label: string;
  readonly bad: boolean;
}

/** What was spent up to a time, within the events at hand. */
export interface Spending {
  readonly at: number;
  readonly usd: number;
}

type Begun = { readonly at: number; readonly seq: number; readonly label: string };

/** Agents that work at once have a row each, up to so many. */
const agentRows = 4;

/** When the model wrote, tools ran, somebody was waited for and others worked, from the events at hand. */
export function spansOf(events: readonly LogEvent[]): readonly Span[] {
  const spans: Span[] = [];
  const calls = new Map<string, Begun>(), asks = new Map<string, Begun>(), agents = new Map<string, Begun>();
  const free: number[] = []; // since when an agents' row is
  let model: { from: number; to: number; seq: number } | undefined;
  const add = (lane: Lane, from: number, to: number, seq: number, label: string, bad = false, row = 0) => spans.push({ lane, row, from, to, seq, label, bad });
  const written = () => {
    if (model !== undefined) add("model", model.from, model.to, model.seq, "");
    model = undefined;
  };
  const worked = (b: Begun, to: number, bad: boolean) => {
    let row = free.findIndex((since) => since <= b.at);
    if (row < 0) row = Math.min(free.length, agentRows - 1);
    free[row] = to;
    add("agent", b.at, to, b.seq, b.label, bad, row);
  };
  for (const e of events) {
    const at = Date.parse(e.ts), p = (e.payload ?? {}) as Fields;
    switch (e.type) {
      case "token":
      case "thinking":
      case "response":
        if (model === undefined) model = { from: at, to: at, seq: e.seq };
        else model.to = at;
        break;
      case "tool_call":
        written();
        calls.set(String(p["tool_call_id"]), { at, seq: e.seq, label: `${String(p["name"])} ${subjectOf(String(p["name"]), p["arguments"])}` });
        break;
      case "tool_outcome": {
        const c = calls.get(String(p["tool_call_id"]));
        if (c !== undefined) add("tool", Math.max(c.at, at - Number(p["elapsed_ms"] ?? 0)), at, c.seq, c.label, p["status"] !== "ok" && p["status"] !== "artifact");
        break;
      }
      case "approval_required":
        asks.set(String(p["request_id"]), { at, seq: e.seq, label: String(p["tool_name"]) });
        break;
      case "approval_applied": {
        const a = asks.get(String(p["request_id"]));
        if (a !== undefined) add("wait", a.at, at, a.seq, a.label, p["decision"] === "deny");
        asks.delete(String(p["request_id"]));
        break;
      }
      case "subagent_event": {
        const id = String(p["agent_id"]), status = String(p["status"]), a = agents.get(id) ?? { at, seq: e.seq, label: String(p["task"] ?? id) };
        agents.set(id, a);
        if (status !== "completed" && status !== "failed" && status !== "cancelled") break;
        worked(a, at, status === "failed");
        agents.delete(id);
        break;
      }
      case "session_checkpoint":
        if (p["checkpoint_type"] !== "engine") add("checkpoint", at, at, e.seq, String(p["summary_text"] ?? ""));
        break;
      case "turn_end":
        written();
        break;
    }
  }
  written();
  const end = events.length === 0 ? 0 : Date.parse(events.at(-1)!.ts);
  for (const a of asks.values()) add("wait", a.at, Math.max(end, a.at + 1), a.seq, a.label);
  for (const a of agents.values()) worked(a, Math.max(end, a.at + 1), false);
  return spans;
}

/** How spending grew: an engine tells what its turn cost so far, and may begin to count anew. */
export function spendingOf(events: readonly LogEvent[]): readonly Spending[] {
  const list: Spending[] = [];
  let before = 0, turn = 0, id: string | undefined;
  for (const e of events) {
    const usd = e.type === "usage" ? (e.payload as Fields)["cost_usd"] : undefined;
    if (typeof usd !== "number") continue;
    if (e.turn_id !== id || usd < turn) [before, turn, id] = [before + turn, 0, e.turn_id];
    turn = usd;
    list.push({ at: Date.parse(e.ts), usd: before + turn });
  }
  return list;
}
