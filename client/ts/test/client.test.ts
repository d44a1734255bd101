import assert from "node:assert/strict";
import test from "node:test";

import { wait } from "../src/backoff.js";
import { HarnessClient } from "../src/client.js";
import { baseOf, urlOf } from "../src/endpoint.js";
import { until } from "../src/until.js";
import { settle, stage, streaming } from "./fake.js";

const said = (c: HarnessClient) => c.getState()?.messages[0]?.content;

test("a state opens the connection and is shown with it", () => {
  const s = stage({ token: "hk_x", userId: "u", window: 64 });
  assert.equal(s.client.getConnection().phase, "connecting");
  assert.equal(s.client.getState(), undefined);
  const phases: string[] = [];
  s.client.subscribe(() => phases.push(`${s.client.getConnection().phase} ${s.client.getState()?.status}`));
  s.socket().state(3, { status: "running" });
  assert.equal(phases.at(-1), "open running");
  assert.ok(!phases.includes("open undefined"));
  assert.deepEqual(s.socket().protocols, ["harness.v1", "bearer.hk_x"]);
  assert.equal(s.socket().url, "ws://server.test/ws?userId=u&window=64&hb=1");
  assert.equal(s.client.seq, 3);
});

test("addresses of servers, sockets and prefixes all lead to the same place", () => {
  for (const url of ["http://h:1", "http://h:1/", "ws://h:1/ws", "http://h:1/?x=1#y"]) assert.equal(baseOf({ url }).href, "http://h:1/");
  for (const url of ["https://h/p", "https://h/p/", "wss://h/p/ws"]) assert.equal(urlOf({ url }, "ws", { hb: 1, no: undefined }).href, "https://h/p/ws?hb=1");
  assert.throws(() => new HarnessClient({}), /Invalid URL/);
});

test("frames that come before a paint are one change", () => {
  const s = stage();
  s.socket().state(1, { messages: streaming() });
  const first = s.client.getState()!;
  let changes = 0;
  s.client.subscribe(() => changes++);
  for (let i = 0; i < 50; i++) s.socket().say(2 + i, "x");
  assert.equal(s.client.getState(), first);
  assert.equal(s.host.paint(), 1);
  assert.equal(changes, 1);
  assert.equal(said(s.client), "x".repeat(50));
  assert.equal(first.messages[0]!.content, "");
});

test("a hidden tab is brought up to date by a timer", () => {
  const s = stage();
  s.socket().state(1, { messages: streaming() });
  s.host.invisible = true;
  s.socket().say(2, "a").say(3, "b");
  assert.equal(s.host.paint(), 0);
  s.host.advance(99);
  assert.equal(said(s.client), "");
  s.host.advance(1);
  assert.equal(said(s.client), "ab");
});

test("what waits to be shown is bounded", () => {
  const s = stage();
  s.socket().state(1, { messages: streaming() });
  for (let i = 0; i < 6000; i++) s.socket().say(2 + i, "x");
  assert.ok(said(s.client)!.length >= 5000);
  s.host.paint();
  assert.equal(said(s.client)!.length, 6000);
});

test("schedule sync shows every frame at once", () => {
  const s = stage({ schedule: "sync" });
  s.socket().state(1, { messages: streaming() }).say(2, "a");
  assert.equal(said(s.client), "a");
});

test("after a break it goes on from where it was", () => {
  const s = stage();
  s.socket().state(5, { messages: streaming("ab") }).say(6, "c");
  s.socket().break();
  assert.equal(s.client.getConnection().phase, "reconnecting");
  s.host.advance(300);
  assert.equal(s.sockets.length, 2);
  assert.equal(s.socket().query.get("since"), "6");
  assert.equal(s.socket().query.get("sessionId"), "ses_1");
  s.socket().hb(6).say(7, "d");
  assert.equal(s.client.getConnection().phase, "open");
  s.host.paint();
  assert.equal(said(s.client), "abcd");
});

test("a state after a break replaces everything", () => {
  const s = stage();
  s.socket().state(5, { messages: streaming("ab"), error: "x", status: "error" });
  s.socket().break();
  s.host.advance(300);
  s.socket().state(9, { messages: streaming("other") });
  assert.deepEqual(s.client.getState(), { status: "idle", sessionId: "ses_1", messages: streaming("other") });
});

test("with a window there is no since", () => {
  const s = stage({ window: 64 });
  s.socket().state(5);
  s.socket().break();
  s.host.advance(300);
  assert.equal(s.socket().query.get("since"), null);
});

