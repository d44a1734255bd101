package rest

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"harness"
	"harness/health"
)

type (
	// newWork is a session that works by itself.
	newWork struct {
		Prompt     string      `json:"prompt" rule:"max=524288"`
		Parts      []inputPart `json:"parts"`
		Title      string      `json:"title" rule:"max=1024"`
		Workspace  string      `json:"workspace" rule:"max=4096"` // a directory
		Isolated   *bool       `json:"isolated"`                  // it works in a directory of its own, made of workspace; by default where that can be
		Engine     string      `json:"engine" rule:"max=128"`
		UserID     string      `json:"user_id" rule:"id"`
		MaxRetries *int64      `json:"max_retries" rule:"min=0 max=100"`
		ExpiresAt  string      `json:"expires_at" rule:"max=64"` // RFC 3339
		settings
	}
	// work is a session that works by itself, as it was started.
	work struct {
		session
		contract
		Health *health.Snapshot `json:"health,omitempty"`
	}
	resumeInput struct {
		branchInput
		Prompt string      `json:"prompt" rule:"max=524288"`
		Parts  []inputPart `json:"parts"`
	}
)

// contract is S3's session state contract, but for what a session's row has.
type contract struct {
	Provider         string         `json:"provider"`
	Model            string         `json:"model"`
	AgentProfile     string         `json:"agent_profile"`
	PermissionMode   harness.Mode   `json:"permission_mode" rule:"words=normal|accept_edits|full_auto"`
	ApprovalMode     string         `json:"approval_mode" rule:"words=on_request|never"`
	ThinkLevel       harness.Effort `json:"think_level"`
	PolicyPath       string         `json:"policy_path"`
	SandboxMode      string         `json:"sandbox_mode"`
	SandboxIsolation string         `json:"sandbox_isolation"`

	RunnerKind        string             `json:"runner_kind,omitempty"`
	ApprovalRequestID harness.ApprovalID `json:"approval_request_id,omitempty"`
	WorkspaceID       string             `json:"workspace_id,omitempty"`
	TaskGraphID       string             `json:"task_graph_id,omitempty"`
	ProcessID         int                `json:"process_id,omitempty"`
	LastHeartbeatAt   *time.Time         `json:"last_heartbeat_at,omitempty"`
	LastError         string             `json:"last_error,omitempty"`
	ResumeContext     json.RawMessage    `json:"resume_context,omitempty"`
}

// runnerKinds says what runs the turns of an engine: a loop of the server's own,
// an agent with one of its own, a runner in another process, or one elsewhere.
var runnerKinds = map[string]string{
	"native": "native", "script": "native", "claude": "bridge", "codex": "bridge", "acp": "bridge", "runner": "runner", "remote": "remote",
}

// contractOf is the contract of a session at st.
func (s *Server) contractOf(st *harness.State) contract {
	k, c := st.Course, asConfig(st.Config)
	v := contract{
		Provider: k.Provider, Model: c.Model, AgentProfile: c.AgentProfile, PermissionMode: c.PermissionMode, ApprovalMode: c.ApprovalMode, ThinkLevel: c.ThinkLevel,
		PolicyPath: cmp.Or(k.PolicyPath, "mode."+string(c.PermissionMode)), SandboxMode: k.SandboxMode, SandboxIsolation: k.SandboxIsolation,
		RunnerKind: cmp.Or(k.RunnerKind, runnerKinds[st.Engine]), WorkspaceID: k.WorkspaceID, TaskGraphID: k.TaskGraphID, ProcessID: k.ProcessID,
		LastError: k.LastError, ResumeContext: k.ResumeContext,
	}
	if len(st.Pending) > 0 {
		v.ApprovalRequestID = st.Pending[0].ID
	}
	if st.Turn != nil { // whatever it writes shows that it lives, too
		v.LastHeartbeatAt = new(st.Updated)
	} else if !k.Heartbeat.IsZero() {
		v.LastHeartbeatAt = new(k.Heartbeat)
	}
	for _, a := range st.Trail().Artifacts {
		switch a.Payload.ArtifactType {
		case "workspace":
			v.WorkspaceID = a.Payload.ArtifactID
		case "task_graph":
			v.TaskGraphID = a.Payload.ArtifactID
		}
	}
	if s.opts.Processes != nil && v.ProcessID == 0 {
		if list, err := s.opts.Processes(st.Session); err == nil && len(list) > 0 {
			v.ProcessID = list[0].PID
		}
	}
	return v
}

