package harness

import (
	"encoding/json"
	"time"
)

// Session assigns a session id to a client that asked for none. It is the one
// event that is never stored.
type Session struct {
	SessionID SessionID `json:"session_id"`
}

// SessionState carries the fields of S3's session state contract that changed;
// absent fields keep their value. The first event of every log is one.
type SessionState struct {
	SessionID        SessionID `json:"session_id,omitempty"`
	Status           Status    `json:"status,omitempty"`
	Reason           string    `json:"reason,omitempty"`
	Kind             Kind      `json:"kind,omitempty"`
	UserID           string    `json:"user_id,omitempty"`
	Title            *string   `json:"title,omitempty"`
	Directory        string    `json:"directory,omitempty"`
	Engine           string    `json:"engine,omitempty"`
	Lacks            *Lacks    `json:"lacks,omitempty"` // what that engine does not do; whoever names one says it
	Provider         string    `json:"provider,omitempty"`
	Model            *string   `json:"model,omitempty"`
	AgentProfile     *string   `json:"agent_profile,omitempty"`
	PermissionMode   *Mode     `json:"permission_mode,omitempty"`
	ApprovalMode     string    `json:"approval_mode,omitempty"`
	ThinkLevel       *Effort   `json:"think_level,omitempty"`
	MaxTurns         *int      `json:"max_turns,omitempty"`
	SystemPrompt     *string   `json:"system_prompt,omitempty"`
	PolicyPath       string    `json:"policy_path,omitempty"`
	SandboxMode      string    `json:"sandbox_mode,omitempty"`
	SandboxIsolation string    `json:"sandbox_isolation,omitempty"`
	PauseRequested   *bool     `json:"pause_requested,omitempty"`
	ClientKey        string    `json:"client_key,omitempty"` // of the command that said so

	RunnerKind          string          `json:"runner_kind,omitempty"`
	ApprovalRequestID   ApprovalID      `json:"approval_request_id,omitempty"`
	WorkspaceID         string          `json:"workspace_id,omitempty"`
	TaskGraphID         string          `json:"task_graph_id,omitempty"`
	ProcessID           int             `json:"process_id,omitempty"`
	AttemptCount        int             `json:"attempt_count,omitempty"`
	MaxRetries          *int            `json:"max_retries,omitempty"`
	ExpiresAt           *time.Time      `json:"expires_at,omitempty"`
	QueuedAt            *time.Time      `json:"queued_at,omitempty"`  // its place in the queue, with a status that waits there
	RetryAt             *time.Time      `json:"retry_at,omitempty"`   // not before, with status recovering
	SpawnedBy           SessionID       `json:"spawned_by,omitempty"` // whose task it does
	Depth               int             `json:"depth,omitempty"`      // how many sessions that task was handed down
	ParentSessionID     SessionID       `json:"parent_session_id,omitempty"`
	BranchSourceEventID string          `json:"branch_source_event_id,omitempty"`
	BranchResumeCursor  string          `json:"branch_resume_cursor,omitempty"`
	LastHeartbeatAt     *time.Time      `json:"last_heartbeat_at,omitempty"`
	LastError           string          `json:"last_error,omitempty"`
	UpdatedAt           *time.Time      `json:"updated_at,omitempty"`
	EndedAt             *time.Time      `json:"ended_at,omitempty"`
	ResumeContext       json.RawMessage `json:"resume_context,omitempty"`
	Policy              *SessionPolicy  `json:"policy,omitempty"`
}

// SessionCheckpoint is a place to come back to. EngineRef is the engine's own
// opaque word for it.
type SessionCheckpoint struct {
	SessionID      SessionID `json:"session_id"`
	Sequence       int       `json:"sequence"`
	CheckpointType string    `json:"checkpoint_type"`
	Status         string    `json:"status"`
	SummaryText    string    `json:"summary_text"`
	ResumeCursor   *string   `json:"resume_cursor"`
	EngineRef      string    `json:"engine_ref,omitempty"`
	Phase          MarkPhase `json:"phase,omitempty"` // of a WorkspaceCheckpoint, as Mark
	Mark           string    `json:"mark,omitempty"`  // the snapshot, unless that failed
}

// StepProgress is a step of a plan on its way.
type StepProgress struct {
	StepID string `json:"step_id"`
	Index  int    `json:"index"`
	Total  int    `json:"total"`
	Title  string `json:"title"`
	Status string `json:"status"`
}

// PolicyDecision records which rule allowed, asked or refused.
type PolicyDecision struct {
	Subject        string `json:"subject"`
	Outcome        string `json:"outcome"`
	Reason         string `json:"reason,omitempty"`
	Source         string `json:"source,omitempty"`
	PolicyPath     string `json:"policy_path,omitempty"`
	PermissionMode Mode   `json:"permission_mode,omitempty"`
	ApprovalMode   string `json:"approval_mode,omitempty"`
	ToolCallID     CallID `json:"tool_call_id,omitempty"`
}

