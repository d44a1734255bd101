import assert from "node:assert/strict";
import { test } from "node:test";

import { place } from "../src/screens/session/notes";

const note = (seq) => ({ seq, kind: "checkpoint", text: "" });

/** A log with a prompt at each of these, of which a page has so many. */
function log(prompts, size) {
  const asked = [];
  const read = async (after) => {
    asked.push(after);
    const rest = prompts.filter((seq) => seq > after), events = rest.slice(0, size).map((seq) => ({ seq, payload: { item_id: `itm_${seq}` } }));
    return rest.length > size ? { events, next_cursor: String(events.at(-1).seq) } : { events };
  };
  return { asked, read };
}

const many = Array.from({ length: 5000 }, (_, i) => 10 * (i + 1));
const where = (notes) => Object.fromEntries([...notes].map(([id, list]) => [id, list.map((n) => n.seq)]));

test("every note is placed, however many prompts are between them", async () => {
  const { asked, read } = log(many, 200);
  assert.deepEqual(where(await place([5, 12, 30_005, 49_999, 50_001].map(note), read)), { itm_10: [5], itm_20: [12], itm_30010: [30_005], itm_50000: [49_999], "": [50_001] });
  assert.ok(asked.length <= 5, `it was asked after ${asked}`);
});

test("a note at a prompt stands before the next", async () => {
  assert.deepEqual(where(await place([10, 20].map(note), log([10, 20, 30], 1).read)), { itm_20: [10], itm_30: [20] });
});

test("where nothing comes to an end it is given up, and what is known is shown", async () => {
  let n = 0;
  const read = async (after) => (n++, { events: [], next_cursor: String(after) });
  assert.deepEqual(where(await place([note(5)], read)), {});
  assert.ok(n <= 100, `${n} times`);
});
