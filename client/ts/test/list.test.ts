import assert from "node:assert/strict";
import test from "node:test";

import { GorpStreamAccumulator } from "../node_modules/assistant-stream/dist/core/gorp/GorpStreamAccumulator.js";
import { applyBatch as applyWith } from "../src/apply.js";
import { toThreadMessages } from "../src/convert.js";
import { lastMessages } from "../src/last.js";
import { longLists } from "../src/long.js";
import type { DeltaOperation, HarnessMessage, HarnessState } from "../src/protocol.gen.js";
import { Dice } from "./dice.js";

const applyBatch = <T>(state: T, operations: DeltaOperation[]): T => applyWith(state, operations, longLists);
const set = (path: string[], value: unknown): DeltaOperation => ({ type: "set", path, value });
const append = (path: string[], value: string): DeltaOperation => ({ type: "append-text", path, value });
const message = (id: string): HarnessMessage => ({ id, role: "assistant", content: "", status: "streaming" });
const session = (n: number): HarnessState => ({ status: "idle", messages: Array.from({ length: n }, (_, i) => message(`m${i}`)), sessionId: "ses_1" });

test("a long list is an array to everybody who reads it", () => {
  const first = session(1_000);
  const next = applyBatch(first, [append(["messages", "7", "content"], "x"), set(["messages", "1000"], message("new")), set(["status"], "running")]);
  const want = { ...first, status: "running", messages: [...first.messages, message("new")].map((m, i) => (i === 7 ? { ...m, content: "x" } : m)) };
  assert.deepStrictEqual(next, want);
  assert.deepStrictEqual({ ...next }, want);
  assert.deepStrictEqual(structuredClone(next), want);
  assert.equal(JSON.stringify(next), JSON.stringify(want));
  assert.deepEqual(Object.keys(next), Object.keys(want));
  assert.ok(Array.isArray(next.messages));
  assert.equal(next.messages, next.messages);
  assert.equal(next.messages[6], first.messages[6]);
  assert.equal(new Proxy(next, {}).messages, next.messages);
  assert.equal(first.messages.length, 1_000);
  const later = applyBatch(next, [set(["status"], "idle")]);
  assert.equal(later.messages, next.messages);
});

test("a state that holds a list may have any other key", () => {
  const first = JSON.parse('{"__proto__":{"a":1},"status":"idle","messages":[]}') as HarnessState;
  const held = applyBatch(first, [set(["messages"], session(300).messages), append(["messages", "0", "content"], "x"), append(["messages", "1", "content"], "y")]);
  const next = applyBatch(applyBatch(held, [append(["messages", "0", "content"], "z")]), [set(["status"], "running")]);
  assert.deepEqual(Object.keys(next), ["__proto__", "status", "messages"]);
  assert.equal(Object.getPrototypeOf(next), Object.prototype);
  assert.equal(next.messages[0]!.content, "xz");
  const replaced = applyBatch(next, [set(["messages"], "none"), set(["messages"], session(300).messages), append(["messages", "2", "content"], "w"), set(["messages"], [])]);
  assert.deepEqual(replaced.messages, []);
  assert.equal(next.messages.length, 300);
});

test("what is read in the middle of a draft is not changed by its end", () => {
  const draft = longLists(session(300));
  draft.apply(append(["messages", "299", "content"], "a"));
  const middle = (draft.root as HarnessState).messages;
  draft.apply(append(["messages", "299", "content"], "b"));
  draft.apply(set(["messages", "300"], message("new")));
  assert.equal(middle.length, 300);
  assert.equal((draft.root as HarnessState).messages.length, 301);
  assert.equal((draft.root as HarnessState).messages[299]!.content, "ab");
});

test("the newest messages are there without the others being read", () => {
  let state = session(1_000);
  for (let i = 1_000; i < 1_200; i++) {
    state = applyBatch(state, [set(["messages", String(i)], message(`m${i}`)), append(["messages", String(i - 3), "content"], "x")]);
  }
  const newest = lastMessages(state, 50);
  const thread = toThreadMessages(state, 50);
  const { messages } = state; // read only now
  assert.deepEqual(newest, messages.slice(-50));
  assert.deepEqual(thread, toThreadMessages({ ...state, messages: messages.slice(-50) }));
  assert.deepEqual(lastMessages(state, 5_000), messages);
  assert.deepEqual(lastMessages(session(3), 2), session(3).messages.slice(1));
});

test("long lists that nobody reads for a while are what assistant-stream has", (t) => {
  let ops = 0;
  let checked = 0;
  for (let seed = 0; seed < 12; seed++) {
    const dice = new Dice(seed);
    let state: unknown = { list: Array.from({ length: 250 + dice.pick(20) }, (_, i) => ({ t: `${i}`, deep: [] })), other: Array.from({ length: 300 }, () => "o") };
    const theirs = new GorpStreamAccumulator(structuredClone(state) as never);
    const kept: [unknown, string][] = [];
    let length = (state as { list: unknown[] }).list.length;
    for (let batch = 0; batch < 120; batch++) {
      const list: DeltaOperation[] = [];
      for (let n = 1 + dice.pick(8); n > 0; n--) {
        const i = String(dice.pick(3) > 0 ? length - 1 : dice.pick(length));
        switch (dice.pick(dice.pick(40) === 0 ? 8 : 5)) {
          case 0:
            list.push(set(["list", String(length++)], { t: "", deep: [] }));
            break;
          case 1:
          case 2:
            list.push(append(["list", i, "t"], "é"));
            break;
          case 3:
            list.push(set(["list", i, "deep", "0"], batch));
            break;
          case 4:
            list.push(append(["other", String(dice.pick(300))], "+"));
            break;
          case 5:
            length = 300;
            list.push(set(["list"], Array.from({ length }, () => ({ t: "", deep: [] }))));
            break;
          case 6:
            list.push(set(["extra", "x"], batch));
            break;
          case 7:
            length = 2;
            list.push(set(["list"], [{ t: "a", deep: [] }, { t: "b", deep: [] }]), ...Array.from({ length: 300 }, () => set(["list", String(length++)], { t: "", deep: [] })));
            break;
        }
      }
      ops += list.length;
      theirs.append(structuredClone(list) as never);
      state = applyBatch(state, list);
      if (dice.pick(12) === 0) kept.push([state, JSON.stringify(theirs.state)]);
    }
    kept.push([state, JSON.stringify(theirs.state)]);
    for (const [mine, want] of dice.pick(2) === 0 ? kept : kept.reverse()) assert.equal(JSON.stringify(mine), want);
    checked += kept.length;
  }
  t.diagnostic(`${ops} operations, ${checked} states`);
  assert.ok(ops > 6_000 && checked > 80);
});
