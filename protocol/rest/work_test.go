package rest_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/protocol/rest"
	"harness/store/memory"
)

// worker is as much of a background session as these tests look at.
type worker struct {
	row
	Engine, Reason    string
	Model             string
	LastError         string    `json:"last_error"`
	ApprovalRequestID string    `json:"approval_request_id"`
	AttemptCount      int       `json:"attempt_count"`
	MaxRetries        int       `json:"max_retries"`
	QueuePosition     int       `json:"queue_position"`
	ExpiresAt         time.Time `json:"expires_at"`
	EndedAt           time.Time `json:"ended_at"`
	ResumeContext     struct {
		Summary string `json:"summary_text"`
	} `json:"resume_context"`
	Checkpoints []struct {
		CheckpointType string `json:"checkpoint_type"`
	}
	Artifacts []struct {
		ArtifactID string `json:"artifact_id"`
	}
	Health struct {
		Score int
		Flags []struct{ Code string }
	}
}

// starts starts a background session.
func (s *server) starts(body string) worker {
	s.t.Helper()
	var w worker
	s.must(201, &w, "POST", "/sessions", body)
	return w
}

// becomes waits for a status and returns the detail.
func (s *server) becomes(id string, status harness.Status) (w worker) {
	s.t.Helper()
	s.until(id, string(status), func(st *harness.State) bool { return st.Status == status })
	s.must(200, &w, "GET", "/sessions/"+id, "")
	return w
}

// statuses are those that session_state events tell.
func (s *server) statuses(id string) (told []string) {
	s.t.Helper()
	var page struct {
		Events []struct{ Payload struct{ Status string } }
	}
	s.must(200, &page, "GET", "/sessions/"+id+"/events?types=session_state", "")
	for _, e := range page.Events {
		if e.Payload.Status != "" {
			told = append(told, e.Payload.Status)
		}
	}
	return told
}

func (w worker) checkpointed(kind string) bool {
	for _, c := range w.Checkpoints {
		if c.CheckpointType == kind {
			return true
		}
	}
	return false
}

func TestPOSTSessionsQueuesWorkAndTheSameKeyFindsIt(t *testing.T) {
	t.Parallel()
	s := serve(t, "say done")
	body := `{"prompt":"go","engine":"script","model":"m","permission_mode":"normal","max_retries":2,"expires_at":"2099-01-02T03:04:05Z","title":"a title"}`
	var first, second worker
	a := s.must(201, &first, "POST", "/sessions", body, "Idempotency-Key", "k")
	if first.Kind != "background" || first.MaxRetries != 2 || first.Engine != "script" || first.Model != "m" || first.ExpiresAt.Year() != 2099 || first.Health.Score == 0 {
		t.Errorf("started %+v", first)
	}
	if !strings.HasSuffix(a.Header.Get("Location"), "/sessions/"+first.SessionID) {
		t.Errorf("Location %q", a.Header.Get("Location"))
	}
	if s.must(201, &second, "POST", "/sessions", body, "Idempotency-Key", "k"); second.SessionID != first.SessionID {
		t.Error("the same request made another session")
	}
	for _, other := range []string{
		strings.Replace(body, "go", "stay", 1), strings.Replace(body, ":2,", ":3,", 1), strings.Replace(body, "2099", "2098", 1),
	} {
		s.refused(422, "key_reused", "", "POST", "/sessions", other, "Idempotency-Key", "k")
	}
	if w := s.becomes(first.SessionID, harness.StatusCompleted); w.AttemptCount != 1 || w.EndedAt.IsZero() {
		t.Errorf("ended as %+v", w)
	}
	s.refused(400, "invalid", "prompt", "POST", "/sessions", `{}`)
	s.refused(400, "invalid", "max_retries", "POST", "/sessions", `{"prompt":"x","max_retries":-1}`)
	s.refused(400, "invalid", "expires_at", "POST", "/sessions", `{"prompt":"x","expires_at":"tomorrow"}`)
}

