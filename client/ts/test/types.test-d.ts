// Nothing here runs: tsc reads it.
import type { ExternalStoreAdapter, ThreadMessage, ThreadMessageLike } from "@assistant-ui/react";

import { applyBatch, HarnessClient, type HarnessCommand, type HarnessState, toThreadMessages } from "../src/index.js";
import type { ErrorMessage, ServerMessage } from "../src/index.js";
import type { http } from "../src/index.js";
import { stateAt } from "../src/http.js";
import { pagesOf } from "../src/pages.js";

declare const state: HarnessState;
declare const client: HarnessClient;

// What is converted is what assistant-ui takes, as messages and as likenesses of them.
export const messages: readonly ThreadMessage[] = toThreadMessages(state);
export const likes: readonly ThreadMessageLike[] = toThreadMessages(state);
export const adapter: ExternalStoreAdapter<ThreadMessage> = { messages: toThreadMessages(state), onNew: async () => {} };

// Every command of S1 as the specification writes it.
export const commands: HarnessCommand[] = [
  { type: "submit", prompt: "…" },
  { type: "cancel" },
  { type: "steer", message: "…" },
  { type: "approve", toolCallId: "…" },
  { type: "deny", toolCallId: "…", reason: "…" },
  { type: "resume", prompt: "…", sessionId: "…" },
  { type: "configure", config: { permissionMode: "acceptEdits", maxTurns: 1, model: "…", systemPrompt: "…", effort: "max" } },
  { type: "rewind", messageId: "…", dryRun: true },
];
// @ts-expect-error a word of no command
commands.push({ type: "stop" });
// @ts-expect-error a prompt is missing
commands.push({ type: "submit" });
// @ts-expect-error a mode that there is not
commands.push({ type: "configure", config: { permissionMode: "yolo" } });

// S0's and S1's own declarations are taken as they are, and ours as theirs.
type SeedState = {
  status: "idle" | "running" | "awaiting-approval" | "error";
  messages: { id: string; role: "user" | "assistant"; content: string; status: "pending" | "streaming" | "complete" | "error" }[];
  sessionId?: string;
};
declare const seed: SeedState;
export const ours: HarnessState = seed;
export const words: SeedState["status"] = state.status;

// Unions are told apart by their type, all of them.
export function seqOf(m: ServerMessage): number {
  switch (m.type) {
    case "state":
      return m.state.messages.length + m.seq;
    case "delta":
      return m.operations.length + m.seq;
    case "hb":
    case "ack":
      return m.seq;
    case "error": {
      const code: ErrorMessage["code"] = m.code;
      return code.length;
    }
  }
}

// States are not written to.
// @ts-expect-error
state.status = "idle";
// @ts-expect-error
state.messages.push();

export const next: HarnessState = applyBatch(state, [{ type: "set", path: ["status"], value: "idle" }]);
// @ts-expect-error there are two operations
applyBatch(state, [{ type: "delete", path: ["status"] }]);

export const sent: Promise<{ readonly seq: number }> = client.send({ type: "cancel" });
export const page: Promise<http.EventPage> = pagesOf(client).events.list({ after: 1, tier: "default" });
export const past: Promise<http.Snapshot> = stateAt(client, 4);
