package rest_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/health"
)

// beat is what a health stream sends.
type beat struct {
	ID, Event string
	Envelope  struct {
		Seq     uint64          `json:"seq"`
		Type    string          `json:"type"`
		Payload health.Snapshot `json:"payload"`
	}
}

// beats reads snapshots from an open stream until one is as wanted.
func beats(t *testing.T, r *http.Response, what string, ok func(health.Snapshot) bool) (seen []beat) {
	t.Helper()
	var b beat
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), ": ")
		switch key {
		case "id":
			b.ID = value
		case "event":
			b.Event = value
		case "data":
			if err := json.Unmarshal([]byte(value), &b.Envelope); err != nil {
				t.Fatal(err)
			}
			seen = append(seen, b)
			if ok(b.Envelope.Payload) {
				return seen
			}
			b = beat{}
		}
	}
	t.Fatalf("the stream ended before %s, after %+v", what, seen)
	return nil
}

func flagged(s health.Snapshot, code string) bool {
	return slices.ContainsFunc(s.Flags, func(f health.Flag) bool { return f.Code == code })
}

// A health stream begins with the snapshot as it is and tells of every change
// until the end, under the position of the event that made it.
func TestHealthStreamTellsOfEveryChange(t *testing.T) {
	t.Parallel()
	s := serve(t, "gate go\nrepeat 3\ncall bash {\"c\":\"ls\"} => x\nend\nask bash {} => done\n")
	id := s.chat()
	r := s.request("GET", "/sessions/"+id+"/health/stream", "")
	defer r.Body.Close()
	first := beats(t, r, "the first", func(health.Snapshot) bool { return true })[0]
	if first.Event != "health_snapshot" || first.Envelope.Type != "health_snapshot" || first.Envelope.Payload.Score != 100 || first.ID != fmt.Sprint(first.Envelope.Seq) {
		t.Errorf("the first is %+v", first)
	}
	s.say(id, "go")
	s.engine.Open("go")
	last := first.Envelope.Seq
	for _, b := range beats(t, r, "a question", func(s health.Snapshot) bool { return flagged(s, "waiting_approval") }) {
		if b.Envelope.Seq <= last {
			t.Errorf("%d came after %d", b.Envelope.Seq, last)
		}
		last = b.Envelope.Seq
		if b.Envelope.Payload.Liveness.Status == "awaiting_approval" && !flagged(b.Envelope.Payload, "looping") {
			t.Errorf("three times the same is no loop: %+v", b.Envelope.Payload.Flags)
		}
	}
	late := s.request("GET", "/sessions/"+id+"/health/stream", "")
	defer late.Body.Close()
	if now := beats(t, late, "the first", func(health.Snapshot) bool { return true })[0]; now.Envelope.Payload.Hint.Action != "approve" {
		t.Errorf("who comes late is told %+v", now)
	}
}

type healthy struct {
	SessionID string           `json:"session_id"`
	Health    *health.Snapshot `json:"health"`
}

// Start, resume, pause, cancel, list and detail answers include the health.
func TestAnswersIncludeTheHealth(t *testing.T) {
	t.Parallel()
	s := serve(t, "hang")
	id := s.chat()
	on := "/sessions/" + id
	check := func(what string, h *health.Snapshot, status string) {
		t.Helper()
		if h == nil || string(h.SessionID) != id || string(h.Liveness.Status) != status || h.Grade != health.Healthy {
			t.Errorf("%s: %+v", what, h)
		}
	}
	var got healthy
	s.must(202, &got, "POST", "/chat"+on+"/turns", `{"prompt":"go"}`, "Accept", "application/json")
	check("start", got.Health, "running")
	got = healthy{}
	s.must(200, &got, "POST", on+"/pause", "")
	check("pause", got.Health, "running") // at the end of the turn
	got = healthy{}
	s.must(200, &got, "POST", on+"/resume", "{}")
	check("resume", got.Health, "running")
	got = healthy{}
	s.must(200, &got, "POST", on+"/cancel", "{}")
	if got.Health == nil {
		t.Error("cancel has none")
	}
	s.idle(id)
	got = healthy{}
	s.must(200, &got, "GET", on, "")
	check("detail", got.Health, "idle")
	var list struct {
		Sessions []struct {
			Health *struct {
				Score int          `json:"score"`
				Grade health.Grade `json:"grade"`
			} `json:"health"`
		} `json:"sessions"`
	}
	s.must(200, &list, "GET", "/sessions", "")
	if len(list.Sessions) != 1 || list.Sessions[0].Health == nil || list.Sessions[0].Health.Grade != health.Healthy || list.Sessions[0].Health.Score != got.Health.Score {
		t.Errorf("list: %+v", list)
	}
}

