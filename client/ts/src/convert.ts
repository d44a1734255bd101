import { lastMessages } from "./last.js";
import type { HarnessMessage, HarnessState, HarnessToolCall, PendingApproval } from "./protocol.gen.js";

/*
 * The shapes of assistant-ui 0.15 that are made here, written down so that the
 * core needs no package. A type test holds them against ThreadMessage.
 */

export interface TextPart {
  readonly type: "text";
  readonly text: string;
}

export interface ReasoningPart {
  readonly type: "reasoning";
  readonly text: string;
}

export interface ApprovalOption {
  readonly id: string;
  readonly kind: "allow-once" | "allow-always" | "reject-once";
  readonly label: string;
}

export interface PartApproval {
  /** The question's id: `requestId`. */
  readonly id: string;
  readonly prompt?: string;
  readonly reason?: string;
  readonly approved?: boolean;
  readonly options?: readonly ApprovalOption[];
}

/** What a tool call has beyond assistant-ui's own fields. */
export interface ToolArtifact {
  readonly status: HarnessToolCall["status"];
  /** What it has said so far; `result` is set when it is done. */
  readonly output?: string;
  /** Set if `output` is a preview of so many bytes. */
  readonly outputBytes?: number;
  /** When nobody's answer becomes a no. */
  readonly deadline?: string;
}

type Json = string | number | boolean | null | { readonly [key: string]: Json } | readonly Json[];

export interface ToolCallPart {
  readonly type: "tool-call";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: { readonly [key: string]: Json };
  readonly argsText: string;
  readonly result?: string;
  readonly isError?: boolean;
  readonly artifact: ToolArtifact;
  readonly approval?: PartApproval;
}

export type ThreadStatus =
  | { readonly type: "running" }
  | { readonly type: "requires-action"; readonly reason: "interrupt" }
  | { readonly type: "complete"; readonly reason: "stop" }
  | { readonly type: "incomplete"; readonly reason: "error"; readonly error?: string };

export interface UserThreadMessage {
  readonly id: string;
  readonly role: "user";
  readonly createdAt: Date;
  readonly content: readonly TextPart[];
  readonly attachments: readonly never[];
  readonly metadata: { readonly custom: { readonly [key: string]: unknown } };
}

export interface AssistantThreadMessage {
  readonly id: string;
  readonly role: "assistant";
  readonly createdAt: Date;
  readonly content: readonly (TextPart | ReasoningPart | ToolCallPart)[];
  readonly status: ThreadStatus;
  readonly metadata: {
    readonly unstable_state: null;
    readonly unstable_annotations: readonly never[];
    readonly unstable_data: readonly never[];
    readonly steps: readonly never[];
    readonly custom: { readonly [key: string]: unknown };
  };
}

export type ConvertedMessage = UserThreadMessage | AssistantThreadMessage;

/** The answers to an approval. Those that last go over HTTP: see `answer` in `harness-client/http`. */
export const approvalOptions: readonly ApprovalOption[] = [
  { id: "once", kind: "allow-once", label: "Allow once" },
  { id: "session", kind: "allow-always", label: "Allow in this session" },
  { id: "always", kind: "allow-always", label: "Always allow" },
  { id: "reject", kind: "reject-once", label: "Deny" },
];

/** A message that the server did not name has no time; assistant-ui wants one. */
const noTime = new Date(0);

const minted = /^itm_([0-9a-hjkmnp-tv-z]{10})[0-9a-hjkmnp-tv-z]{16}$/;
const digits = "0123456789abcdefghjkmnpqrstvwxyz";

/** When a message began: the ids of the server begin with 48 bits of milliseconds, in base 32. */
export function timeOf(m: HarnessMessage): Date {
  const time = minted.exec(m.id)?.[1];
  return time === undefined ? noTime : new Date(Math.floor(Array.from(time).reduce((n, c) => n * 32 + digits.indexOf(c), 0) / 4));
}

interface Made {
  readonly asked: readonly PendingApproval[];
  readonly error: string | undefined;
  readonly message: ConvertedMessage;
}

const made = new WeakMap<HarnessMessage, Made>();
const nobody: readonly PendingApproval[] = [];

/**
 * toThreadMessages is a state as assistant-ui's `ThreadMessage[]`, or its newest
 * `window` messages. Text and tool calls are in the order in which they came.
 * A message that did not change is the same object as before.
 */