// Every field of S3's session state contract is answered where one session is
// looked at: the common ones always.
func TestEveryFieldOfTheSessionStateContractIsAnswered(t *testing.T) {
	t.Parallel()
	processes := func(harness.SessionID) ([]rest.Process, error) {
		return []rest.Process{{Role: "agent", PID: 4711}}, nil
	}
	s := serveOn(t, memory.New(), `emit sandbox_notice {"requested_backend":"auto","resolved_backend":"local","isolation":"workspace"}
emit transport_diagnostic {"status":"ok","kind":"provider","provider_actual":"openai"}
emit artifact {"artifact_id":"art_w","artifact_type":"workspace"}
emit artifact {"artifact_id":"art_g","artifact_type":"task_graph"}
ask bash c1 => ok
fail it broke`, &rest.Options{Processes: processes})
	w := s.starts(`{"prompt":"go","max_retries":1,"expires_at":"2099-01-02T03:04:05Z","think_level":"low","agent_profile":"a","model":"m"}`)
	s.asks(w.SessionID)
	fields := func() map[string]any {
		var m map[string]any
		s.must(200, &m, "GET", "/sessions/"+w.SessionID, "")
		return m
	}
	m := fields()
	for name, want := range map[string]any{
		"session_id": w.SessionID, "status": "awaiting_approval", "provider": "openai", "model": "m", "agent_profile": "a", "permission_mode": "normal",
		"approval_mode": "on_request", "think_level": "low", "policy_path": "mode.normal", "sandbox_mode": "local", "sandbox_isolation": "workspace",
		"engine": "script", "runner_kind": "native", "workspace_id": "art_w", "task_graph_id": "art_g", "attempt_count": 1.0, "max_retries": 1.0,
		"expires_at": "2099-01-02T03:04:05Z", "process_id": 4711.0,
	} {
		if m[name] != want {
			t.Errorf("%s is %v, want %v", name, m[name], want)
		}
	}
	for _, name := range []string{"approval_request_id", "last_heartbeat_at", "updated_at"} {
		if m[name] == nil {
			t.Errorf("there is no %s", name)
		}
	}
	s.answer(m["approval_request_id"].(string), "allow")
	s.becomes(w.SessionID, harness.StatusFailed)
	if m = fields(); m["last_error"] != "it broke" || m["ended_at"] == nil || m["approval_request_id"] != nil {
		t.Errorf("failed as %v, ended %v", m["last_error"], m["ended_at"])
	}
	// A branch has the rest of the contract.
	var b map[string]any
	s.must(201, &b, "POST", "/sessions/"+w.SessionID+"/resume", fmt.Sprintf(`{"from_event_id":"%s.2"}`, w.SessionID))
	for _, name := range []string{"parent_session_id", "branch_source_event_id", "branch_resume_cursor", "resume_context"} {
		if b[name] == nil || b[name] == "" {
			t.Errorf("the branch has no %s", name)
		}
	}
	// And so it is told: each status that the session had, in a session_state.
	told := s.statuses(w.SessionID)
	if want := []string{"idle", "queued", "running", "awaiting_approval", "failed"}; !slices.Equal(told, want) {
		t.Errorf("the statuses told are %v", told)
	}
}

func TestTransientFailuresMoveToRecoveringWhileAttemptCountIsAtMostMaxRetries(t *testing.T) {
	t.Parallel()
	s := serve(t, "retry one\nretry two\nsay done")
	for retries, want := range []harness.Status{harness.StatusFailed, harness.StatusFailed, harness.StatusCompleted} {
		w := s.becomes(s.starts(fmt.Sprintf(`{"prompt":"go","max_retries":%d}`, retries)).SessionID, want)
		if w.AttemptCount != retries+1 {
			t.Errorf("%d retries: %s after %d attempts", retries, w.Status, w.AttemptCount)
		}
		told := s.statuses(w.SessionID)
		recovering := len(told) - len(slices.DeleteFunc(slices.Clone(told), func(s string) bool { return s == "recovering" }))
		if recovering != retries {
			t.Errorf("%d retries: recovering %d times", retries, recovering)
		}
	}
}

