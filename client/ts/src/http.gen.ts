// Harness over HTTP: made from the Go types by generate_test.go, do not edit.

export interface Approval {
  readonly request_id: string;
  readonly requested_at: string;
  readonly seq: number;
  readonly session_id: string;
  readonly tool_call_id: string;
  readonly tool_name: string;
  readonly deadline?: string;
  readonly description?: string;
  readonly input?: unknown;
  readonly reason?: string;
  readonly redacted?: boolean;
  readonly turn_id?: string;
}

export interface ApprovalAnswer {
  readonly decision: "allow" | "deny";
  readonly reason?: string;
  readonly scope?: "once" | "session" | "always";
}

export interface ApprovalPage {
  readonly approvals: readonly Approval[];
  readonly next_cursor?: string;
}

export interface Artifact {
  readonly artifact_id: string;
  readonly artifact_type: string;
  readonly created_at: string;
  readonly event_id: string;
  readonly seq: number;
  readonly title: string;
  readonly updated_at: string;
  readonly metadata?: unknown;
  readonly sha256?: string;
  readonly size?: number;
  readonly uri?: string;
}

export interface Changes {
  readonly deletions: number;
  readonly files: number;
  readonly insertions: number;
}

export interface Channel {
  readonly channel_id: string;
  readonly envelopes: readonly Stamped[];
  readonly participants: readonly Participant[];
  readonly truncated_before_seq: number;
}

export interface Checkpoint {
  readonly checkpoint_type: string;
  readonly created_at: string;
  readonly event_id: string;
  readonly resume_cursor: string | null;
  readonly seq: number;
  readonly sequence: number;
  readonly session_id: string;
  readonly status: string;
  readonly summary_text: string;
}

export interface Config {
  readonly approval_mode: "on_request" | "never";
  readonly permission_mode: "normal" | "accept_edits" | "full_auto";
  readonly agent_profile?: string;
  readonly max_turns?: number;
  readonly model?: string;
  readonly system_prompt?: string;
  readonly think_level?: string;
}

export interface Day {
  readonly cost_usd: number;
  readonly date: string;
}

export interface EngineList {
  readonly engines: readonly EngineRow[];
}

export interface EngineRow {
  readonly commands: readonly string[];
  readonly default: boolean;
  readonly engine: string;
  readonly events: readonly string[];
  readonly lacks?: Lacks;
}

export interface Event {
  readonly id: string;
  readonly payload: unknown;
  readonly seq: number;
  readonly session_id: string;
  readonly tier: "default" | "debug";
  readonly ts: string;
  readonly type: string;
  readonly turn_id?: string;
}

export interface EventPage {
  readonly events: readonly Event[];
  readonly session_id: string;
  readonly next_cursor?: string;
}

export interface HealthBudget {
  readonly limit: number | null;
  readonly ratio: number | null;
  readonly used: number;
  readonly unknown?: boolean;
}

export interface HealthBudgets {
  readonly context_usage_pct: HealthBudget;
  readonly cost_usd: HealthBudget;
  readonly runtime_minutes: HealthBudget;
  readonly total_tokens: HealthBudget;
}

export interface HealthControl {
  readonly enforcement: HealthEnforcement;
  readonly health: HealthPolicy;
}

export interface HealthCounters {
  readonly attempts: number;
  readonly events_without_evidence: number;
  readonly failed_tool_calls: number;
  readonly loop_warnings: number;
  readonly max_tool_latency_ms: number;
  readonly repeated_plan_events: number;
  readonly subagents: number;
  readonly tool_calls: number;
  readonly turns: number;
}

export interface HealthEnforcement {
  readonly state: "none" | "awaiting" | "paused" | "overridden" | "denied";
  readonly approval_request_id?: string;
  readonly at_seq?: number;
  readonly budget?: string;
  readonly observed?: number;
  readonly threshold?: number;
}

export interface HealthFlag {
  readonly code: string;
  readonly evidence: readonly string[];
  readonly message: string;
  readonly severity: "info" | "warn" | "critical";
  readonly since_seq: number;
}

export interface HealthHint {
  readonly action: "none" | "approve" | "raise_budget" | "resume" | "branch" | "wait" | "investigate";
  readonly text: string;
  readonly cursor?: string;
}

export interface HealthLiveness {
  readonly last_event_at: string;
  readonly last_heartbeat_at: string | null;
  readonly last_progress_at: string | null;
  readonly live: boolean;
  readonly silent_ms: number;
  readonly status: "idle" | "queued" | "running" | "awaiting_approval" | "paused" | "recovering" | "completed" | "failed" | "cancelled";
}

