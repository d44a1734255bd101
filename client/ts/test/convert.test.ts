import assert from "node:assert/strict";
import test from "node:test";

import { fromThreadMessageLike } from "../node_modules/@assistant-ui/core/dist/runtime/utils/thread-message-like.js";
import { applyBatch } from "../src/apply.js";
import { approvalOptions, toThreadMessage, toThreadMessages } from "../src/convert.js";
import type { HarnessMessage, HarnessState, HarnessToolCall, PendingApproval } from "../src/protocol.gen.js";

const call = (id: string, at: number, more: Partial<HarnessToolCall> = {}): HarnessToolCall => ({ id, name: "bash", status: "complete", at, ...more });
const message = (more: Partial<HarnessMessage> = {}): HarnessMessage => ({ id: "m", role: "assistant", status: "complete", content: "", ...more });
const asked: PendingApproval = { toolCallId: "c", toolName: "bash", description: "Run it", requestId: "apr_1", reason: "shell", deadline: "2026-01-02T03:04:05.678Z" };

/** Parts in short. */
function outline(m: HarnessMessage): string[] {
  return toThreadMessage(m).content.map((p) => (p.type === "tool-call" ? `<${p.toolCallId}>` : p.type === "reasoning" ? `(${p.text})` : p.text));
}

test("text and tools are in the order in which they came", () => {
  const m = message({ content: "One.😀Two.Three.", reasoning: "Hm.", toolCalls: [call("a", 4), call("b", 10), call("c", 10), call("d", 16)] });
  assert.deepEqual(outline(m), ["(Hm.)", "One.", "<a>", "😀Two.", "<b>", "<c>", "Three.", "<d>"]);
});

test("calls that stand out of order, beyond the text or nowhere find a place", () => {
  const nowhere = { id: "n", name: "x", status: "complete" } as HarnessToolCall; // as S0 has it
  assert.deepEqual(outline(message({ content: "abc", toolCalls: [call("b", 99), nowhere, call("a", 1)] })), ["a", "<a>", "bc", "<b>", "<n>"]);
  assert.deepEqual(outline(message({ content: " \n", toolCalls: [call("a", 1)] })), ["<a>"]);
});

test("a call's status, output and input have their places", () => {
  const part = (c: HarnessToolCall) => {
    const p = toThreadMessage(message({ toolCalls: [c] })).content[0]!;
    assert.equal(p.type, "tool-call");
    return p as Extract<typeof p, { type: "tool-call" }>;
  };
  const done = part(call("c", 0, { input: { command: "ls" }, output: "x", outputBytes: 9 }));
  assert.deepEqual([done.args, done.argsText, done.result, done.isError, done.artifact], [{ command: "ls" }, '{"command":"ls"}', "x", undefined, { status: "complete", output: "x", outputBytes: 9 }]);
  const running = part(call("c", 0, { status: "running", output: "so far" }));
  assert.deepEqual([running.result, running.artifact.output], [undefined, "so far"]);
  assert.deepEqual([part(call("c", 0, { status: "error" })).result, part(call("c", 0, { status: "error" })).isError], ["", true]);
  const denied = part(call("c", 0, { status: "denied" }));
  assert.deepEqual([denied.result, denied.isError, denied.approval], ["denied", true, { id: "c", approved: false }]);
});

test("a question is an approval with its options, and the message waits for it", () => {
  const state: HarnessState = {
    status: "awaiting-approval",
    messages: [message({ status: "streaming", toolCalls: [call("c", 0, { status: "awaiting-approval" })] })],
    pendingApprovals: [asked],
  };
  const [m] = toThreadMessages(state);
  assert.deepEqual(m!.role === "assistant" && m!.status, { type: "requires-action", reason: "interrupt" });
  const p = m!.content[0]!;
  assert.deepEqual(p.type === "tool-call" && [p.approval, p.artifact.deadline], [{ id: "apr_1", prompt: "Run it", reason: "shell", options: approvalOptions }, asked.deadline]);
  const answered = toThreadMessages({ ...state, status: "running", pendingApprovals: [] });
  assert.notEqual(answered[0], m);
  assert.equal(answered[0]!.content[0]!.type === "tool-call" && answered[0]!.content[0]!.approval, undefined);
});

test("statuses of messages", () => {
  const status = (s: HarnessMessage["status"], error?: string) => {
    const [m] = toThreadMessages({ status: "idle", messages: [message({ status: s })], ...(error && { error }) });
    return m!.role === "assistant" && m!.status;
  };
  assert.deepEqual(status("pending"), { type: "running" });
  assert.deepEqual(status("streaming"), { type: "running" });
  assert.deepEqual(status("complete"), { type: "complete", reason: "stop" });
  assert.deepEqual(status("error"), { type: "incomplete", reason: "error" });
  assert.deepEqual(status("error", "broken"), { type: "incomplete", reason: "error", error: "broken" });
});

test("a message that did not change is the same object, also through a batch", () => {
  const state: HarnessState = {
    status: "awaiting-approval",
    messages: [message({ id: "u", role: "user", content: "hi" }), message({ id: "a", toolCalls: [call("c", 0)] }), message({ id: "b", status: "streaming" })],
    pendingApprovals: [asked],
  };
  const before = toThreadMessages(state);
  const after = toThreadMessages(applyBatch(state, [{ type: "append-text", path: ["messages", "2", "content"], value: "x" }]));
  assert.equal(after[0], before[0]);
  assert.equal(after[1], before[1]);
  assert.notEqual(after[2], before[2]);
});

test("another question or another error makes another message", () => {
  const m = message({ status: "streaming", toolCalls: [call("c", 0, { status: "awaiting-approval" })] });
  assert.notEqual(toThreadMessage(m, [asked]), toThreadMessage(m, [{ ...asked, requestId: "apr_2" }]));
  const broken = message({ status: "error" });
  assert.notEqual(toThreadMessage(broken), toThreadMessage(broken, [], "why"));
});

test("the time of a message is that of its id, if the server gave it one", () => {
  const [minted, other] = toThreadMessages({ status: "idle", messages: [message({ id: "itm_06dqsacf5vzg20g30000000000" }), message({ id: "msg_1" })] });
  assert.equal(minted!.createdAt.toISOString(), "2026-01-02T03:04:05.678Z");
  assert.equal(other!.createdAt.getTime(), 0);
});

test("a window is the newest messages", () => {
  const messages = Array.from({ length: 120 }, (_, i) => message({ id: String(i) }));
  const list = toThreadMessages({ status: "idle", messages }, 50);
  assert.deepEqual([list.length, list[0]!.id, list[49]!.id], [50, "70", "119"]);
});

test("assistant-ui takes every message as it is", () => {
  const messages = [
    message({ role: "user", content: "hi", status: "pending" }),
    message({ role: "user", content: "" }),
    message({ content: "a b", reasoning: "why", status: "streaming", toolCalls: [call("c", 1, { status: "awaiting-approval", input: { x: [1, null] } }), call("d", 2, { output: "o" })] }),
    message({ status: "error" }),
  ];
  for (const m of toThreadMessages({ status: "error", messages, pendingApprovals: [asked], error: "broken" })) {
    assert.deepEqual(fromThreadMessageLike(m as never, "fallback", { type: "complete", reason: "unknown" }), m);
  }
});