func TestSessionsWithAPastExpiresAtFailWithAnExpiredCheckpoint(t *testing.T) {
	t.Parallel()
	s := serve(t, "say never")
	w := s.becomes(s.starts(`{"prompt":"go","expires_at":"2001-02-03T04:05:06Z"}`).SessionID, harness.StatusFailed)
	if w.Reason != "expired" || !w.checkpointed("expired") || w.AttemptCount != 0 || !strings.Contains(w.LastError, "expired") {
		t.Errorf("%+v", w)
	}
}

func TestPausedSessionsKeepTheirRowCheckpointsAndArtifactsAndResumeRequeuesTheSame(t *testing.T) {
	t.Parallel()
	s := serve(t, `emit artifact {"artifact_id":"art_1","artifact_type":"final_output"}
emit session_checkpoint {"session_id":"x","sequence":1,"checkpoint_type":"step","status":"completed","summary_text":"looked","resume_cursor":null}
checkpoint
gate go
say done`)
	id := s.starts(`{"prompt":"go"}`).SessionID
	s.until(id, "its checkpoint", func(st *harness.State) bool { return len(st.Trail().Checkpoints) > 0 && st.EngineRef != "" })
	var answer struct{ Health *struct{ Score int } }
	if s.must(200, &answer, "POST", "/sessions/"+id+"/pause", ""); answer.Health == nil {
		t.Error("a pause is answered without health")
	}
	w := s.becomes(id, harness.Paused)
	if w.SessionID != id || !w.checkpointed("step") || len(w.Artifacts) != 1 || !w.EndedAt.IsZero() {
		t.Errorf("paused as %+v", w)
	}
	answer.Health = nil
	if s.must(200, &answer, "POST", "/sessions/"+id+"/resume", "{}"); answer.Health == nil {
		t.Error("a resume is answered without health")
	}
	s.engine.Open("go")
	if w := s.becomes(id, harness.StatusCompleted); w.AttemptCount != 1 || len(w.Artifacts) != 1 {
		t.Errorf("completed as %+v", w)
	}
	s.refused(409, "not_running", "", "POST", "/sessions/"+id+"/pause", "")
	s.refused(409, "not_paused", "", "POST", "/sessions/"+id+"/resume", "{}")
	s.must(200, nil, "POST", "/sessions/"+id+"/resume", `{"prompt":"and more"}`)
	s.until(id, "another end", func(st *harness.State) bool { return st.Turns == 2 && st.Status == harness.StatusCompleted })
}

func TestBranchedBackgroundSessionsCarryTheirLineageAndGoToWork(t *testing.T) {
	t.Parallel()
	s := serve(t, "say looked\ncheckpoint\ngate go\nsay done")
	id := s.starts(`{"prompt":"the task"}`).SessionID
	st := s.until(id, "its checkpoint", func(st *harness.State) bool { return st.EngineRef != "" })
	event := harness.EventID(harness.SessionID(id), st.Seq)
	var b worker
	s.must(201, &b, "POST", "/sessions/"+id+"/resume", fmt.Sprintf(`{"from_event_id":%q}`, event), "Idempotency-Key", "k")
	var again worker
	if s.must(201, &again, "POST", "/sessions/"+id+"/resume", fmt.Sprintf(`{"from_event_id":%q}`, event), "Idempotency-Key", "k"); again.SessionID != b.SessionID {
		t.Error("the same request made another branch")
	}
	if b.Kind != "background" || b.Parent != id || b.Source != event || b.Cursor == "" || !strings.Contains(b.ResumeContext.Summary, "the task") {
		t.Errorf("the branch is %+v", b)
	}
	s.engine.Open("go")
	w := s.becomes(b.SessionID, harness.StatusCompleted)
	if !w.checkpointed("resume_seed") || w.Parent != id || w.AttemptCount != 1 {
		t.Errorf("the branch ended as %+v", w)
	}
	s.becomes(id, harness.StatusCompleted)
	branch, err := s.k.At(t.Context(), harness.SessionID(b.SessionID), 0)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for raw, err := range s.k.Messages(t.Context(), branch.Session, 0, branch.Sealed) {
		if err != nil {
			t.Fatal(err)
		}
		var m harness.Message
		if json.Unmarshal(raw, &m) == nil && m.Role == harness.User {
			asked++
		}
	}
	for _, m := range branch.Messages {
		if m.Role == harness.User {
			asked++
		}
	}
	if asked != 2 { // by its parent, and again
		t.Errorf("the branch was asked %d times", asked)
	}
}

