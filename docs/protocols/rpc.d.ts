// Harness over JSON-RPC: made from the Go types, do not edit.

export interface ApprovalData {
  requestId: string;
  callId: string;
  tool: string;
  description?: string;
  input?: unknown;
  reason?: string;
  redacted?: boolean;
}

export interface ApprovalMeta {
  description?: string;
  reason?: string;
  input?: unknown;
  redacted?: boolean;
}

export interface ApprovalRequested {
  requestId: string;
  threadId: string;
  turnId: string;
  itemId: string;
  permission: string;
  patterns: string[];
  metadata: ApprovalMeta;
  tool: ApprovalTool;
  seq: number;
}

export interface ApprovalRespondParams {
  requestId: string;
  decision: "once" | "always" | "reject";
  reason?: string;
  threadId?: string;
}

export interface ApprovalTool {
  callId: string;
  name: string;
}

export interface ArtifactData {
  artifactId: string;
  artifactType: string;
  title?: string;
  uri?: string;
  size?: number;
  sha256?: string;
  metadata?: unknown;
}

export interface AssistantData {
  text: string;
  reasoning?: string;
  stopReason?: string;
}

export interface ClientInfo {
  name: string;
  version?: string;
}

export interface Config {
  permissionMode?: "default" | "acceptEdits" | "fullAuto";
  effort?: "low" | "medium" | "high" | "max";
  model?: string;
  agent?: string;
  systemPrompt?: string;
  maxTurns?: number;
}

export interface ErrorData {
  code: string;
  field?: string;
}

export interface InitializeParams {
  clientInfo?: ClientInfo;
}

export interface InitializeResult {
  version: string;
  capabilities: Record<string, boolean>;
}

export interface InputPart {
  type: "text" | "file";
  text?: string;
  url?: string;
  path?: string;
  filename?: string;
  mime?: string;
}

export interface Item {
  itemId: string;
  threadId: string;
  turnId: string;
  type: "user_message" | "assistant_message" | "tool_exec" | "tool_log" | "approval" | "artifact";
  data?: UserData | AssistantData | ToolData | ApprovalData | ReplyData | ArtifactData | Record<string, never>;
}

export interface ItemCompleted {
  itemId: string;
  threadId: string;
  turnId: string;
  type: "user_message" | "assistant_message" | "tool_exec" | "tool_log" | "approval" | "artifact";
  data?: UserData | AssistantData | ToolData | ApprovalData | ReplyData | ArtifactData | Record<string, never>;
  seq: number;
}

export interface ItemDelta {
  itemId: string;
  threadId: string;
  turnId: string;
  type: "user_message" | "assistant_message" | "tool_exec" | "tool_log" | "approval" | "artifact";
  delta: string;
  reasoning?: boolean;
  data?: LogData;
  seq: number;
}

export interface ItemStarted {
  item: Item;
  seq: number;
}

export interface LogData {
  callId: string;
  tool: string;
  stream?: string;
}

export interface ModelRef {
  providerID: string;
  modelID: string;
}

export interface OkResult {
  ok: boolean;
}

export interface Part {
  type: "text" | "file";
  text?: string;
  url?: string;
  path?: string;
  mime?: string;
}

export interface ReplyData {
  requestId: string;
  reply: "once" | "always" | "reject";
  decision: string;
  scope?: string;
  reason?: string;
  source: string;
  ruleId?: string;
}

export interface RewoundFile {
  path: string;
  insertions: number;
  deletions: number;
  binary?: boolean;
  reason?: string;
}

export interface RpcError {
  code: number;
  message: string;
  data?: ErrorData;
}

export interface Rule {
  ruleId: string;
  directory: string;
  tool: string;
  pattern?: string;
  threadId: string;
  requestId: string;
  actor?: string;
  created: number;
}

export interface RuleListParams {
  directory?: string;
}

export interface RuleListResult {
  rules: Rule[];
}

export interface RuleRevokeParams {
  ruleId: string;
}

export interface Thread {
  threadId: string;
  title: string;
  directory: string;
  time: ThreadTime;
  status: "idle" | "queued" | "running" | "awaiting_approval" | "paused" | "recovering" | "completed" | "failed" | "cancelled";
  seq: number;
  parentThreadId?: string;
}

export interface ThreadConfigureParams {
  threadId: string;
  config: Config;
}

export interface ThreadCreateParams {
  title?: string;
  directory?: string;
  maxRetries?: number;
  isolated?: boolean;
}

export interface ThreadCreated {
  threadId: string;
  title: string;
  seq: number;
}

export interface ThreadFlag {
  code: string;
  severity: "info" | "warn" | "critical";
  sinceSeq: number;
  evidence: string[];
  message: string;
}

export interface ThreadForkParams {
  threadId: string;
  at?: number;
  title?: string;
}

export interface ThreadGetParams {
  threadId: string;
  after?: number;
  limit?: number;
}

export interface ThreadGetResult {
  thread: Thread;
  events: Event[];
  next?: number;
}

export interface ThreadHealthResult {
  threadId: string;
  seq: number;
  status: "idle" | "queued" | "running" | "awaiting_approval" | "paused" | "recovering" | "completed" | "failed" | "cancelled";
  reason?: string;
  error?: string;
  pendingApprovals: number;
  queued: number;
  attempt?: number;
  turns: number;
  lastEvent: number;
  score?: number;
  grade?: "healthy" | "watch" | "degraded" | "critical";
  flags: ThreadFlag[];
  recoveryHint?: ThreadHint;
}

export interface ThreadHint {
  action: "none" | "approve" | "raise_budget" | "resume" | "branch" | "wait" | "investigate";
  cursor?: string;
  text: string;
}

