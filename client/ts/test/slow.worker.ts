// A tab whose thread is busy: it follows a session, stands still while the
// server goes on, and then says what it has.
import { parentPort, workerData } from "node:worker_threads";

import { HarnessClient } from "../src/client.js";
import { until } from "../src/until.js";

const { url, token, sessionId, busy, messages } = workerData as { url: string; token: string; sessionId: string; busy: number; messages: number };
const client = new HarnessClient({ url, token, sessionId });
let changes = 0;
client.subscribe(() => changes++);
await until(client, (s) => (s.messages[1]?.content.length ?? 0) > 0);
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busy);
const before = changes;
const state = await until(client, (s) => s.status === "idle" && s.messages.length === messages);
parentPort!.postMessage({ state, changes: changes - before });
client.close();