test("waits are random, grow with the outage, and have bounds", async () => {
  const b = { min: 250, max: 10_000 };
  assert.equal(wait(0, b, 1), 250);
  assert.equal(wait(4_000, b, 1), 1_000);
  assert.equal(wait(4_000, b, 0.25), 250);
  assert.equal(wait(1e9, b, 1), 10_000);
  const s = stage();
  s.socket().state(1);
  const gaps: number[] = [];
  s.host.random = () => 1;
  let last = s.host.time;
  s.socket().break();
  for (let i = 0; i < 25; i++) {
    const n = s.sockets.length;
    while (s.sockets.length === n) (s.host.advance(50), await settle());
    gaps.push(s.host.time - last);
    last = s.host.time;
    s.socket().break();
    await settle();
    assert.equal(s.client.getConnection().attempt, i + 1);
  }
  assert.ok(gaps[0]! <= 300 && gaps.every((g) => g <= 10_050) && gaps.at(-1)! >= 9_000, String(gaps));
  const early = gaps.filter((_, i) => gaps.slice(0, i + 1).reduce((a, b) => a + b, 0) < 5_000);
  assert.ok(early.every((g) => g <= 1_300), `a server that is back within 5 s is found soon: ${early}`);
});

test("a server that is back within five seconds has its clients 1.5 s later, with one attempt, whatever the dice say", async () => {
  let worst = 0;
  for (const dice of [() => 1, () => 0, Math.random]) {
    for (let outage = 100; outage <= 5_000; outage += 700) {
      const s = stage({ fetch: () => Promise.reject(new TypeError("refused")) });
      s.host.random = dice;
      s.socket().state(7);
      s.socket().break();
      const back = s.host.time + outage;
      let tried = s.sockets.length;
      let after = 0;
      while (s.client.getConnection().phase !== "open") {
        s.host.advance(10);
        await settle();
        if (s.sockets.length === tried) continue;
        tried = s.sockets.length;
        if (s.host.time <= back) s.socket().break();
        else (after++, s.socket().hb(7));
      }
      assert.equal(after, 1);
      worst = Math.max(worst, s.host.time - back);
      s.client.close();
    }
  }
  assert.ok(worst <= 1_500, `${worst} ms`);
});

test("coming back to the page ends a wait", () => {
  const s = stage();
  s.socket().state(1);
  s.socket().break();
  s.host.wake();
  assert.equal(s.sockets.length, 2);
});

test("silence is shown, then the line is replaced, quietly if that works", () => {
  const s = stage();
  s.socket().state(4);
  s.host.advance(10_000);
  s.socket().hb(4);
  s.host.advance(14_000);
  assert.equal(s.client.getConnection().phase, "open");
  s.host.advance(5_000);
  assert.equal(s.client.getConnection().phase, "stale");
  s.host.advance(10_000);
  assert.equal(s.sockets.length, 2);
  assert.ok(s.sockets[0]!.closed);
  s.socket().hb(4);
  assert.equal(s.client.getConnection().phase, "open");
});

test("a word from the server ends staleness", () => {
  const s = stage();
  s.socket().state(4, { messages: streaming() });
  s.host.advance(20_000);
  assert.equal(s.client.getConnection().phase, "stale");
  s.socket().say(5, "x");
  assert.equal(s.client.getConnection().phase, "open");
});

test("after sleep the line is replaced at once", () => {
  const s = stage();
  s.socket().state(4);
  s.host.sleep(600_000);
  assert.equal(s.sockets.length, 2);
  assert.equal(s.client.getConnection().phase, "open");
  s.socket().hb(4);
  s.host.advance(5_000);
  assert.equal(s.sockets.length, 2);
  s.host.sleep(18_000); // shorter than the silence that is taken for death
  assert.equal(s.sockets.length, 3);
});

test("a line that was quiet too long is replaced when the page is shown", () => {
  const s = stage();
  s.socket().state(4);
  s.host.advance(4_000);
  s.host.wake();
  assert.equal(s.sockets.length, 1);
  s.host.advance(9_000);
  s.host.wake();
  assert.equal(s.sockets.length, 2);
  s.host.advance(1_000);
  assert.equal(s.client.getConnection().phase, "reconnecting", "it takes long");
});

test("when the network is back, the line from before is replaced, however young it is", () => {
  const s = stage();
  s.socket().state(1, {});
  s.host.wake(true);
  assert.equal(s.sockets.length, 2);
  assert.equal(s.socket().query.get("since"), "1");
  s.socket().hb(1);
  assert.equal(s.client.getConnection().phase, "open");
});

test("a heartbeat from ahead is a gap: what is missing is fetched", () => {
  const s = stage();
  s.socket().state(4, { messages: streaming("a") });
  s.socket().hb(6);
  assert.equal(s.sockets.length, 2);
  assert.equal(s.socket().query.get("since"), "4");
  s.socket().state(6, { messages: streaming("abc") });
  assert.equal(said(s.client), "abc");
  s.socket().hb(6);
  assert.equal(s.sockets.length, 2);
});

test("a heartbeat behind events that show nothing costs one look", () => {
  const s = stage();
  s.socket().state(4);
  s.socket().hb(6);
  s.socket().hb(4); // the answer to since=4: go on
  s.socket().hb(6).hb(6);
  assert.equal(s.sockets.length, 2);
  assert.equal(s.client.getConnection().phase, "open");
});