func TestApprovalWaitsRemainAwaitingApprovalWithADurableApprovalRequestID(t *testing.T) {
	t.Parallel()
	s := serve(t, "ask bash c1 => ok\nsay done")
	id := s.starts(`{"prompt":"go"}`).SessionID
	request := s.asks(id)
	if w := s.becomes(id, harness.AwaitingApproval); w.ApprovalRequestID != request {
		t.Errorf("it waits for %s, its row says %s", request, w.ApprovalRequestID)
	}
	s.answer(request, "allow")
	s.becomes(id, harness.StatusCompleted)
}

func TestCancelEndsWorkInEveryStatus(t *testing.T) {
	t.Parallel()
	s := serve(t, "when ask\nask bash c1 => ok\nelse\nhang\nend")
	var answer struct{ Health *struct{ Score int } }
	for prompt, status := range map[string]harness.Status{"ask": harness.AwaitingApproval, "hang": harness.Running, "hang ": harness.Paused} {
		id := s.starts(fmt.Sprintf(`{"prompt":%q,"max_retries":9}`, prompt)).SessionID
		if status == harness.Paused {
			s.becomes(id, harness.Running)
			s.must(200, nil, "POST", "/sessions/"+id+"/pause", "")
		}
		s.becomes(id, status)
		answer.Health = nil
		if s.must(200, &answer, "POST", "/sessions/"+id+"/cancel", ""); answer.Health == nil {
			t.Error("a cancel is answered without health")
		}
		s.becomes(id, harness.StatusCancelled)
		s.refused(409, "not_running", "", "POST", "/sessions/"+id+"/cancel", "")
	}
}

// Those who wait are told where; a key makes the cancel of one that waits
// repeatable, too.
func TestThePlaceInTheQueueIsShown(t *testing.T) {
	t.Parallel()
	s := serve(t, "hang")
	var ids []string
	for range 11 { // eight run at a time
		ids = append(ids, s.starts(`{"prompt":"go"}`).SessionID)
	}
	for _, id := range ids[:8] {
		s.becomes(id, harness.Running)
	}
	at := map[int]string{}
	for _, id := range ids[8:] { // of one millisecond, by their ids
		at[s.becomes(id, harness.Queued).QueuePosition] = id
	}
	if len(at) != 3 || at[1] == "" || at[2] == "" || at[3] == "" {
		t.Fatalf("the places are %v", at)
	}
	var list struct{ Sessions []worker }
	s.must(200, &list, "GET", "/sessions?status=queued&kind=background", "")
	for _, w := range list.Sessions {
		if at[w.QueuePosition] != w.SessionID {
			t.Errorf("in the list %s is number %d", w.SessionID, w.QueuePosition)
		}
	}
	for range 2 {
		s.must(200, nil, "POST", "/sessions/"+at[1]+"/cancel", "{}", "Idempotency-Key", "k")
	}
	if w := s.becomes(at[2], harness.Queued); w.QueuePosition != 1 {
		t.Errorf("number 2 is number %d now", w.QueuePosition)
	}
	for _, id := range ids {
		s.do("POST", "/sessions/"+id+"/cancel", "")
	}
}
