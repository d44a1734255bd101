// Harness over WebSocket: made from the Go types by generate_test.go, do not edit.

export interface AckMessage {
  readonly commandId: string;
  readonly seq: number;
  readonly type: "ack";
}

export interface AppendTextOperation {
  readonly path: readonly string[];
  readonly type: "append-text";
  readonly value: string;
}

export interface ApproveCommand {
  readonly toolCallId: string;
  readonly type: "approve";
  readonly commandId?: string;
  readonly requestId?: string;
}

export interface CancelCommand {
  readonly type: "cancel";
  readonly commandId?: string;
}

export interface ClientMessage {
  readonly commands: readonly HarnessCommand[];
  readonly type: "commands";
}

export interface Configuration {
  readonly effort?: "low" | "medium" | "high" | "max";
  readonly maxTurns?: number;
  readonly model?: string;
  readonly permissionMode?: "default" | "acceptEdits" | "fullAuto";
  readonly systemPrompt?: string;
}

export interface ConfigureCommand {
  readonly config: Configuration;
  readonly type: "configure";
  readonly commandId?: string;
}

export interface DeltaMessage {
  readonly operations: readonly DeltaOperation[];
  readonly seq: number;
  readonly type: "delta";
}

export type DeltaOperation = SetOperation | AppendTextOperation;

export interface DenyCommand {
  readonly toolCallId: string;
  readonly type: "deny";
  readonly commandId?: string;
  readonly reason?: string;
  readonly requestId?: string;
}

export interface ErrorMessage {
  readonly code: "already_resolved" | "approval_not_found" | "busy" | "conflict" | "corrupt" | "exists" | "forbidden" | "has_branches" | "holds_secret" | "internal" | "invalid" | "locked" | "not_found" | "not_running" | "queue_full" | "quota_exceeded" | "storage" | "too_large" | "too_many_requests" | "turn_not_found" | "unauthenticated" | "unavailable" | "unsupported";
  readonly message: string;
  readonly type: "error";
  readonly commandId?: string;
}

export type HarnessCommand = SubmitCommand | CancelCommand | SteerCommand | ApproveCommand | DenyCommand | ResumeCommand | ConfigureCommand | RewindCommand;

export interface HarnessMessage {
  readonly content: string;
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly status: "pending" | "streaming" | "complete" | "error";
  readonly reasoning?: string;
  readonly toolCalls?: readonly HarnessToolCall[];
}

export interface HarnessState {
  readonly messages: readonly HarnessMessage[];
  readonly status: "idle" | "running" | "awaiting-approval" | "error";
  readonly error?: string | null;
  readonly firstMessage?: number;
  readonly lacks?: Lacks;
  readonly pendingApprovals?: readonly PendingApproval[];
  readonly rewind?: Rewind;
  readonly sessionId?: string;
}

export interface HarnessToolCall {
  readonly at: number;
  readonly id: string;
  readonly name: string;
  readonly status: "running" | "awaiting-approval" | "complete" | "error" | "denied";
  readonly input?: { readonly [key: string]: unknown };
  readonly output?: string;
  readonly outputBytes?: number;
}

export interface HeartbeatMessage {
  readonly seq: number;
  readonly ts: string;
  readonly type: "hb";
}

export interface Lacks {
  readonly commands: readonly string[];
  readonly settings: readonly string[];
}

export interface PendingApproval {
  readonly description: string;
  readonly requestId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly deadline?: string;
  readonly input?: { readonly [key: string]: unknown };
  readonly reason?: string;
  readonly redacted?: boolean;
}

export interface ResumeCommand {
  readonly prompt: string;
  readonly sessionId: string;
  readonly type: "resume";
  readonly commandId?: string;
}

export interface Rewind {
  readonly conflict: readonly RewoundFile[];
  readonly conflicts: readonly string[];
  readonly delete: readonly RewoundFile[];
  readonly deletions: number;
  readonly dryRun: boolean;
  readonly filesChanged: readonly string[];
  readonly insertions: number;
  readonly messageId: string;
  readonly restore: readonly RewoundFile[];
  readonly skipped: readonly RewoundFile[];
  readonly commandId?: string;
  readonly error?: string;
  readonly failed?: readonly RewoundFile[];
  readonly force?: boolean;
  readonly itemId?: string;
  readonly omitted?: number;
  readonly safety?: string;
}

export interface RewindCommand {
  readonly messageId: string;
  readonly type: "rewind";
  readonly commandId?: string;
  readonly dryRun?: boolean;
  readonly force?: boolean;
}

export interface RewoundFile {
  readonly deletions: number;
  readonly insertions: number;
  readonly path: string;
  readonly binary?: boolean;
  readonly reason?: string;
}

export type ServerMessage = StateMessage | DeltaMessage | ErrorMessage | AckMessage | HeartbeatMessage;

export interface SetOperation {
  readonly path: readonly string[];
  readonly type: "set";
  readonly value: unknown;
}

export interface StateMessage {
  readonly seq: number;
  readonly state: HarnessState;
  readonly type: "state";
}

export interface SteerCommand {
  readonly message: string;
  readonly type: "steer";
  readonly commandId?: string;
}

export interface SubmitCommand {
  readonly prompt: string;
  readonly type: "submit";
  readonly commandId?: string;
}