export interface HealthMemory {
  readonly accepted: number;
  readonly proposals: number;
  readonly provenance: readonly HealthSource[];
}

export interface HealthPolicy {
  readonly action?: string;
  readonly context_usage_pct?: number;
  readonly cost_usd?: number;
  readonly events_without_evidence?: number;
  readonly failed_tool_calls?: number;
  readonly loop_warnings?: number;
  readonly min_score?: number;
  readonly repeated_plan_events?: number;
  readonly runtime_minutes?: number;
  readonly tool_latency_ms?: number;
  readonly total_tokens?: number;
}

export interface HealthRow {
  readonly at: string;
  readonly event_id: string;
  readonly kind: string;
  readonly outcome: string;
  readonly seq: number;
  readonly subject: string;
  readonly actor?: string;
  readonly reason?: string;
  readonly request_id?: string;
  readonly source?: string;
}

export interface HealthSnapshot {
  readonly as_of: string;
  readonly audit: readonly HealthRow[];
  readonly budget: HealthBudgets;
  readonly counters: HealthCounters;
  readonly flags: readonly HealthFlag[];
  readonly grade: "healthy" | "watch" | "degraded" | "critical";
  readonly liveness: HealthLiveness;
  readonly memory: HealthMemory;
  readonly policy: HealthControl;
  readonly recovery_hint: HealthHint;
  readonly score: number;
  readonly seq: number;
  readonly session_id: string;
  readonly version: number;
}

export interface HealthSource {
  readonly event_id: string;
  readonly seq: number;
  readonly source: string;
  readonly lines?: string;
}

export interface Lacks {
  readonly commands?: readonly string[];
  readonly events?: readonly string[];
  readonly settings?: readonly string[];
}

export interface Message {
  readonly content: string;
  readonly item_id: string;
  readonly role: "user" | "assistant";
  readonly status: "pending" | "streaming" | "complete" | "error";
  readonly reasoning?: string;
  readonly tool_calls?: readonly ToolCall[];
}

export interface MessagePage {
  readonly first_message: number;
  readonly message_count: number;
  readonly messages: readonly Message[];
  readonly seq: number;
  readonly session_id: string;
  readonly next_cursor?: string;
}

export interface Part {
  readonly type: string;
  readonly media_type?: string;
  readonly path?: string;
  readonly text?: string;
  readonly url?: string;
}

export interface Participant {
  readonly id: string;
  readonly kind: "runtime" | "agent" | "operator" | "tool" | "subagent";
  readonly name: string;
}

export interface Problem {
  readonly code: string;
  readonly status: number;
  readonly title: string;
  readonly type: string;
  readonly detail?: string;
  readonly field?: string;
  readonly instance?: string;
}

export interface QueuedPrompt {
  readonly item_id: string;
  readonly parts: readonly Part[];
}

export interface ResumePoint {
  readonly created_at: string;
  readonly cursor: string;
  readonly event_id: string;
  readonly kind: string;
  readonly label: string;
  readonly resumable: boolean;
  readonly seq: number;
  readonly request_id?: string;
  readonly turn_id?: string;
}

export interface Session {
  readonly created_at: string;
  readonly kind: string;
  readonly message_count: number;
  readonly pending_approvals: number;
  readonly seq: number;
  readonly session_id: string;
  readonly status: "idle" | "queued" | "running" | "awaiting_approval" | "paused" | "recovering" | "completed" | "failed" | "cancelled";
  readonly title: string;
  readonly updated_at: string;
  readonly attempt_count?: number;
  readonly branch_resume_cursor?: string;
  readonly branch_source_event_id?: string;
  readonly changes?: Changes;
  readonly directory?: string;
  readonly ended_at?: string;
  readonly engine?: string;
  readonly expires_at?: string;
  readonly health?: Vitals;
  readonly max_retries?: number;
  readonly parent_session_id?: string;
  readonly queue_position?: number;
  readonly queued_at?: string;
  readonly reason?: string;
  readonly retry_at?: string;
  readonly spawned_by?: string;
  readonly started_at?: string;
  readonly user_id?: string;
}

