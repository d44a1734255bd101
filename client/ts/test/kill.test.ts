import assert from "node:assert/strict";
import test from "node:test";
import { Worker } from "node:worker_threads";

import { pagesOf } from "../src/pages.js";
import { binary, cleared, idle, last, sameAsFresh, see, Server } from "./server.js";

const skip = binary === undefined && "HARNESS_TEST_BIN names no server";

/** How soon after it listens again the client has the right state. */
const soon = 1_500;

test("a server that is killed mid-stream and comes back: nothing lost, nothing twice, soon", { skip }, async (t) => {
  const s = await Server.start(`when long\n  stream 300 4ms "word "\nelse\n  say Hello.\nend\n`);
  t.after(() => s.end());
  const c = await s.open({ userId: "u" });
  const seen = new Map<string, string>();
  let phases = "";
  c.subscribe(() => {
    const phase = c.getConnection().phase;
    if (!phases.endsWith(phase)) phases += " " + phase;
    for (const m of c.getState()!.messages) {
      const before = seen.get(m.id) ?? "";
      assert.ok(m.content.startsWith(before), `${m.id} was ${before}, is ${m.content}`);
      seen.set(m.id, m.content);
    }
  });
  let lives = 0;
  let worst = 0;
  for (; lives < 2; lives++) {
    await c.send({ type: "submit", prompt: "long" });
    const shown = [...seen.values()].join("").length;
    await see(c, "more words", () => [...seen.values()].join("").length > shown + 60);
    await s.kill();
    await see(c, "the break", () => c.getConnection().phase === "reconnecting");
    const late = c.send({ type: "submit", prompt: `hello ${lives}` }); // given while the server is away
    const begin = Date.now();
    await s.start();
    const back = Date.now();
    const fresh = await s.fresh(c.sessionId!);
    await see(c, "the state after the restart", () => c.getConnection().phase === "open" && c.seq! >= fresh.seq);
    worst = Math.max(worst, Date.now() - back);
    t.diagnostic(`the server took ${back - begin} ms to start, the client ${Date.now() - back} ms to have its state`);
    await late;
  }
  const done = await see(c, "the end", (x) => idle(4)(x) && x.messages.filter((m) => m.content === "Hello.").length === lives);
  if (process.env["LONG"]) assert.ok(worst <= soon, `${worst} ms`); // by the client's own clock it always is: client.test.ts
  assert.deepEqual(done.messages.filter((m) => m.role === "user").map((m) => m.content), ["long", "hello 0", "long", "hello 1"]);
  assert.match(phases, /open reconnecting open reconnecting open$/);
  await sameAsFresh(s, c);
  // The log has each word that is shown, and no other.
  const told = new Map<string, string>();
  for (const e of await pagesOf(c).events.window(1, c.seq!)) {
    const { item_id: id, text } = e.payload as { item_id: string; text: string };
    if (e.type === "token") told.set(id, (told.get(id) ?? "") + text);
  }
  for (const m of done.messages) if (m.role === "assistant" && m.content !== "") assert.equal(m.content, told.get(m.id));
});

test("a command that expired while the server was away has no effect", { skip }, async (t) => {
  const s = await Server.start(`ask bash {"command":"ls"} access=execute "Run ls" => ran\n`);
  t.after(() => s.end());
  const c = await s.open({ userId: "u", commandLifetime: 300 });
  await c.send({ type: "submit", prompt: "go" });
  const asked = await see(c, "the question", (x) => x.status === "awaiting-approval");
  await s.kill();
  await see(c, "the break", () => c.getConnection().phase === "reconnecting");
  await assert.rejects(c.send({ type: "approve", toolCallId: asked.pendingApprovals![0]!.toolCallId }), { code: "expired" });
  await s.start();
  await see(c, "the line", () => c.getConnection().phase === "open");
  await sameAsFresh(s, c);
  const waiting = await see(c, "the question again", (x) => x.status === "awaiting-approval");
  assert.equal(waiting.pendingApprovals!.length, 1);
});

test("a tab that is busy while much happens has it all in few steps", { skip }, async (t) => {
  const s = await Server.start(`stream 1500 100us "${"0123456789".repeat(400)}"\n`, "--store", "memory");
  t.after(() => s.end());
  const c = await s.open({ userId: "u" });
  await c.send({ type: "submit", prompt: "go" });
  const tab = new Worker(new URL("slow.worker.mjs", import.meta.url), {
    workerData: { url: s.url, token: s.token, sessionId: c.sessionId, busy: 1_000, messages: 2 },
  });
  const told = new Promise<{ state: ReturnType<typeof cleared>; changes: number }>((resolve, reject) => {
    tab.once("message", resolve);
    tab.once("error", reject);
  });
  const done = await see(c, "the end", idle(2));
  const { state, changes } = await told;
  t.diagnostic(`${last(done).content.length} characters; the busy tab changed ${changes} times behind its pause`);
  assert.deepEqual(cleared(state), cleared(done));
  await tab.terminate();
});
