// What an update costs assistant-ui, in CPU time, when it is fed the newest 50
// messages and when it is fed all of them. Nothing is painted: this is the
// runtime and React alone, as built for production. Prints one line of JSON.
import { AssistantRuntimeProvider, MessagePrimitive, ThreadPrimitive } from "@assistant-ui/react";
// @ts-expect-error it has no types
import { create } from "react-test-renderer";

import { useHarnessRuntime } from "../src/assistant-ui.js";
import type { HarnessClient } from "../src/client.js";
import { stage } from "../test/fake.js";
import { session } from "./session.js";

/** Lets React finish what it has begun. */
async function rendered(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise((r) => setImmediate(r));
}

const Text = (p: { text: string }) => <>{p.text}</>;
const Message = () => <MessagePrimitive.Parts components={{ Text, tools: { Fallback: () => null } }} />;

function Thread(p: { client: HarnessClient; window: number }) {
  return (
    <AssistantRuntimeProvider runtime={useHarnessRuntime(p.client, { window: p.window })}>
      <ThreadPrimitive.Messages components={{ UserMessage: Message, AssistantMessage: Message }} />
    </AssistantRuntimeProvider>
  );
}

const rows: { messages: number; window: number | null; update: number }[] = [];
for (const [messages, window] of [[200, 50], [2_000, 50], [10_000, 50], [200, Infinity], [2_000, Infinity]] as const) {
  const s = stage({ schedule: "sync" });
  s.socket().state(1, session(messages));
  const root = create(<Thread client={s.client} window={window} />) as { toJSON(): unknown; unmount(): void };
  await rendered();
  let seq = 1;
  const update = async () => {
    s.socket().say(++seq, "tokn ", messages);
    await rendered();
  };
  for (let i = 0; i < 5; i++) await update();
  const updates = messages > 500 && window === Infinity ? 3 : 20;
  let least = Infinity;
  for (let round = 0; round < 3; round++) {
    const before = process.cpuUsage();
    for (let i = 0; i < updates; i++) await update();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / updates / 1000);
  }
  rows.push({ messages, window: Number.isFinite(window) ? window : null, update: Math.round(least * 100) / 100 });
  if (!JSON.stringify(root.toJSON()).endsWith(`${"tokn ".repeat(seq - 1)}"]`)) throw new Error("what was told is not shown");
  root.unmount();
  s.client.close();
}
process.stdout.write(JSON.stringify(rows) + "\n");
