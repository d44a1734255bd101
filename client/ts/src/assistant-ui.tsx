import { type AppendMessage, type AssistantRuntime, type ThreadMessage, useExternalStoreRuntime } from "@assistant-ui/react";
import { useMemo, useRef, useSyncExternalStore } from "react";

import type { HarnessClient } from "./client.js";
import { toThreadMessages } from "./convert.js";
import { HarnessError } from "./errors.js";
import { answer as answerFor } from "./http.js";
import type { HarnessCommand, HarnessState } from "./protocol.gen.js";

export interface HarnessRuntimeOptions {
  /**
   * How many of the newest messages assistant-ui is given, 50 unless said. It
   * does work for each of them on every update; older ones are for a list of
   * your own above the thread, see `useHistory`.
   */
  readonly window?: number;
  /** What a prompt does once there is a conversation: it goes on with it unless `submit` is said, which begins afresh. */
  readonly followUp?: "resume" | "submit";
  /** Hears of commands that were refused or not delivered. */
  readonly onError?: (e: HarnessError) => void;
}

const defaultWindow = 50;
const none: readonly never[] = [];

/** useHarnessRuntime lets assistant-ui's components show a session and talk to it. */
export function useHarnessRuntime(client: HarnessClient, options: HarnessRuntimeOptions = {}): AssistantRuntime {
  const state = useSyncExternalStore(client.subscribe, client.getState, client.getState);
  const window = options.window ?? defaultWindow;
  const messages = useMemo((): readonly ThreadMessage[] => (state ? toThreadMessages(state, window) : none), [state, window]);
  const latest = useRef(options);
  latest.current = options;
  const wired = useMemo(() => wire(client, latest), [client]);
  return useExternalStoreRuntime<ThreadMessage>({ messages, isRunning: busy(state), isLoading: state === undefined, ...wired });
}

function busy(state: HarnessState | undefined): boolean {
  return state?.status === "running" || state?.status === "awaiting-approval";
}

/** The way back: what people do in the thread, as commands. */
function wire(client: HarnessClient, options: { readonly current: HarnessRuntimeOptions }) {
  const report = (e: unknown) => options.current.onError?.(e as HarnessError);
  const send = (command: HarnessCommand) => void client.send(command).catch(report);
  const prompt = (message: AppendMessage) => {
    const state = client.getState();
    const text = textOf(message);
    if (text === "") return;
    if (state?.sessionId !== undefined && state.messages.length > 0 && options.current.followUp !== "submit") {
      return send({ type: "resume", prompt: text, sessionId: state.sessionId });
    }
    send({ type: "submit", prompt: text });
  };
  return {
    onNew: async (message: AppendMessage) => prompt(message),
    onCancel: async () => send({ type: "cancel" }),
    // Without a queue assistant-ui takes nothing while a turn runs. Prompts
    // that wait are the server's: they are messages of the state.
    queue: {
      items: none,
      steerItems: none,
      enqueue: prompt,
      steer(message: AppendMessage) {
        const text = textOf(message);
        if (!busy(client.getState())) prompt(message);
        else if (text !== "") send({ type: "steer", message: text });
      },
      move: () => {},
      edit: () => {},
      remove: () => {},
    },
    onRespondToToolApproval: async (answer: { approvalId: string; approved: boolean; optionId?: string; reason?: string }) => {
      const { approvalId, approved, optionId, reason } = answer;
      if (approved && (optionId === "session" || optionId === "always")) {
        await answerFor(client, approvalId, { decision: "allow", scope: optionId, ...(reason !== undefined && { reason }) }).catch(report);
        return;
      }
      const asked = client.getState()?.pendingApprovals?.find((a) => (a.requestId ?? a.toolCallId) === approvalId);
      if (asked === undefined) return report(new HarnessError("approval_not_found", "the question is not open any more"));
      const about = { toolCallId: asked.toolCallId, ...(asked.requestId !== undefined && { requestId: asked.requestId }) };
      send(approved ? { type: "approve", ...about } : { type: "deny", ...about, ...(reason !== undefined && { reason }) });
    },
  };
}

function textOf(message: AppendMessage): string {
  return message.content.flatMap((p) => (p.type === "text" ? [p.text] : [])).join("\n").trim();
}