test("a heartbeat that was explained once explains no other state", () => {
  const s = stage();
  s.socket().state(4).hb(6);
  s.socket().state(5);
  s.socket().hb(6);
  assert.equal(s.sockets.length, 3);
});

test("a heartbeat or a delta from the past, and what does not fit, ask for everything", () => {
  for (const wrong of [
    (s: ReturnType<typeof stage>) => s.socket().hb(3),
    (s: ReturnType<typeof stage>) => s.socket().say(4, "x"),
    (s: ReturnType<typeof stage>) => (s.socket().say(5, "x", 7), s.host.paint()),
    (s: ReturnType<typeof stage>) => s.socket().onmessage!({ data: "{" }),
  ]) {
    const s = stage();
    s.socket().state(4, { messages: streaming("a") });
    s.host.advance(15_000);
    wrong(s);
    assert.notEqual(s.client.getConnection().phase, "open");
    assert.equal(said(s.client), "a");
    s.host.advance(300);
    assert.equal(s.sockets.length, 2);
    if (s.client.getConnection().phase === "stale") assert.equal(s.socket().query.get("since"), null);
    s.socket().state(9, { messages: streaming("all") });
    assert.equal(s.client.getConnection().phase, "open");
    assert.equal(said(s.client), "all");
  }
});

test("a server that keeps sending nonsense is asked with waits", () => {
  const s = stage();
  s.host.random = () => 1;
  for (let i = 0; i < 40; i++) {
    s.socket().state(4).hb(1);
    s.host.advance(100);
  }
  assert.ok(s.sockets.length < 18, `${s.sockets.length} lines in 4 s`);
});

test("a credential that ended ends the client", () => {
  const s = stage();
  s.socket().state(4);
  s.socket().break(1008, "revoked");
  assert.equal(s.client.getConnection().phase, "closed");
  assert.equal(s.client.getConnection().reason?.code, "unauthenticated");
  s.host.advance(60_000);
  assert.equal(s.sockets.length, 1);
  assert.equal(s.host.timers, 0);
});

test("a handshake that fails is asked about over HTTP", async () => {
  for (const [status, code] of [[401, "unauthenticated"], [403, "forbidden"], [404, "not_found"]] as const) {
    const s = stage({ sessionId: "ses_9" });
    s.answers.push((path) => (assert.match(path, /sessions\/ses_9$/), new Response("", { status })));
    s.socket().break();
    await settle();
    assert.equal(s.client.getConnection().phase, "closed");
    assert.equal(s.client.getConnection().reason?.code, code);
  }
  const s = stage({ sessionId: "ses_9" });
  s.answers.push(() => new Response("", { status: 503 }));
  s.socket().break();
  await settle();
  s.host.advance(300);
  assert.equal(s.sockets.length, 2);
});

test("a session that was never made is begun anew, one that was is not", async () => {
  const gone = () => new Response("", { status: 404 });
  for (const [seq, again] of [[0, true], [7, false]] as const) {
    const s = stage();
    s.socket().state(seq);
    s.socket().break();
    s.host.advance(300);
    assert.equal(s.socket().query.get("sessionId"), "ses_1");
    s.answers.push(gone);
    s.socket().break();
    await settle();
    s.host.advance(300);
    assert.equal(s.client.getConnection().phase, again ? "connecting" : "closed");
    assert.equal(s.socket().query.get("sessionId"), again ? null : "ses_1");
  }
});

test("a server that says nothing for ten seconds is dialled again", async () => {
  const s = stage();
  s.host.advance(10_000);
  await settle();
  s.host.advance(2_500);
  assert.equal(s.sockets.length, 2);
});

test("a server that knows only S0 is served: no since, no silence, no acks", async () => {
  const s = stage({ schedule: "sync" });
  s.socket().state(undefined, { messages: streaming() });
  s.socket().tell({ type: "delta", operations: [{ type: "append-text", path: ["messages", "0", "content"], value: "x" }] });
  assert.equal(said(s.client), "x");
  await s.client.send({ type: "submit", prompt: "hi" });
  s.host.advance(14_000);
  assert.equal(s.client.getConnection().phase, "open");
  s.host.advance(60_000);
  s.host.wake();
  assert.equal(s.sockets.length, 1);
  s.socket().break();
  s.host.advance(300);
  assert.equal(s.socket().query.get("since"), null);
});

test("closing leaves nothing behind", async () => {
  const s = stage();
  s.socket().state(1, { messages: streaming() }).say(2, "x");
  const sent = assert.rejects(s.client.send({ type: "submit", prompt: "x" }), { code: "closed" });
  const waiting = assert.rejects(until(s.client, () => false), { code: "closed" });
  s.client.close();
  await sent;
  await waiting;
  assert.equal(s.host.timers, 0);
  assert.equal(s.host.paint(), 0);
  assert.ok(s.socket().closed);
  await assert.rejects(s.client.send({ type: "cancel" }), { code: "closed" });
  s.client.close();
});