// HookEvent traces the lifecycle of hooks and of requests to a running turn.
type HookEvent struct {
	Kind      string `json:"kind"`
	Status    string `json:"status,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Actor     string `json:"actor,omitempty"`
	ClientKey string `json:"client_key,omitempty"` // of the command that it records
}

// SandboxNotice says which isolation was asked for and which was got.
type SandboxNotice struct {
	RequestedBackend string   `json:"requested_backend"`
	ResolvedBackend  string   `json:"resolved_backend"`
	Isolation        string   `json:"isolation"`
	Reason           string   `json:"reason,omitempty"`
	Enforces         []string `json:"enforces,omitempty"`
	Lacks            []string `json:"lacks,omitempty"`
}

// TransportDiagnostic says that a provider or an engine's session degraded.
type TransportDiagnostic struct {
	Status            string `json:"status"`
	Kind              string `json:"kind"`
	ProviderRequested string `json:"provider_requested,omitempty"`
	ProviderActual    string `json:"provider_actual,omitempty"`
	Reason            string `json:"reason,omitempty"`
	FailureCount      int    `json:"failure_count,omitempty"`
}

// Statuses of delegated work. An engine may have others.
const (
	SubagentRunning   = "running"
	SubagentCompleted = "completed"
	SubagentFailed    = "failed"
	SubagentCancelled = "cancelled"
)

// SubagentEvent is delegated work on its way.
type SubagentEvent struct {
	AgentID         string    `json:"agent_id"`
	Status          string    `json:"status"`
	ParentSessionID SessionID `json:"parent_session_id,omitempty"`
	Task            string    `json:"task,omitempty"`
	Summary         string    `json:"summary,omitempty"`
	Tally           *Tally    `json:"tally,omitempty"` // of a session's work so far, with what it handed on
}

// Tally is what delegated work came to so far, for the budgets of whoever handed
// it on. Only the kernel writes one.
type Tally struct {
	TotalTokens           int64   `json:"total_tokens,omitempty"`
	CostUSD               float64 `json:"cost_usd,omitempty"`
	Unpriced              bool    `json:"unpriced,omitempty"` // it cost more, nobody knows how much
	FailedToolCalls       int64   `json:"failed_tool_calls,omitempty"`
	LoopWarnings          int64   `json:"loop_warnings,omitempty"`
	RepeatedPlanEvents    int64   `json:"repeated_plan_events,omitempty"`
	ToolLatencyMS         int64   `json:"tool_latency_ms,omitempty"`
	EventsWithoutEvidence int64   `json:"events_without_evidence,omitempty"`

	// Of the moment, while it runs: how full the fullest window is, and what the
	// worst score is short of 100.
	ContextUsagePct float64 `json:"context_usage_pct,omitempty"`
	ScoreLost       int64   `json:"score_lost,omitempty"`
}

// Artifact is something a turn made and the store keeps out of line.
type Artifact struct {
	ArtifactID   string          `json:"artifact_id"`
	ArtifactType string          `json:"artifact_type"`
	Title        string          `json:"title,omitempty"`
	URI          string          `json:"uri,omitempty"`
	Size         int64           `json:"size,omitempty"`
	SHA256       string          `json:"sha256,omitempty"`
	Metadata     json.RawMessage `json:"metadata,omitempty"`

	Content []byte `json:"-"` // to be kept; see [NewArtifact]
}

// HealthSnapshot travels on the health stream only.
type HealthSnapshot struct {
	json.RawMessage
}

// Unknown is a payload this build has no struct for, or could not read as the
// struct it has. It survives a round trip byte for byte.
type Unknown struct {
	Name Type
	Raw  json.RawMessage
}

func (*Session) Type() Type             { return "session" }
func (*SessionState) Type() Type        { return "session_state" }
func (*SessionCheckpoint) Type() Type   { return "session_checkpoint" }
func (*StepProgress) Type() Type        { return "step_progress" }
func (*PolicyDecision) Type() Type      { return "policy_decision" }
func (*HookEvent) Type() Type           { return "hook_event" }
func (*SandboxNotice) Type() Type       { return "sandbox_notice" }
func (*TransportDiagnostic) Type() Type { return "transport_diagnostic" }
func (*SubagentEvent) Type() Type       { return "subagent_event" }
func (*Artifact) Type() Type            { return "artifact" }
func (*HealthSnapshot) Type() Type      { return "health_snapshot" }
func (u *Unknown) Type() Type           { return u.Name }

func (*Session) payload()             {}
func (*SessionState) payload()        {}
func (*SessionCheckpoint) payload()   {}
func (*StepProgress) payload()        {}
func (*PolicyDecision) payload()      {}
func (*HookEvent) payload()           {}
func (*SandboxNotice) payload()       {}
func (*TransportDiagnostic) payload() {}
func (*SubagentEvent) payload()       {}
func (*Artifact) payload()            {}
func (*HealthSnapshot) payload()      {}
func (*Unknown) payload()             {}

// MarshalJSON returns the payload as it came.
func (u *Unknown) MarshalJSON() ([]byte, error) { return u.Raw, nil }
