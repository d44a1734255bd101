import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { reader } from "../src/data/latest";

/** Reads with these answers, one after the other; an Error is thrown. The last is given again. */
function reads(...answers) {
  const shown = [];
  let asked = 0;
  const r = reader(async () => {
    const a = answers[Math.min(asked++, answers.length - 1)];
    if (a instanceof Error) throw a;
    return a;
  }, (v) => shown.push(v));
  return { r, asked: () => asked, now: () => shown.at(-1) };
}

const fault = (code) => Object.assign(new Error(code), { code });
const settle = async () => {
  for (let i = 0; i < 10; i++) await Promise.resolve();
};
const pass = async (ms) => {
  for (let at = 0; at < ms; at += 100) {
    mock.timers.tick(100);
    await settle();
  }
};

test.beforeEach(() => mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1e12 }));
test.afterEach(() => mock.timers.reset());

for (const code of ["forbidden", "not_found", "unauthenticated"]) {
  test(`${code} is an answer: nothing is stale, and nothing is asked until the mark moves`, async () => {
    const { r, asked, now } = reads(fault("network"), fault(code));
    r.move({ seq: 1, state: "idle" });
    await pass(60_000);
    assert.equal(asked(), 2);
    assert.equal(now().stale, false);
    r.move({ seq: 2, state: "idle" });
    await pass(60_000);
    assert.equal(asked(), 3);
    r.stop();
  });
}

test("what failed is tried again, and stale until it is read", async () => {
  const { r, asked, now } = reads(fault("network"), fault("internal"), "value");
  r.move({ seq: 1, state: "idle" });
  await pass(200);
  assert.deepEqual(now(), { value: undefined, stale: true });
  await pass(60_000);
  assert.equal(asked(), 3);
  assert.deepEqual(now(), { value: "value", stale: false });
  r.stop();
});
