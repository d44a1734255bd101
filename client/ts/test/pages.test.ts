import assert from "node:assert/strict";
import test from "node:test";

import { Http } from "../src/http.js";
import { EventPages } from "../src/pages-events.js";
import { MessagePages } from "../src/pages-messages.js";

/** A server with a log of n events, whose pages may be short, and the requests it got. */
function log(n: () => number, page = 1000) {
  const asked: string[] = [];
  const http = new Http({ url: "http://server.test", token: "hk_x" }, async (url, init) => {
    const { pathname, searchParams: q } = new URL(url);
    assert.equal((init.headers as Record<string, string>)["authorization"], "Bearer hk_x");
    asked.push(`${q.get("after")}+${q.get("limit")}`);
    const after = Number(q.get("after"));
    const last = Math.min(n(), after + Math.min(page, Number(q.get("limit"))));
    const events = Array.from({ length: Math.max(0, last - after) }, (_, i) => ({ seq: after + i + 1, of: pathname }));
    return Response.json({ session_id: "s", events, ...(last < n() && { next_cursor: String(last) }) });
  });
  return { http, asked };
}

const seqs = (list: readonly { seq: number }[]) => list.map((e) => e.seq);
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

test("a page of the log is fetched once", async () => {
  const { http, asked } = log(() => 1000);
  const pages = new EventPages(http, () => "s");
  assert.deepEqual(seqs(await pages.window(150, 450)), range(150, 450));
  assert.deepEqual(asked, ["0+200", "200+200", "400+200"]);
  assert.deepEqual(seqs(await pages.window(10, 600)), range(10, 600));
  assert.deepEqual(seqs(pages.peek(390, 410)), range(390, 410));
  assert.equal(asked.length, 3);
  await Promise.all([pages.window(601, 700), pages.window(650, 800)]);
  assert.equal(asked.length, 4);
});

test("the end of the log is asked for again, and only what is new", async () => {
  let n = 250;
  const { http, asked } = log(() => n);
  const pages = new EventPages(http, () => "s");
  assert.deepEqual(seqs(await pages.window(201, 300)), range(201, 250));
  n = 260;
  assert.deepEqual(seqs(await pages.window(201, 300)), range(201, 260));
  assert.deepEqual(seqs(await pages.window(205, 240)), range(205, 240));
  assert.deepEqual(asked, ["200+200", "250+150"]);
});

test("short pages are put together", async () => {
  const { http, asked } = log(() => 500, 70);
  assert.deepEqual(seqs(await new EventPages(http, () => "s").window(1, 200)), range(1, 200));
  assert.deepEqual(asked, ["0+200", "70+130", "140+60"]);
});

test("another session has other pages", async () => {
  const { http } = log(() => 10);
  let id = "a";
  const pages = new EventPages(http, () => id);
  await pages.window(1, 10);
  id = "b";
  assert.deepEqual(pages.peek(1, 10), []);
  assert.equal((await pages.window(1, 1) as unknown as { of: string }[])[0]!.of, "/sessions/b/events");
});

/** A server with a conversation of n messages, of which the last one streams, and the requests it got. */
function conversation(n: number, most = 1000) {
  const asked: string[] = [];
  const http = new Http({ url: "http://server.test" }, async (url) => {
    const { pathname, searchParams: q } = new URL(url);
    asked.push(`${pathname.split("/").at(-1)} ${q.get("before")}-${q.get("limit")}`);
    const end = Math.min(n, Number(q.get("before")));
    const first = Math.max(0, end - Math.min(most, Number(q.get("limit"))));
    const messages = Array.from({ length: end - first }, (_, i) => ({ item_id: `m${first + i}`, role: "user", content: "", status: first + i === n - 1 ? "streaming" : "complete" }));
    return Response.json({ session_id: "s", seq: 1, message_count: n, first_message: first, messages });
  });
  return { pages: new MessagePages(http, () => "s"), asked };
}

test("messages are read by their place, once, however short the pages are", async () => {
  const ids = (list: readonly { id: string }[]) => list.map((m) => Number(m.id.slice(1)));
  const { pages, asked } = conversation(500);
  assert.deepEqual(ids(await pages.range(100, 400)), range(100, 399));
  assert.deepEqual(ids(await pages.range(150, 350)), range(150, 349));
  assert.deepEqual(asked, ["messages 400-200", "messages 200-100"]);
  assert.deepEqual(ids(await pages.range(90, 110)), range(90, 109));
  assert.deepEqual(ids(await pages.range(-5, 3)), range(0, 2));
  assert.deepEqual(asked.splice(2), ["messages 100-10", "messages 3-3"]);
  assert.deepEqual(ids(await pages.range(498, 600)), [498, 499]);
  assert.deepEqual(ids(await pages.range(498, 500)), [498, 499]);
  assert.deepEqual(asked.splice(2), ["messages 600-102", "messages 500-2"]); // the last one may have changed
  assert.deepEqual(await pages.range(700, 800), []);
  assert.deepEqual(ids(await conversation(500, 7).pages.range(10, 40)), range(10, 39));
});

test("without a session there is nothing to read", async () => {
  const { http } = log(() => 10);
  await assert.rejects(new EventPages(http, () => undefined).list(), { code: "not_found" });
  await assert.rejects(new MessagePages(http, () => undefined).range(0, 1), { code: "not_found" });
});

test("a problem document is an error with its code, and what is none has its status", async () => {
  const answers = [Response.json({ code: "corrupt", detail: "damaged" }, { status: 500 }), new Response("?", { status: 404 }), new Response("not JSON")];
  const http = new Http({ url: "http://server.test" }, async () => answers.shift()!);
  await assert.rejects(http.get("x"), { code: "corrupt", message: "damaged" });
  await assert.rejects(http.get("x"), { code: "not_found" });
  await assert.rejects(http.get("x"), { code: "network" });
});