export interface SessionDetail {
  readonly agent_profile: string;
  readonly approval_mode: "on_request" | "never";
  readonly approvals: readonly Approval[];
  readonly artifacts: readonly Artifact[];
  readonly background_artifacts: readonly Artifact[];
  readonly channel: Channel;
  readonly checkpoints: readonly Checkpoint[];
  readonly config: Config;
  readonly created_at: string;
  readonly kind: string;
  readonly message_count: number;
  readonly model: string;
  readonly pending_approvals: number;
  readonly permission_mode: "normal" | "accept_edits" | "full_auto";
  readonly policy_path: string;
  readonly provider: string;
  readonly queued_prompts: number;
  readonly resume_points: readonly ResumePoint[];
  readonly sandbox_isolation: string;
  readonly sandbox_mode: string;
  readonly seq: number;
  readonly session_id: string;
  readonly status: "idle" | "queued" | "running" | "awaiting_approval" | "paused" | "recovering" | "completed" | "failed" | "cancelled";
  readonly subagents: readonly Subagent[];
  readonly think_level: string;
  readonly title: string;
  readonly updated_at: string;
  readonly approval_request_id?: string;
  readonly attempt_count?: number;
  readonly branch_resume_cursor?: string;
  readonly branch_source_event_id?: string;
  readonly changes?: Changes;
  readonly directory?: string;
  readonly ended_at?: string;
  readonly engine?: string;
  readonly error?: string;
  readonly expires_at?: string;
  readonly health?: HealthSnapshot;
  readonly lacks?: Lacks;
  readonly last_error?: string;
  readonly last_heartbeat_at?: string;
  readonly max_retries?: number;
  readonly parent_session_id?: string;
  readonly process_id?: number;
  readonly queue_position?: number;
  readonly queued_at?: string;
  readonly reason?: string;
  readonly resume_context?: unknown;
  readonly retry_at?: string;
  readonly runner_kind?: string;
  readonly spawned_by?: string;
  readonly started_at?: string;
  readonly task_graph_id?: string;
  readonly turn?: Turn;
  readonly user_id?: string;
  readonly workspace_id?: string;
}

export interface SessionPage {
  readonly sessions: readonly Session[];
  readonly next_cursor?: string;
}

export interface Snapshot {
  readonly approvals: readonly Approval[];
  readonly config: Config;
  readonly created_at: string;
  readonly first_message: number;
  readonly kind: string;
  readonly message_count: number;
  readonly messages: readonly Message[];
  readonly pending_approvals: number;
  readonly queue: readonly QueuedPrompt[];
  readonly seq: number;
  readonly session_id: string;
  readonly status: "idle" | "queued" | "running" | "awaiting_approval" | "paused" | "recovering" | "completed" | "failed" | "cancelled";
  readonly title: string;
  readonly turns: number;
  readonly updated_at: string;
  readonly attempt_count?: number;
  readonly branch_resume_cursor?: string;
  readonly branch_source_event_id?: string;
  readonly changes?: Changes;
  readonly directory?: string;
  readonly ended_at?: string;
  readonly engine?: string;
  readonly error?: string;
  readonly expires_at?: string;
  readonly health?: HealthSnapshot;
  readonly lacks?: Lacks;
  readonly max_retries?: number;
  readonly parent_session_id?: string;
  readonly queue_position?: number;
  readonly queued_at?: string;
  readonly reason?: string;
  readonly retry_at?: string;
  readonly spawned_by?: string;
  readonly started_at?: string;
  readonly turn?: Turn;
  readonly user_id?: string;
}

export interface Stamped {
  readonly event_id: string;
  readonly event_type: string;
  readonly payload: unknown;
  readonly recipient_ids: readonly string[];
  readonly sender_id: string;
  readonly seq: number;
  readonly summary: string;
  readonly ts: string;
}

export interface StreamEvent {
  readonly persisted: boolean;
  readonly role: string;
  readonly source: string;
  readonly stream: "events" | "health";
  readonly tier: "default" | "debug";
  readonly type: string;
}

export interface StreamEvents {
  readonly events: readonly StreamEvent[];
}

export interface Subagent {
  readonly agent_id: string;
  readonly ended_at: string | null;
  readonly event_id: string;
  readonly parent_session_id: string;
  readonly seq: number;
  readonly started_at: string;
  readonly status: string;
  readonly updated_at: string;
  readonly summary?: string;
  readonly task?: string;
}

export interface ToolCall {
  readonly at: number;
  readonly name: string;
  readonly status: "running" | "awaiting_approval" | "complete" | "error" | "denied";
  readonly tool_call_id: string;
  readonly input?: unknown;
  readonly output?: string;
  readonly output_bytes?: number;
}

export interface Turn {
  readonly attempt: number;
  readonly started_at: string;
  readonly turn_id: string;
  readonly cancelling?: boolean;
}

export interface Vitals {
  readonly grade: "healthy" | "watch" | "degraded" | "critical";
  readonly score: number;
  readonly cost_usd?: number;
  readonly spent?: readonly Day[];
  readonly stuck?: boolean;
}
