import assert from "node:assert/strict";
import test, { after, before } from "node:test";

import type { HarnessClient } from "../src/client.js";
import { toThreadMessages } from "../src/convert.js";
import { stateAt } from "../src/http.js";
import { pagesOf } from "../src/pages.js";
import { Dice } from "./dice.js";
import { binary, cleared, idle, last, sameAsFresh, see, Server } from "./server.js";

const script = `when ask
  say "Before. "
  ask bash {"command":"ls"} access=execute "Run ls" => ran
  say " After."
else when steer
  say "Go. "
  steer "heard: "
else when hang
  say Hanging.
  hang
else when long
  stream 250 2ms "word "
else when short
  stream 20 1ms "word "
else when mixed
  think Hm.
  say "One. "
  call read {"path":"a"} => A
  say "Two. "
  call read {"path":"b"} => B
  say Three.
else when broken
  fail It broke.
else
  say Hello.
end
`;

let users = 0;
const user = () => `user${++users}`;

test("against a real server", { skip: binary === undefined && "HARNESS_TEST_BIN names no server" }, async (t) => {
  let s: Server;
  before(async () => void (s = await Server.start(script, "--store", "memory")));
  after(() => s.end());

  await t.test("a prompt is acknowledged, answered, and shown to everybody alike", async () => {
    const [a, b] = await Promise.all([1, 2].map(async () => s.open({ userId: "both" })));
    const ack = await a!.send({ type: "submit", prompt: "hello" });
    assert.ok(ack.seq > 0);
    const [x, y] = await Promise.all([see(a!, "the answer", idle(2)), see(b!, "the answer", idle(2))]);
    assert.deepEqual(x, y);
    assert.equal(last(x).content, "Hello.");
    await b!.send({ type: "resume", prompt: "mixed", sessionId: b!.sessionId! });
    const z = await see(a!, "the second answer", idle(4));
    assert.deepEqual(last(z).toolCalls?.map((c) => [c.name, c.at, c.output]), [["read", 5, "A"], ["read", 10, "B"]]);
    await sameAsFresh(s, a!);
    await sameAsFresh(s, b!);
  });

  await t.test("an approval is answered by one, and closes for the other", async () => {
    const u = user();
    const [a, b] = [await s.open({ userId: u }), await s.open({ userId: u })];
    await a.send({ type: "submit", prompt: "ask" });
    const asked = await see(b, "the question", (x) => x.status === "awaiting-approval");
    const call = asked.pendingApprovals![0]!;
    assert.deepEqual([call.toolName, call.description, call.input], ["bash", "Run ls", { command: "ls" }]);
    await b.send({ type: "approve", toolCallId: call.toolCallId });
    await assert.rejects(a.send({ type: "deny", toolCallId: call.toolCallId, requestId: call.requestId }), { code: "already_resolved" });
    const done = await see(a, "the end", idle(2));
    assert.deepEqual([last(done).content, last(done).toolCalls![0]!.status, last(done).toolCalls![0]!.output], ["Before.  After.", "complete", "ran"]);
    await sameAsFresh(s, a);
  });

  await t.test("a denial, a steer, a cancel and a failure show in the state", async () => {
    const c = await s.open({ userId: user() });
    await c.send({ type: "submit", prompt: "ask" });
    const asked = await see(c, "the question", (x) => x.status === "awaiting-approval");
    await c.send({ type: "deny", toolCallId: asked.pendingApprovals![0]!.toolCallId, reason: "no" });
    assert.equal(last(await see(c, "the end", idle(2))).toolCalls![0]!.status, "denied");

    await c.send({ type: "submit", prompt: "steer" });
    await see(c, "it runs", (x) => last(x).content === "Go. ");
    await c.send({ type: "steer", message: "left" });
    assert.equal(last(await see(c, "the answer", (x) => x.status === "idle" && last(x).content.includes("heard"))).content, "heard: left");

    await c.send({ type: "submit", prompt: "hang" });
    await see(c, "it hangs", (x) => x.status === "running" && last(x).content === "Hanging.");
    await c.send({ type: "cancel" });
    await see(c, "it ends", (x) => x.status === "idle");
    await assert.rejects(c.send({ type: "cancel" }), { code: "not_running" });

    await c.send({ type: "submit", prompt: "broken" });
    const broken = await see(c, "the failure", (x) => x.status === "error");
    assert.match(broken.error!, /It broke/);
    await c.send({ type: "submit", prompt: "hello" });
    await see(c, "the answer", (x) => x.status === "idle" && last(x).content === "Hello.");
    await sameAsFresh(s, c);
  });

  await t.test("a frame that was swallowed is fetched when the server says that there was one", async () => {
    let swallow = 0;
    const lines: Flaky[] = [];
    class Flaky extends WebSocket {
      swallowed = 0;
      constructor(url: string, protocols?: string[]) {
        super(url, protocols);
        lines.push(this);
      }
      override set onmessage(call: ((e: MessageEvent) => void) | null) {
        super.onmessage = (e: MessageEvent) => {
          if (swallow > 0 && /^{"type":"delta"/.test(e.data)) this.swallowed++;
          else call?.(e);
        };
      }
      override get onmessage() {
        return super.onmessage as never;
      }
    }
    const u = user();
    const [c, w] = [await s.open({ userId: u, WebSocket: Flaky as never, schedule: "sync" }), await s.open({ userId: u, schedule: "sync" })];
    await c.send({ type: "submit", prompt: "hello" });
    await see(c, "the answer", idle(2));
    swallow = 1;
    await c.send({ type: "submit", prompt: "mixed" });
    const want = await see(w, "the answer", idle(4));
    swallow = 0;
    assert.ok(lines[0]!.swallowed > 0);
    assert.equal(c.getState()!.messages.length, 2);
    lines[0]!.onmessage!({ data: JSON.stringify({ type: "hb", seq: w.seq, ts: "" }) } as never);
    await see(c, "what was missed", idle(4));
    assert.deepEqual(cleared(c.getState()!), cleared(want));
    assert.equal(lines.length, 2);
    assert.equal(c.getConnection().phase, "open");
  });

  await t.test("a line that is cut again and again loses nothing and tells nothing twice", async () => {
    const dice = new Dice(7);
    const c = await s.open({ userId: user(), backoff: { min: 5, max: 20 } });
    await c.send({ type: "submit", prompt: "long" });
    for (let cuts = 0; cuts < 12; cuts++) {
      const words = c.getState()!.messages[1]?.content.length ?? 0;
      await see(c, "more words", (x) => x.status === "idle" || (x.messages[1]?.content.length ?? 0) > words + dice.pick(60));
      c.reconnect();
    }
    const done = await see(c, "the end", idle(2));
    assert.equal(last(done).content, "word ".repeat(250));
    await sameAsFresh(s, c);
  });

  await t.test("whatever is done, everybody has what somebody new is shown", async () => {
    for (let seed = 0; seed < 3; seed++) {
      const dice = new Dice(seed);
      const u = user();
      const clients = [await s.open({ userId: u }), await s.open({ userId: u, schedule: "sync" }), await s.open({ userId: u, window: 64 })];
      for (let step = 0; step < 25; step++) {
        const c = dice.of(clients);
        const state = c.getState()!;
        const asked = state.pendingApprovals?.[0];
        await act(dice, c, asked?.toolCallId).catch(() => {}); // a refusal is an answer, too
        if (dice.pick(8) === 0) dice.of(clients).reconnect();
      }
      const all = clients.map(async (c) => {
        for (;;) {
          const x = await see(c, "a question or the end", (x) => x.status !== "running");
          const asked = x.pendingApprovals?.[0];
          if (asked) await c.send({ type: "approve", toolCallId: asked.toolCallId }).catch(() => {});
          else if (x.status === "idle" || x.status === "error") return;
        }
      });
      await Promise.all(all);
      for (const c of clients) await sameAsFresh(s, c);
    }
  });

  await t.test("who may not, or asks for what is not there, is told and does not try again", async () => {
    const wrong = s.client({ token: "hk_" + "0".repeat(43), sessionId: "ses_x" });
    await assert.rejects(see(wrong, "nothing", () => false), /unauthenticated|401|credential|closed/);
    assert.equal(wrong.getConnection().reason?.code, "unauthenticated");
    const nowhere = s.client({ sessionId: "ses_00000000000000000000000000" });
    await assert.rejects(see(nowhere, "nothing", () => false));
    assert.equal(nowhere.getConnection().reason?.code, "not_found");
  });

  await t.test("a new session has a name before its first command, and keeps it", async () => {
    const c = await s.open();
    const id = c.sessionId!;
    c.reconnect();
    await c.send({ type: "submit", prompt: "hello" });
    await see(c, "the answer", idle(2));
    assert.ok(c.sessionId!.startsWith("ses_"));
    const now = c.sessionId!;
    c.reconnect();
    await c.send({ type: "submit", prompt: "hello" });
    await see(c, "the second answer", idle(4));
    assert.equal(c.sessionId, now);
    assert.ok(id.startsWith("ses_"));
  });

  await t.test("pages have what the state has, and the whole log", async () => {
    const u = user();
    const c = await s.open({ userId: u });
    const began = Date.now();
    for (let i = 0; i < 170; i++) {
      void c.send({ type: "submit", prompt: i % 10 === 5 ? "mixed" : "hello" });
      if (i % 40 === 39) await see(c, "answers", idle(2 * i));
    }
    const all = await see(c, "all answers", idle(340));
    const w = await s.open({ userId: u, window: 64 });
    const first = w.getState()!.firstMessage!;
    assert.ok(first > 200 && all.messages.length === 340);
    assert.deepEqual(await pagesOf(w).messages.range(0, 30), all.messages.slice(0, 30));
    assert.deepEqual([...(await pagesOf(w).messages.range(0, first)), ...w.getState()!.messages], all.messages);
    assert.deepEqual(await pagesOf(w).messages.range(330, 400), all.messages.slice(330));
    const events = await pagesOf(c).events.window(1, c.seq!);
    assert.deepEqual(events.map((e) => e.seq), Array.from({ length: c.seq! }, (_, i) => i + 1));
    assert.deepEqual(await pagesOf(c).events.window(150, 450), events.slice(149, 450));
    assert.deepEqual(pagesOf(c).events.peek(190, 210), events.slice(189, 210));
    const page = await pagesOf(c).events.list({ types: ["user_message"], limit: 3 });
    assert.deepEqual(page.events.map((e) => e.type), ["user_message", "user_message", "user_message"]);
    assert.equal((await stateAt(c, 1)).message_count, 0);
    const times = toThreadMessages(all).map((m) => m.createdAt.getTime());
    assert.ok(times.every((at, i) => at >= (times[i - 1] ?? began) && at <= Date.now()));
  });
});

/** Does something, whether it makes sense or not. */
async function act(dice: Dice, c: HarnessClient, asked: string | undefined): Promise<unknown> {
  switch (dice.pick(7)) {
    case 0:
    case 1:
      return c.send({ type: "submit", prompt: dice.of(["hello", "mixed", "ask", "short", "broken"]) });
    case 2:
      return c.send({ type: "steer", message: "left" });
    case 3:
      return c.send({ type: "cancel" });
    case 4:
      return c.send({ type: "deny", toolCallId: asked ?? "none" });
    case 5:
      return c.send({ type: "approve", toolCallId: asked ?? "none" });
    default:
      return c.send({ type: "configure", config: { effort: dice.of(["low", "high"]) } });
  }
}