export interface ThreadListParams {
  limit?: number;
  cursor?: string;
}

export interface ThreadListResult {
  threads: Thread[];
  nextCursor?: string;
}

export interface ThreadParams {
  threadId: string;
}

export interface ThreadResult {
  thread: Thread;
}

export interface ThreadRewindParams {
  threadId: string;
  messageId: string;
  dryRun?: boolean;
  force?: boolean;
  clientKey?: string;
}

export interface ThreadRewindResult {
  ok: boolean;
  seq: number;
  messageId: string;
  dryRun: boolean;
  filesChanged: string[];
  insertions: number;
  deletions: number;
  conflicts: string[];
  restore: RewoundFile[];
  delete: RewoundFile[];
  conflict: RewoundFile[];
  skipped: RewoundFile[];
  failed: RewoundFile[];
  omitted: number;
  error?: string;
  itemId?: string;
  safety?: string;
}

export interface ThreadSpawned {
  threadId: string;
  spawnedThreadId: string;
  task: string;
  seq: number;
}

export interface ThreadSubscribeParams {
  threadId: string;
  after?: number;
}

export interface ThreadSubscribeResult {
  thread: Thread;
  seq: number;
  turn?: Turn;
}

export interface ThreadTime {
  created: number;
  updated: number;
}

export interface ToolData {
  callId: string;
  tool: string;
  input?: unknown;
  status: "pending" | "running" | "ok" | "error" | "timeout" | "denied" | "artifact";
  output?: string;
  error?: string;
  reason?: string;
  artifactId?: string;
  elapsedMs?: number;
}

export interface Turn {
  turnId: string;
  threadId: string;
  status: "running";
  time: TurnTime;
  items: Item[];
}

export interface TurnCancelParams {
  threadId: string;
  turnId?: string;
}

export interface TurnEnded {
  turnId: string;
  threadId: string;
  status: "completed" | "cancelled" | "error";
  error?: string;
  reason?: string;
  time: TurnTime;
  usage?: Usage;
  seq: number;
}

export interface TurnStartParams {
  threadId: string;
  input: InputPart[];
  model?: ModelRef;
  agent?: string;
  queue?: boolean;
  clientKey?: string;
}

export interface TurnStartResult {
  turnId: string;
  itemId: string;
  seq: number;
}

export interface TurnStarted {
  turnId: string;
  threadId: string;
  time: TurnTime;
  seq: number;
}

export interface TurnSteerParams {
  threadId: string;
  input: InputPart[];
  clientKey?: string;
}

export interface TurnTime {
  started: number;
  completed?: number;
}

export interface Usage {
  inputTokens: number;
  outputTokens: number;
  cachedTokens?: number;
  costUsd: number | null;
  contextPct?: number;
  model?: string;
}

export interface UserData {
  parts: Part[];
  source?: string;
}

export interface Methods {
  "initialize": { params: InitializeParams; result: InitializeResult };
  "thread.create": { params: ThreadCreateParams; result: ThreadResult };
  "thread.list": { params: ThreadListParams; result: ThreadListResult };
  "thread.get": { params: ThreadGetParams; result: ThreadGetResult };
  "turn.start": { params: TurnStartParams; result: TurnStartResult };
  "turn.cancel": { params: TurnCancelParams; result: OkResult };
  "approval.respond": { params: ApprovalRespondParams; result: OkResult };
  "turn.steer": { params: TurnSteerParams; result: OkResult };
  "thread.subscribe": { params: ThreadSubscribeParams; result: ThreadSubscribeResult };
  "thread.unsubscribe": { params: ThreadParams; result: OkResult };
  "thread.fork": { params: ThreadForkParams; result: ThreadResult };
  "thread.configure": { params: ThreadConfigureParams; result: OkResult };
  "thread.pause": { params: ThreadParams; result: OkResult };
  "thread.resume": { params: ThreadParams; result: OkResult };
  "thread.rewind": { params: ThreadRewindParams; result: ThreadRewindResult };
  "thread.health": { params: ThreadParams; result: ThreadHealthResult };
  "rule.list": { params: RuleListParams; result: RuleListResult };
  "rule.revoke": { params: RuleRevokeParams; result: OkResult };
}

export interface Notifications {
  "thread.created": ThreadCreated;
  "thread.spawned": ThreadSpawned;
  "turn.started": TurnStarted;
  "turn.completed": TurnEnded;
  "turn.error": TurnEnded;
  "item.started": ItemStarted;
  "item.delta": ItemDelta;
  "item.completed": ItemCompleted;
  "approval.requested": ApprovalRequested;
}

export const enum Code {
  ThreadNotFound = -32001,
  TurnBusy = -32002,
  TurnNotFound = -32003,
  ApprovalNotFound = -32004,
  Unauthenticated = -32005,
  Forbidden = -32006,
  TooMany = -32007,
  InvalidRequest = -32600,
  MethodNotFound = -32601,
  InvalidParams = -32602,
  InternalError = -32603,
  ParseError = -32700,
}

export type Id = string | number | null;
export type Request = { [M in keyof Methods]: { jsonrpc: "2.0"; id?: Id; method: M; params?: Methods[M]["params"] } }[keyof Methods];
export type Notification = { [N in keyof Notifications]: { jsonrpc: "2.0"; method: N; params: Notifications[N] } }[keyof Notifications];
export type Answer<M extends keyof Methods> = { jsonrpc: "2.0"; id: Id; result: Methods[M]["result"] } | { jsonrpc: "2.0"; id: Id; error: RpcError };
/** A notification as thread.get returns it. */
export type Event = { [N in keyof Notifications]: Notifications[N] & { notification: N; timestamp: number } }[keyof Notifications];
