import { ComposerPrimitive, MessagePrimitive, ThreadPrimitive } from "@assistant-ui/react";
import { useHarness } from "harness-client/react";
import type { ReactNode } from "react";

import { ToolCall } from "./tool.js";

const Text = (p: { text: string }) => <p>{p.text}</p>;

const Reasoning = (p: { text: string }) => (
  <details className="reasoning">
    <summary>Thinking</summary>
    <p>{p.text}</p>
  </details>
);

function UserMessage() {
  return (
    <MessagePrimitive.Root className="message user">
      <MessagePrimitive.Parts components={{ Text }} />
    </MessagePrimitive.Root>
  );
}

function AssistantMessage() {
  return (
    <MessagePrimitive.Root className="message assistant">
      <MessagePrimitive.Parts components={{ Text, Reasoning, tools: { Fallback: ToolCall } }} />
      <MessagePrimitive.Error>
        <p className="banner failure">This turn failed.</p>
      </MessagePrimitive.Error>
    </MessagePrimitive.Root>
  );
}

/** The conversation and the composer. While a turn runs, what is sent steers it. */
export function Thread(props: { history: ReactNode }) {
  const running = useHarness((s) => s.status === "running" || s.status === "awaiting-approval");
  return (
    <ThreadPrimitive.Root className="thread">
      <ThreadPrimitive.Viewport className="viewport" autoScroll>
        {props.history}
        <ThreadPrimitive.Messages components={{ UserMessage, AssistantMessage }} />
      </ThreadPrimitive.Viewport>
      <ComposerPrimitive.Root className="composer">
        <ComposerPrimitive.Input autoFocus aria-label="Message" placeholder={running ? "Steer the running turn…" : "Say something…"} />
        <ComposerPrimitive.Send>{running ? "Steer" : "Send"}</ComposerPrimitive.Send>
        {running && <ComposerPrimitive.Cancel>Stop</ComposerPrimitive.Cancel>}
      </ComposerPrimitive.Root>
    </ThreadPrimitive.Root>
  );
}
