// Speaks NDJSON: one request per line on stdin, one answer per line on stdout.
//
//   {"new": id, "generation": "A"|"B"|"C", "strict": bool}    an accumulator on null
//   {"apply": id, "frame": "…"}   the text of an array of operations, or of a
//                                 message {"type":"delta"|"state",…}
//   {"state": id}                 answers {"json": "…"}
//   {"drop": id}
//   {"normal": "…"}               JSON.stringify(JSON.parse(…)), answers {"json": "…"}
//   {"secure": "…"}               parse as the stream decoders do
//
// An answer with "error" carries the message of what was thrown.
import { createInterface } from "node:readline";
import secureJson from "secure-json-parse";
import { GorpStreamAccumulator as C } from "./node_modules/assistant-stream/dist/core/gorp/GorpStreamAccumulator.js";
import { GorpStreamAccumulator as B } from "./node_modules/assistant-stream-b/dist/core/gorp/GorpStreamAccumulator.js";
import { ObjectStreamAccumulator as A } from "./node_modules/assistant-stream-a/dist/core/object/ObjectStreamAccumulator.js";

console.error = console.warn = () => {}; // a lax accumulator tells what it skips

const generations = { A, B, C };
const accumulators = new Map();

function operations(frame) {
  const parsed = JSON.parse(frame);
  if (Array.isArray(parsed)) return parsed;
  switch (parsed.type) {
    case "delta": return parsed.operations;
    case "state": return [{ type: "set", path: [], value: parsed.state }];
  }
  throw new Error(`Not a frame of operations: ${parsed.type}`);
}

function answer(request) {
  if ("new" in request) {
    const Accumulator = generations[request.generation];
    accumulators.set(request.new, new Accumulator(null, { strict: request.strict }));
  } else if ("apply" in request) {
    accumulators.get(request.apply).append(operations(request.frame));
  } else if ("state" in request) {
    return { json: JSON.stringify(accumulators.get(request.state).state ?? null) };
  } else if ("drop" in request) {
    accumulators.delete(request.drop);
  } else if ("normal" in request) {
    return { json: JSON.stringify(JSON.parse(request.normal)) };
  } else if ("secure" in request) {
    secureJson.parse(request.secure);
  } else {
    throw new Error("unknown request");
  }
  return {};
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  let out;
  try {
    out = answer(JSON.parse(line));
  } catch (error) {
    out = { error: error.message };
  }
  process.stdout.write(JSON.stringify(out) + "\n");
}
