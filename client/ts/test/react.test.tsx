import assert from "node:assert/strict";
import test from "node:test";

import { type AssistantRuntime, AssistantRuntimeProvider } from "@assistant-ui/react";
import { act, type ReactNode, StrictMode } from "react";
// @ts-expect-error it has no types
import { create } from "react-test-renderer";

import { useHarnessRuntime } from "../src/assistant-ui.js";
import { HarnessProvider, useClient, useCommand, useConnection, useEventWindow, useHarness, useHarnessClient, useHistory, usePending } from "../src/react.js";
import type { HarnessMessage } from "../src/protocol.gen.js";
import { settle, type Stage, stage, streaming } from "./fake.js";

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

/** Renders something below a stage's client. */
async function render(s: Stage, node: ReactNode): Promise<{ unmount(): Promise<void> }> {
  let root: { unmount(): void };
  await act(async () => void (root = create(<HarnessProvider client={s.client}>{node}</HarnessProvider>)));
  return { unmount: () => act(async () => root.unmount()) };
}

const message = (i: number): HarnessMessage => ({ id: `m${i}`, role: i % 2 ? "assistant" : "user", content: `text ${i}`, status: "complete" });

test("a selector renders again only when what it takes changes", async () => {
  const s = stage({ schedule: "sync" });
  const shown: (string | undefined)[] = [];
  const Status = () => (shown.push(useHarness((x) => x.status)), null);
  const root = await render(s, <Status />);
  await act(async () => void s.socket().state(1, { status: "running", messages: streaming() }));
  for (let i = 0; i < 5; i++) await act(async () => void s.socket().say(2 + i, "x"));
  await act(async () => void s.socket().tell({ type: "delta", seq: 9, operations: [{ type: "set", path: ["status"], value: "idle" }] }));
  assert.deepEqual(shown, [undefined, "running", "idle"]);
  await root.unmount();
});

test("a selector that makes something new renders as often as its comparison says", async () => {
  const s = stage({ schedule: "sync" });
  let renders = 0;
  const Ids = () => (renders++, useHarness((x) => x.messages.map((m) => m.id), (a, b) => a.join() === b.join()), null);
  await render(s, <Ids />);
  await act(async () => void s.socket().state(1, { messages: streaming() }));
  await act(async () => void s.socket().say(2, "x").say(3, "y"));
  assert.equal(renders, 2);
});

test("connection and pending commands are shown, and why a command failed", async () => {
  const s = stage();
  let seen: unknown;
  let send: ReturnType<typeof useCommand>["send"];
  const View = () => {
    const command = useCommand();
    send = command.send;
    seen = [useConnection().phase, usePending().length, command.waiting, command.error?.code];
    return null;
  };
  await render(s, <View />);
  assert.deepEqual(seen, ["connecting", 0, false, undefined]);
  await act(async () => void s.socket().state(1));
  let failed: Promise<unknown>;
  await act(async () => void (failed = assert.rejects(send({ type: "cancel" }))));
  assert.deepEqual(seen, ["open", 1, true, undefined]);
  await act(async () => (s.socket().refuse("cmd_1", "not_running"), void (await failed)));
  assert.deepEqual(seen, ["open", 0, false, "not_running"]);
});

test("a client of a component ends with it, also under StrictMode", async () => {
  const s = stage();
  const made = new Set<ReturnType<typeof useHarnessClient>>();
  const host = s.host;
  const View = (p: { id: string }) => (made.add(useHarnessClient({ url: "http://x.test", sessionId: p.id, host, WebSocket: s.sockets[0]!.constructor as never })), null);
  let root: { unmount(): void; update(n: ReactNode): void };
  await act(async () => void (root = create(<StrictMode><View id="a" /></StrictMode>)));
  await act(async () => root.update(<StrictMode><View id="b" /></StrictMode>));
  await act(async () => root.unmount());
  made.delete(undefined);
  assert.ok(made.size >= 2);
  for (const c of made) assert.equal(c!.getConnection().phase, "closed");
});

