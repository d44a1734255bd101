// What an update costs, in CPU time, beside assistant-stream's own reducer on
// the same frames in the same run. Prints one line of JSON.
import { GorpStreamAccumulator } from "../node_modules/assistant-stream/dist/core/gorp/GorpStreamAccumulator.js";
import { applyBatch } from "../src/apply.js";
import { toThreadMessages } from "../src/convert.js";
import { lastMessages } from "../src/last.js";
import { longLists } from "../src/long.js";
import type { DeltaMessage, HarnessState } from "../src/protocol.gen.js";
import { session } from "./session.js";

/** A frame as the server sends it: so many words for the streaming message. */
function frame(n: number, ops: number): string {
  const operations = Array.from({ length: ops }, () => ({ type: "append-text", path: ["messages", String(n), "content"], value: "tokn " }));
  return JSON.stringify({ type: "delta", seq: 7, operations });
}

const quick = process.argv.includes("quick");
const rounds = quick ? 5 : 15;
const round = quick ? 5_000 : 20_000; // µs

/** CPU microseconds for one call, the least of several rounds: others share the machine. */
function cost(run: () => void): number {
  const timed = (calls: number) => {
    const before = process.cpuUsage();
    for (let i = 0; i < calls; i++) run();
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  let calls = 64;
  while (timed(calls) < round) calls *= 2;
  let least = Infinity;
  for (let i = 0; i < rounds; i++) least = Math.min(least, timed(calls) / calls);
  return least;
}

const rows: Record<string, number>[] = [];
for (const messages of [200, 2_000, 10_000]) {
  for (const ops of [1, 17]) {
    const text = frame(messages, ops);
    const parsed = JSON.parse(text) as DeltaMessage;
    const start = session(messages);

    let mine = start;
    const apply = cost(() => {
      mine = applyBatch(mine, parsed.operations, longLists);
      if (lastMessages(mine, 1)[0]!.content.length > 100_000) mine = start;
    });
    let whole = start;
    toThreadMessages(whole);
    const update = cost(() => {
      whole = applyBatch(whole, (JSON.parse(text) as DeltaMessage).operations, longLists);
      toThreadMessages(whole, 50);
      if (lastMessages(whole, 1)[0]!.content.length > 4_000) whole = start;
    });
    let theirs = new GorpStreamAccumulator(start as never);
    const reducer = cost(() => {
      theirs.append(parsed.operations as never);
      if ((theirs.state as unknown as HarnessState).messages[messages]!.content.length > 100_000) theirs = new GorpStreamAccumulator(start as never);
    });
    rows.push({ messages, ops, apply, update, reducer, ratio: reducer / apply });
  }
}
process.stdout.write(JSON.stringify(rows.map((r) => Object.fromEntries(Object.entries(r).map(([k, v]) => [k, Math.round(v * 100) / 100])))) + "\n");
