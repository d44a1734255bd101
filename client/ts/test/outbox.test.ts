import assert from "node:assert/strict";
import test from "node:test";

import type { HarnessError } from "../src/errors.js";
import { settle, stage } from "./fake.js";

const submit = (prompt: string) => ({ type: "submit", prompt }) as const;

/** How a promise stands. */
function watch(p: Promise<unknown>): { is: () => Promise<string> } {
  let is = "waiting";
  p.then(() => (is = "acknowledged"), (e: HarnessError) => (is = e.code));
  return { is: async () => (await settle(), is) };
}

test("a command is acknowledged under its own id", async () => {
  const s = stage();
  s.socket().state(1);
  const sent = s.client.send(submit("a"));
  assert.deepEqual(s.socket().sent, [{ type: "submit", prompt: "a", commandId: "cmd_1" }]);
  assert.deepEqual(s.client.getPending().map((p) => [p.commandId, p.sent]), [["cmd_1", true]]);
  s.socket().ack("cmd_1", 4);
  assert.deepEqual(await sent, { commandId: "cmd_1", seq: 4 });
  assert.equal(s.client.getPending().length, 0);
});

test("a command is refused with the server's code", async () => {
  const s = stage();
  s.socket().state(1);
  const sent = s.client.send({ type: "approve", toolCallId: "c" });
  s.socket().refuse("cmd_1", "already_resolved");
  await assert.rejects(sent, { code: "already_resolved", commandId: "cmd_1" });
});

test("a refusal of no command is told to onError", () => {
  const heard: string[] = [];
  const s = stage({ onError: (e) => heard.push(e.code) });
  s.socket().state(1).refuse(undefined, "too_large").refuse("of somebody else", "busy");
  assert.deepEqual(heard, ["too_large", "busy"]);
});

test("commands wait for the line, and go out in order once the state is known", () => {
  const s = stage();
  void s.client.send(submit("a")).catch(() => {});
  void s.client.send(submit("b")).catch(() => {});
  s.socket().readyState = 1;
  assert.equal(s.socket().sent.length, 0);
  s.socket().state(1);
  assert.deepEqual(s.socket().sent.map((c) => c.prompt), ["a", "b"]);
  s.client.close();
});

test("what was not acknowledged is sent again under the same id, and only that", async () => {
  const s = stage();
  s.socket().state(1);
  const [a, b] = [s.client.send(submit("a")), s.client.send(submit("b"))];
  s.socket().ack("cmd_1");
  await a;
  s.socket().break();
  s.host.advance(300);
  s.socket().hb(1);
  assert.deepEqual(s.socket().sent.map((c) => [c.prompt, c.commandId]), [["b", "cmd_2"]]);
  s.socket().ack("cmd_2");
  await b;
});

test("a cancel is not sent twice: it could hit the next turn", async () => {
  const s = stage();
  s.socket().state(1);
  const sent = watch(s.client.send({ type: "cancel" }));
  s.socket().break();
  assert.equal(await sent.is(), "unknown");
  const later = watch(s.client.send({ type: "cancel" })); // given while there is no line: sent once
  s.host.advance(300);
  s.socket().hb(1);
  assert.deepEqual(s.socket().sent.map((c) => c.type), ["cancel"]);
  s.socket().ack("cmd_2");
  assert.equal(await later.is(), "acknowledged");
});

test("a command that is not acknowledged in 30 s expires and is never sent again", async () => {
  const s = stage();
  s.socket().state(1);
  const sent = watch(s.client.send({ type: "approve", toolCallId: "c" }));
  s.host.advance(10_000);
  s.socket().hb(1);
  s.host.advance(10_000);
  s.socket().hb(1).break();
  s.host.advance(9_999);
  assert.equal(await sent.is(), "waiting");
  s.host.advance(1);
  assert.equal(await sent.is(), "expired");
  s.socket().state(1);
  assert.equal(s.socket().sent.length, 0);
});

test("after sleep an old approval is not sent", async () => {
  const s = stage();
  s.socket().state(1);
  s.socket().break();
  const sent = watch(s.client.send({ type: "approve", toolCallId: "c" }));
  s.host.time += 31_000; // no timer runs meanwhile
  s.host.wake();
  s.socket().state(1);
  assert.equal(s.socket().sent.length, 0);
  assert.equal(await sent.is(), "expired");
});

test("an answer names the question that was shown", () => {
  const s = stage();
  const asked = { toolCallId: "c", toolName: "bash", description: "", requestId: "apr_1" };
  s.socket().state(1, { pendingApprovals: [asked] });
  void s.client.send({ type: "approve", toolCallId: "c" }).catch(() => {});
  void s.client.send({ type: "deny", toolCallId: "c", requestId: "apr_0" }).catch(() => {});
  void s.client.send({ type: "deny", toolCallId: "other" }).catch(() => {});
  assert.deepEqual(s.socket().sent.map((c) => c.requestId), ["apr_1", "apr_0", undefined]);
  s.client.close();
});

test("a server that has no time is asked again after a second", async () => {
  for (const code of ["unavailable", "too_many_requests"]) {
    const s = stage();
    s.socket().state(1);
    const sent = watch(s.client.send(submit("a")));
    s.socket().refuse("cmd_1", code);
    assert.equal(await sent.is(), "waiting");
    s.host.advance(1_000);
    assert.equal(s.socket().sent.length, 2);
    s.socket().ack("cmd_1");
    assert.equal(await sent.is(), "acknowledged");
  }
});

test("a cancel that the server had no time for is not tried again", async () => {
  const s = stage();
  s.socket().state(1);
  const sent = watch(s.client.send({ type: "cancel" }));
  s.socket().refuse("cmd_1", "unavailable");
  assert.equal(await sent.is(), "unavailable");
});

test("a second try that is late is none", async () => {
  const s = stage();
  s.socket().state(1);
  const sent = watch(s.client.send({ type: "approve", toolCallId: "c" }));
  s.socket().refuse("cmd_1", "unavailable");
  s.host.sleep(40_000); // both timers are due, the second try's first
  assert.equal(s.sockets.flatMap((x) => x.sent).length, 1);
  assert.equal(await sent.is(), "expired");
});

test("what cannot be sent is refused at once", async () => {
  const s = stage();
  await assert.rejects(s.client.send(submit("é".repeat(600_000))), { code: "too_large" });
  const many = Array.from({ length: 257 }, () => watch(s.client.send(submit("a"))));
  assert.equal(await many[255]!.is(), "waiting");
  assert.equal(await many[256]!.is(), "queue_full");
  const twice = watch(s.client.send({ ...submit("a"), commandId: "cmd_2" }));
  assert.equal(await twice.is(), "queue_full");
  s.client.close();
});