test("windows of events and pages of history come over HTTP", async () => {
  const s = stage({ window: 64 });
  s.socket().state(9, { messages: [message(100), message(101)], firstMessage: 100 });
  const asked: string[] = [];
  const http = (path: string) => {
    asked.push(new URL(path).pathname + new URL(path).search);
    if (path.includes("/events")) return Response.json({ session_id: "ses_1", events: [1, 2, 3].map((seq) => ({ seq })) });
    const list = Array.from({ length: 30 }, (_, i) => ({ ...message(70 + i), item_id: `m${70 + i}` }));
    return Response.json({ session_id: "ses_1", seq: 9, message_count: 102, first_message: 70, messages: list });
  };
  s.answers.push(http, http, http, http);
  let seen: { events: readonly { seq: number }[]; loading: boolean } | undefined;
  let history: ReturnType<typeof useHistory> | undefined;
  const View = () => ((seen = useEventWindow(1, 3)), (history = useHistory(30)), useClient(), null);
  await render(s, <View />);
  await act(settle);
  assert.deepEqual([seen!.events.map((e) => e.seq), seen!.loading], [[1, 2, 3], false]);
  assert.deepEqual([history!.messages, history!.more], [[], true]);
  await act(async () => void (await history!.load()));
  assert.deepEqual([history!.messages.length, history!.messages[0]!.id, history!.more], [30, "m70", true]);
  assert.deepEqual(history!.messages[0], message(70));
  assert.ok(asked[0]!.startsWith("/sessions/ses_1/events?"));
  assert.equal(asked[1], "/sessions/ses_1/messages?before=100&limit=30");
});

test("assistant-ui is fed the newest messages, and what people do becomes commands", async () => {
  const s = stage({ schedule: "sync" });
  let runtime: AssistantRuntime | undefined;
  const errors: string[] = [];
  const Thread = () => {
    runtime = useHarnessRuntime(s.client, { window: 50, onError: (e) => errors.push(e.code) });
    return <AssistantRuntimeProvider runtime={runtime}>{null}</AssistantRuntimeProvider>;
  };
  await render(s, <Thread />);
  assert.equal(runtime!.thread.getState().isLoading, true);
  await act(async () => void s.socket().state(1, { messages: [] }));
  await act(async () => runtime!.thread.append("first"));
  assert.deepEqual(s.socket().sent.at(-1), { type: "submit", prompt: "first", commandId: "cmd_1" });

  await act(async () => void s.socket().state(2, { messages: Array.from({ length: 300 }, (_, i) => message(i)) }));
  assert.deepEqual(runtime!.thread.getState().messages.map((m) => m.id), Array.from({ length: 50 }, (_, i) => `m${250 + i}`));
  await act(async () => runtime!.thread.append("second"));
  assert.deepEqual(s.socket().sent.at(-1), { type: "resume", prompt: "second", sessionId: "ses_1", commandId: "cmd_2" });

  await act(async () => (runtime!.thread.composer.setText("third"), runtime!.thread.composer.send({ steer: true })));
  assert.deepEqual(s.socket().sent.at(-1)!.type, "resume", "there is no turn to steer");

  const call = { id: "c", name: "bash", status: "awaiting-approval", at: 0, input: { command: "ls" } } as const;
  const asking = {
    status: "awaiting-approval" as const,
    messages: [message(0), { ...message(1), status: "streaming" as const, content: "", toolCalls: [call] }],
    pendingApprovals: [{ toolCallId: "c", toolName: "bash", description: "Run ls", requestId: "apr_1" }],
  };
  await act(async () => void s.socket().state(3, asking));
  const thread = runtime!.thread.getState();
  assert.equal(thread.isRunning, true);
  const part = thread.messages[1]!.content[0]!;
  assert.ok(part.type === "tool-call" && part.approval?.id === "apr_1");

  await act(async () => runtime!.thread.append("left"));
  assert.deepEqual(s.socket().sent.at(-1), { type: "steer", message: "left", commandId: "cmd_4" });
  const answer = runtime!.thread.getMessageById("m1").getMessagePartByToolCallId("c");
  await act(async () => answer.respondToToolApproval({ approved: false, reason: "no" }));
  assert.deepEqual(s.socket().sent.at(-1), { type: "deny", toolCallId: "c", requestId: "apr_1", reason: "no", commandId: "cmd_5" });
  let posted = "";
  s.answers.push((path) => ((posted = new URL(path).pathname), Response.json({})));
  await act(async () => (await answer.respondToToolApproval({ optionId: "always" }), settle()));
  assert.equal(posted, "/approvals/apr_1");
  await act(async () => runtime!.thread.cancelRun());
  assert.deepEqual(s.socket().sent.at(-1), { type: "cancel", commandId: "cmd_6" });
  await act(async () => (s.socket().refuse("cmd_6", "not_running"), settle()));
  assert.deepEqual(errors, ["not_running"]);
});
