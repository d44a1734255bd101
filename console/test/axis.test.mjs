import assert from "node:assert/strict";
import { test } from "node:test";

import { axisOf, ticksOf, windowOf } from "../src/screens/session/axis";

const hour = 3_600_000, began = 1_700_000_000_000;
const span = (from, to, lane = "tool") => ({ lane, row: 0, from: began + from, to: began + to, seq: 1, label: "", bad: false });
const room = 1000; // pixels

const ticks = (axis, zoom, around) => {
  const shown = windowOf(axis, zoom, around);
  return { shown, list: ticksOf(axis, began, (90 / room) * shown.length, shown) };
};

for (const zoom of ["fit", "1h", "5m", "10s", "1s"]) {
  test(`an axis of six hours has ticks where it is shown, at ${zoom}`, () => {
    const axis = axisOf([span(0, 6 * hour)]);
    for (const around of [undefined, began, began + 2 * hour]) {
      const { shown, list } = ticks(axis, zoom, around);
      assert.ok(list.length >= 2 && list.length <= room / 90 + 1, `${list.length} ticks`);
      for (const t of list) assert.ok(axis.place(t.at) >= shown.from && axis.place(t.at) <= shown.from + shown.length, `${t.text} is not to be seen`);
    }
  });
}

test("where there is no room there are no ticks", () => {
  const axis = axisOf([span(0, 6 * hour)]), shown = windowOf(axis, "fit");
  assert.deepEqual(ticksOf(axis, began, (90 / -24) * shown.length, shown), []);
});

test("ticks on both sides of a silence are told as if it had been shown", () => {
  const axis = axisOf([span(0, 10_000), span(hour, hour + 10_000)]);
  const { list } = ticks(axis, "fit");
  assert.deepEqual(list.map((t) => t.text), ["0 s", "5 s", "10 s", "1:00:00", "1:00:05", "1:00:10"]);
});