// A policy arrives with the session or later; what it stops is asked about like
// anything else, and raising the limit lets it go on.
func TestAHealthPolicyIsSetAndRaised(t *testing.T) {
	t.Parallel()
	s := serve(t, "usage 600 0\nusage 900 0\nusage 1200 0\nsay done")
	var made healthy
	s.must(201, &made, "POST", "/chat/sessions", `{"policy":{"health":{"total_tokens":1000,"action":"require_approval"}}}`)
	id := made.SessionID
	on := "/sessions/" + id
	s.say(id, "go")
	s.asks(id)
	var asked struct {
		Approvals []struct {
			RequestID  string `json:"request_id"`
			ToolName   string `json:"tool_name"`
			ToolCallID string `json:"tool_call_id"`
		} `json:"approvals"`
	}
	s.must(200, &asked, "GET", "/approvals", "")
	if len(asked.Approvals) != 1 || asked.Approvals[0].ToolName != "health_policy" || asked.Approvals[0].ToolCallID != "policy:"+asked.Approvals[0].RequestID {
		t.Errorf("approvals %+v", asked)
	}
	var now healthy
	s.must(200, &now, "GET", on, "")
	if e := now.Health.Policy.Enforcement; e.State != health.Awaiting || e.Budget != "total_tokens" || *e.Threshold != 1000 || *e.Observed != 1200 || now.Health.Hint.Action != "raise_budget" {
		t.Errorf("health %s", now.Health.JSON())
	}
	s.must(200, &now, "PATCH", on, `{"policy":{"health":{"total_tokens":5000,"cost_usd":2.5}}}`)
	if p := now.Health.Policy.Health; *p.TotalTokens != 5000 || *p.CostUSD != 2.5 {
		t.Errorf("policy %+v", p)
	}
	s.idle(id)
	s.refused(400, "invalid", "policy.health.total_tokens", "PATCH", on, `{"policy":{"health":{"total_tokens":0}}}`)
	s.refused(400, "invalid", "policy.health.cost_usd", "PATCH", on, `{"policy":{"health":{"cost_usd":"much"}}}`)
	s.refused(400, "invalid", "policy.health.action", "PATCH", on, `{"policy":{"health":{"action":"explode"}}}`)
}

// A stream stays open while its session sleeps, says nothing then, and goes on
// when it wakes; with until=terminal it ends behind the end of a session's work.
func TestHealthStreamOutlivesASleepAndEndsWithTheWork(t *testing.T) {
	t.Parallel()
	s := serve(t, "usage 100 0 0.01\nsay hi")
	id := s.chat()
	r := s.request("GET", "/sessions/"+id+"/health/stream", "")
	defer r.Body.Close()
	used := func(n float64) func(health.Snapshot) bool {
		return func(s health.Snapshot) bool { return s.Budget.TotalTokens.Used == n && s.Liveness.Status == "idle" }
	}
	s.say(id, "one")
	beats(t, r, "the first turn", used(100))
	late, tick := time.After(patience), time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for s.k.Awake() > 0 {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("the session does not sleep")
		}
	}
	s.say(id, "two")
	seen := beats(t, r, "the second turn", used(200))
	if first := seen[0].Envelope.Payload; first.Counters.Turns != 2 { // the latest wins, so it may be the last, too
		t.Errorf("the first word after the sleep is %s", first.JSON())
	}

	work := s.background()
	ends := s.request("GET", "/sessions/"+work+"/health/stream?until=terminal", "")
	defer ends.Body.Close()
	if _, err := s.k.Do(t.Context(), harness.SessionID(work), harness.Submit{Parts: harness.TextPart("go")}); err != nil {
		t.Fatal(err)
	}
	beats(t, ends, "the end", func(s health.Snapshot) bool { return s.Liveness.Status == harness.StatusCompleted })
	if rest, err := io.ReadAll(ends.Body); err != nil || len(rest) > 1 {
		t.Errorf("behind the end: %q, %v", rest, err)
	}
}

// A loop costs 42 points of 100: the grade alone does not tell that somebody is
// needed, so the row says it.
func TestARowSaysThatItsSessionIsStuck(t *testing.T) {
	t.Parallel()
	s := serve(t, `when loop
repeat 6
call look {"path":"a"} => "the same"
end
hang
end
say done`)
	var list struct {
		Sessions []struct {
			Health struct {
				Grade health.Grade `json:"grade"`
				Stuck bool         `json:"stuck"`
			} `json:"health"`
		} `json:"sessions"`
	}
	id := s.chat()
	s.say(id, "well")
	s.idle(id)
	if s.must(200, &list, "GET", "/sessions", ""); list.Sessions[0].Health.Stuck {
		t.Errorf("stuck before anything went wrong: %+v", list)
	}
	s.say(id, "loop")
	s.until(id, "six calls", func(st *harness.State) bool {
		calls := st.Messages[len(st.Messages)-1].Calls
		return len(calls) == 6 && calls[5].Status == harness.CallComplete
	})
	if s.must(200, &list, "GET", "/sessions", ""); !list.Sessions[0].Health.Stuck || list.Sessions[0].Health.Grade == health.Failing {
		t.Errorf("in a loop: %+v", list)
	}
}

// A row says what its session cost and how much it changed; where nobody knows,
// it says nothing.
func TestARowSaysWhatItsSessionCostAndChanged(t *testing.T) {
	t.Parallel()
	s := serve(t, `when work
call write {"path":"a.md","content":"one\ntwo\n"} => "written"
call edit {"path":"a.md","old":"two","new":"2"} => "changed"
tool edit {"path":"b.md","old":"x","new":"y"}
outcome error "no such file"
usage 10 20 0.5
end
say done`)
	type row struct {
		Health  struct{ Spent []harness.Day }
		Changes *harness.Changes
	}
	var list struct{ Sessions []row }
	id := s.chat()
	s.say(id, "rest")
	s.idle(id)
	if s.must(200, &list, "GET", "/sessions", ""); list.Sessions[0].Changes != nil || list.Sessions[0].Health.Spent != nil {
		t.Errorf("before anything was done: %+v", list)
	}
	s.say(id, "work")
	s.idle(id)
	var one row
	s.must(200, &one, "GET", "/sessions/"+string(id), "")
	s.must(200, &list, "GET", "/sessions", "")
	for _, c := range []*harness.Changes{list.Sessions[0].Changes, one.Changes} {
		if c == nil || *c != (harness.Changes{Files: 1, Insertions: 3, Deletions: 1}) {
			t.Errorf("changes: %+v", c)
		}
	}
	if spent := list.Sessions[0].Health.Spent; len(spent) != 1 || spent[0].CostUSD != 0.5 {
		t.Errorf("spent: %v", spent)
	}
}
