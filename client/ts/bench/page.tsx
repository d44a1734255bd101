// A thread of assistant-ui in a real page, fed the newest messages of a session
// or all of them: ?messages=2000&window=50, or ?snapshot=URL for those of a real
// one. No server is behind it. updates(n) tells n words more, one by one, and
// waits each time until it is painted.
import { AssistantRuntimeProvider, MessagePrimitive, ThreadPrimitive } from "@assistant-ui/react";
import { createRoot } from "react-dom/client";

import { useHarnessRuntime } from "../src/assistant-ui.js";
import { HarnessClient } from "../src/client.js";
import { fromHttp } from "../src/from-http.js";
import type { Socket } from "../src/host.js";
import type { Snapshot } from "../src/http.gen.js";
import type { ServerMessage } from "../src/protocol.gen.js";
import { session } from "./session.js";

const query = new URLSearchParams(location.search);
const window = Number(query.get("window") ?? Infinity);
const snapshot = query.get("snapshot");
const state = snapshot === null ? session(Number(query.get("messages"))) : session(0, ((await (await fetch(snapshot)).json()) as Snapshot).messages.map(fromHttp));
const messages = state.messages.length - 1;

let told = 1;
let line: Wire;

/** A socket that tells what it is told to. */
class Wire implements Socket {
  readonly readyState = 1;
  readonly protocol = "harness.v1";
  onopen = null;
  onclose = null;
  onerror = null;
  onmessage: Socket["onmessage"] = null;

  constructor() {
    line = this;
    queueMicrotask(() => this.tell({ type: "state", seq: told, state }));
  }

  tell(m: ServerMessage): void {
    this.onmessage?.({ data: JSON.stringify(m) });
  }

  send(): void {}
  close(): void {}
}

const client = new HarnessClient({ url: "http://127.0.0.1:1", WebSocket: Wire, silence: Infinity });

const Text = (p: { text: string }) => <p>{p.text}</p>;
const Tool = (p: { toolName: string }) => <pre>{p.toolName}</pre>;
const Message = () => (
  <MessagePrimitive.Root>
    <MessagePrimitive.Parts components={{ Text, tools: { Fallback: Tool } }} />
  </MessagePrimitive.Root>
);

function Thread() {
  return (
    <AssistantRuntimeProvider runtime={useHarnessRuntime(client, { window })}>
      <ThreadPrimitive.Root>
        <ThreadPrimitive.Messages components={{ UserMessage: Message, AssistantMessage: Message }} />
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  );
}

async function update(): Promise<void> {
  line.tell({ type: "delta", seq: ++told, operations: [{ type: "append-text", path: ["messages", String(messages), "content"], value: "tokn " }] });
  for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
}

Object.assign(globalThis, {
  updates: async (n: number) => {
    for (let i = 0; i < n; i++) await update();
  },
  /** Whether everything that was told is shown. */
  complete: () => document.body.innerText.trimEnd().endsWith("tokn ".repeat(told - 1).trimEnd()),
});

createRoot(document.getElementById("app")!).render(<Thread />);
