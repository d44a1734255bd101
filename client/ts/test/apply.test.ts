import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { GorpStreamAccumulator } from "../node_modules/assistant-stream/dist/core/gorp/GorpStreamAccumulator.js";
import { ApplyError, applyBatch, Draft } from "../src/apply.js";
import type { DeltaMessage, DeltaOperation, StateMessage } from "../src/protocol.gen.js";
import { Dice } from "./dice.js";

const set = (path: string[], value: unknown): DeltaOperation => ({ type: "set", path, value });
const append = (path: string[], value: string): DeltaOperation => ({ type: "append-text", path, value });

test("what no operation touches keeps its identity", () => {
  const state = { status: "idle", messages: [{ id: "a", content: "x", toolCalls: [{ id: "1" }] }, { id: "b", content: "y" }], other: {} };
  const next = applyBatch(state, [append(["messages", "1", "content"], "z"), append(["messages", "1", "content"], "!"), set(["status"], "running")]);
  assert.deepEqual(next, { ...state, status: "running", messages: [state.messages[0], { id: "b", content: "yz!" }] });
  assert.equal(next.messages[0], state.messages[0]);
  assert.equal(next.other, state.other);
  assert.notEqual(next.messages, state.messages);
  assert.equal(state.messages[1]!.content, "y");
});

test("a container is copied once, however many operations come", () => {
  const draft = new Draft({ messages: [{ content: "" }, { content: "" }] });
  draft.apply(append(["messages", "0", "content"], "a"));
  const first = draft.root as { messages: object[] };
  const list = first.messages;
  const message = list[0];
  draft.apply(append(["messages", "0", "content"], "b"));
  draft.apply(append(["messages", "1", "content"], "c"));
  assert.equal(draft.root, first);
  assert.equal(first.messages, list);
  assert.equal(list[0], message);
});

test("operations keep their values, even those that are changed right after", () => {
  const value = { list: [1], text: "a" };
  const ops = [set(["x"], value), append(["x", "text"], "b"), set(["x", "list", "1"], 2)];
  assert.deepEqual(applyBatch({}, ops), { x: { list: [1, 2], text: "ab" } });
  assert.deepEqual(value, { list: [1], text: "a" });
});

test("a batch with one bad operation changes nothing", () => {
  const state = Object.freeze({ a: Object.freeze({ b: "c" }) });
  assert.throws(() => applyBatch(state, [set(["a", "b"], 1), append(["a", "b"], "x")]), ApplyError);
  assert.deepEqual(state, { a: { b: "c" } });
});

test("each rule of assistant-stream, one by one", () => {
  const state = { s: "text", n: 1, z: null, list: ["a", { k: "v" }], o: { "": "e" } };
  const paths = [
    [], ["s"], ["n"], ["z"], ["new"], ["new", "0"], ["z", "deep", "er"], ["s", "x"], ["n", "x"], ["list", "0"], ["list", "1", "k"], ["list", "2"], ["list", "2", "x"],
    ["list", "3"], ["list", "-1"], ["list", "01"], ["list", "1.0"], ["list", "1e0"], ["list", " 1"], ["list", ""], ["list", "-0"], ["list", "0.5"], ["list", "x"],
    ["list", "length"], ["list", 1], ["o", ""], ["o", "toString"], ["__proto__"], ["o", "constructor"], ["prototype", "x"], ["o", "__proto__", "x"], ["list", "Infinity"],
  ] as string[][];
  for (const path of paths) {
    for (const op of [set(path, "v"), set(path, { w: 1 }), append(path, "+"), { type: "append-text", path, value: 5 }, { type: "set", path }, { type: "drop", path }] as DeltaOperation[]) {
      same(state, [op]);
    }
  }
});

test("random batches give what assistant-stream gives, and leave the old states alone", (t) => {
  let ops = 0;
  let refused = 0;
  for (let seed = 0; seed < 120; seed++) {
    const dice = new Dice(seed);
    let state: unknown = dice.of([null, {}, [], "text", { messages: [] }]);
    for (let batch = 0; batch < 40; batch++) {
      const list = Array.from({ length: 1 + dice.pick(6) }, () => operation(dice, state));
      ops += list.length;
      const before = JSON.stringify(state);
      const next = same(state, list);
      assert.equal(JSON.stringify(state), before);
      if (next === undefined) refused++;
      else state = next.value;
    }
  }
  t.diagnostic(`${ops} operations, ${refused} batches refused`);
  assert.ok(ops >= 10_000 && refused > 500 && refused < 4_000);
});

/** Applies a batch with both, and returns what they agree on; undefined if both refuse it. */
function same(state: unknown, ops: readonly DeltaOperation[]): { value: unknown } | undefined {
  const theirs = new GorpStreamAccumulator(structuredClone(state) as never);
  let want: string | undefined;
  try {
    theirs.append(structuredClone(ops) as never);
    want = JSON.stringify(theirs.state);
  } catch {
    assert.throws(() => applyBatch(state, ops), ApplyError, `assistant-stream refuses ${JSON.stringify(ops)} on ${JSON.stringify(state)}`);
    return undefined;
  }
  const value = applyBatch(state, ops);
  assert.equal(JSON.stringify(value), want, JSON.stringify(ops));
  return { value };
}

/** Walks into the state most of the time, and astray sometimes. */
function operation(dice: Dice, state: unknown): DeltaOperation {
  const path: string[] = [];
  let at = state;
  while (dice.pick(5) > 0 && typeof at === "object" && at !== null) {
    const keys = Object.keys(at);
    const key = Array.isArray(at) ? String(dice.pick(at.length + 1)) : keys.length > 0 && dice.pick(3) > 0 ? dice.of(keys) : dice.of(["a", "b", "messages", "0", "", "toString"]);
    path.push(key);
    at = (at as Record<string, unknown>)[key];
  }
  if (dice.pick(25) === 0) path.push(dice.of(["x", "01", "-1", "99", "__proto__", "1.5", "length"]));
  if (typeof at === "string" ? dice.pick(4) > 0 : dice.pick(40) === 0) return append(path, dice.of(["a", " é", "😀", "\ud83d", ""]));
  return set(path, dice.of<unknown>(["s", "", 1, null, true, {}, [], { a: "x", b: [] }, ["y", { b: "z" }], [[]]]));
}

test("the frames of the Go projection lead to its views", (t) => {
  const lines = readFileSync(new URL("testdata/vectors.jsonl", process.env.HARNESS_TEST_ROOT), "utf8").trimEnd().split("\n");
  let state: unknown;
  let ops = 0;
  for (const line of lines) {
    const [frame, view] = JSON.parse(line) as [StateMessage | DeltaMessage, unknown];
    if (frame.type === "state") {
      state = frame.state;
      continue;
    }
    ops += frame.operations.length;
    state = applyBatch(state, frame.operations);
    assert.deepEqual(cleared(state), view);
  }
  t.diagnostic(`${lines.length} frames, ${ops} operations`);
  assert.ok(ops > 300);
});

/** Operations cannot remove a key: a view leaves out what a delta empties. */
function cleared(state: unknown): unknown {
  const { error, pendingApprovals, ...rest } = state as Record<string, unknown>;
  return { ...rest, ...(error !== null && error !== undefined && { error }), ...((pendingApprovals as unknown[] | undefined)?.length && { pendingApprovals }) };
}