// startWork makes a session and queues what it is to do, in one.
func (s *Server) startWork(ctx context.Context, key string, _ *none, b *newWork) (work, error) {
	parts, err := input(b.Prompt, b.Parts)
	if err != nil {
		return work{}, err
	}
	c, _ := harness.CallerOf(ctx)
	user := cmp.Or(b.UserID, c.User)
	n := harness.NewSession{
		Kind: harness.Background, User: user, Title: b.Title, Engine: b.Engine, Directory: b.Workspace, Isolated: b.Isolated, Config: b.patch(), Prompt: parts, Actor: by(ctx),
	}
	if b.MaxRetries != nil {
		n.MaxRetries = new(int(*b.MaxRetries))
	}
	if n.Expires, err = expiry(b.ExpiresAt); err != nil {
		return work{}, err
	}
	row, err := s.create(ctx, key, "work of user "+user, n)
	if err != nil {
		return work{}, err
	}
	return s.workAt(ctx, row)
}

// expiry reads a time; zero if there is none.
func expiry(s string) (at time.Time, err error) {
	if s == "" {
		return at, nil
	}
	if at, err = time.Parse(time.RFC3339, s); err != nil || at.IsZero() {
		return at, badField("expires_at", "must be a time of RFC 3339, such as 2026-01-02T15:04:05Z")
	}
	return at, nil
}

// workAt is a session with all that is to be known about how it runs.
func (s *Server) workAt(ctx context.Context, row session) (work, error) {
	st, err := s.k.At(ctx, row.SessionID, 0)
	if err != nil {
		return work{}, err
	}
	return work{session: row, contract: s.contractOf(st), Health: healthOf(st)}, nil
}

// resume lets a session go on, or a branch of it.
func (s *Server) resume(ctx context.Context, key string, p *onSession, b *resumeInput) (int, any, error) {
	var parts []harness.Part
	if b.Prompt != "" || len(b.Parts) > 0 {
		var err error
		if parts, err = input(b.Prompt, b.Parts); err != nil {
			return 0, nil, err
		}
	}
	if b.FromEventID != "" || b.ResumeCursor != "" {
		made, err := s.resumeFrom(ctx, key, p.ID, b, parts)
		return http.StatusCreated, made, err
	}
	if parts != nil {
		got, err := s.say(ctx, p.ID, harness.Submit{Parts: parts, Source: harness.FromResume, ClientKey: key, Actor: by(ctx)}, key, harness.FromResume, parts)
		answer, err := s.withHealth(ctx, p.ID, got, err)
		return http.StatusOK, answer, err
	}
	got, err := s.do(ctx, p.ID, harness.Resume{ClientKey: key, Actor: by(ctx)}, key, func(e harness.Payload) bool {
		st, ok := e.(*harness.SessionState)
		return ok && st.ClientKey == key && st.Status != harness.Paused && (st.PauseRequested == nil || !*st.PauseRequested)
	})
	if err != nil && harness.AsError(err) == harness.ErrInvalid { // all that was said was checked: it is the session's state
		err = errNotPaused
	}
	answer, err := s.withHealth(ctx, p.ID, got, err)
	return http.StatusOK, answer, err
}

// resumeFrom branches. A branch of a session that works by itself goes to work
// at once: with the prompt, or with what was being done at that place.
func (s *Server) resumeFrom(ctx context.Context, key string, id harness.SessionID, b *resumeInput, parts []harness.Part) (work, error) {
	from, err := harness.BranchAt(id, b.FromEventID, b.ResumeCursor)
	if err != nil {
		return work{}, err
	}
	sum, err := s.row(ctx, id, "")
	if err != nil {
		return work{}, err
	}
	if parts == nil && sum.Kind == harness.Background {
		at := from.Seq
		if c, err := harness.ParseCursor(from.Cursor); err == nil {
			at = c.Seq
		}
		if at == 0 || at > sum.Seq {
			return work{}, badField("from_event_id", "the log ends before it")
		}
		st, err := s.k.At(ctx, id, at)
		if err != nil {
			return work{}, err
		}
		switch {
		case st.Turn != nil:
			parts = st.Turn.Prompt.Parts
		case len(st.Queue) > 0:
			parts = st.Queue[0].Parts
		}
	}
	row, err := s.create(ctx, key, "branch of "+string(id), harness.NewSession{User: sum.User, Title: b.Title, From: from, Prompt: parts, Actor: by(ctx)})
	if err != nil {
		return work{}, err
	}
	return s.workAt(ctx, row)
}