export function toThreadMessages(state: HarnessState, window = Infinity): ConvertedMessage[] {
  const messages = window === Infinity ? state.messages : lastMessages(state, window);
  return messages.map((m, i) => {
    const error = m.status === "error" && i === messages.length - 1 && state.error ? state.error : undefined;
    return toThreadMessage(m, askedIn(m, state.pendingApprovals), error);
  });
}

/** toThreadMessage converts one message, with the questions about its calls that wait. */
export function toThreadMessage(m: HarnessMessage, asked: readonly PendingApproval[] = nobody, error?: string): ConvertedMessage {
  const before = made.get(m);
  if (before && before.error === error && before.asked.length === asked.length && before.asked.every((a, i) => a === asked[i])) {
    return before.message;
  }
  const message = m.role === "user" ? fromUser(m) : fromAssistant(m, asked, error);
  made.set(m, { asked, error, message });
  return message;
}

function askedIn(m: HarnessMessage, pending: readonly PendingApproval[] | undefined): readonly PendingApproval[] {
  if (!pending?.length || !m.toolCalls?.length) return nobody;
  const list = pending.filter((a) => m.toolCalls!.some((c) => c.id === a.toolCallId));
  return list.length > 0 ? list : nobody;
}

function fromUser(m: HarnessMessage): UserThreadMessage {
  return {
    id: m.id,
    role: "user",
    createdAt: timeOf(m),
    content: [{ type: "text", text: m.content }],
    attachments: [],
    metadata: { custom: { status: m.status } },
  };
}

function fromAssistant(m: HarnessMessage, asked: readonly PendingApproval[], error: string | undefined): AssistantThreadMessage {
  return {
    id: m.id,
    role: "assistant",
    createdAt: timeOf(m),
    content: parts(m, asked),
    status: statusOf(m, asked, error),
    metadata: { unstable_state: null, unstable_annotations: [], unstable_data: [], steps: [], custom: { status: m.status } },
  };
}

function statusOf(m: HarnessMessage, asked: readonly PendingApproval[], error: string | undefined): ThreadStatus {
  switch (m.status) {
    case "pending":
    case "streaming":
      return asked.length > 0 ? { type: "requires-action", reason: "interrupt" } : { type: "running" };
    case "complete":
      return { type: "complete", reason: "stop" };
    case "error":
      return { type: "incomplete", reason: "error", ...(error !== undefined && { error }) };
  }
}

/** Cuts the text where the calls began. Without a place, as in S0, they come behind it. */
function parts(m: HarnessMessage, asked: readonly PendingApproval[]): AssistantThreadMessage["content"] {
  const list: (TextPart | ReasoningPart | ToolCallPart)[] = [];
  if (m.reasoning?.trim()) list.push({ type: "reasoning", text: m.reasoning });
  let from = 0;
  const textTo = (to: number) => {
    const text = m.content.slice(from, to);
    if (text.trim()) list.push({ type: "text", text });
    from = Math.max(from, to);
  };
  const end = m.content.length;
  const calls = (m.toolCalls ?? []).map((c) => [Math.min(end, (c.at as number | undefined) ?? end), c] as const);
  for (const [at, c] of calls.sort((a, b) => a[0] - b[0])) {
    textTo(at);
    list.push(toolPart(c, asked.find((a) => a.toolCallId === c.id)));
  }
  textTo(end);
  return list;
}

function toolPart(c: HarnessToolCall, asked: PendingApproval | undefined): ToolCallPart {
  const args = (c.input ?? {}) as ToolCallPart["args"];
  const approval = approvalOf(c, asked);
  const failed = c.status === "error" || c.status === "denied";
  return {
    type: "tool-call",
    toolCallId: c.id,
    toolName: c.name,
    args,
    argsText: JSON.stringify(args),
    ...(c.status === "complete" || failed ? { result: c.output ?? (c.status === "denied" ? "denied" : "") } : {}),
    ...(failed && { isError: true }),
    artifact: {
      status: c.status,
      ...(c.output !== undefined && { output: c.output }),
      ...(c.outputBytes !== undefined && { outputBytes: c.outputBytes }),
      ...(asked?.deadline !== undefined && { deadline: asked.deadline }),
    },
    ...(approval && { approval }),
  };
}

function approvalOf(c: HarnessToolCall, asked: PendingApproval | undefined): PartApproval | undefined {
  if (asked) {
    return {
      id: asked.requestId ?? asked.toolCallId,
      ...(asked.description && { prompt: asked.description }),
      ...(asked.reason !== undefined && { reason: asked.reason }),
      options: approvalOptions,
    };
  }
  return c.status === "denied" ? { id: c.id, approved: false } : undefined;
}
