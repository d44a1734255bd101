package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// workScript fails once for a while, asks, and has a call to be paused in.
const workScript = `say looking
call read a => one
checkpoint
retry the provider is away
ask bash b {"command":"make"} => two
tool bash c
wait 20ms
result three
outcome ok
checkpoint
say done`

// driven is what whoever drives a session looks at.
type driven struct {
	Status    string
	Seq       int
	Attempts  int    `json:"attempt_count"`
	Request   string `json:"approval_request_id"`
	Turn      *struct{}
	Approvals []struct{}
}

// drives does what people would until the session has ended, or its log has so
// many events: it answers, pauses once and resumes. After a crash it finds out
// what is left to do.
func (p *process) drives(t *testing.T, id string, stop int) (d driven) {
	t.Helper()
	ask := func(path, body, key string) {
		req, err := http.NewRequestWithContext(t.Context(), "POST", p.http+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = p.bearer(http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {key}})
		r, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != 200 && r.StatusCode != 409 { // it may have ended, or gone on, meanwhile
			t.Errorf("POST %s: %s", path, r.Status)
		}
	}
	for deadline := time.Now().Add(patience); ; {
		d = driven{}
		code, body := p.get("/sessions/"+id, http.Header{})
		if err := json.Unmarshal([]byte(body), &d); code != 200 || err != nil {
			t.Fatalf("%d %s", code, body)
		}
		switch {
		case stop > 0 && d.Seq >= stop, d.Status == "completed", d.Status == "failed", d.Status == "cancelled":
			return d
		case d.Request != "":
			ask("/approvals/"+d.Request, `{"decision":"allow"}`, d.Request)
		case d.Status == "paused":
			ask("/sessions/"+id+"/resume", "{}", fmt.Sprint("resume", d.Seq))
		case d.Seq > 20:
			ask("/sessions/"+id+"/pause", "", "pause")
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is %s at %d and comes to no end\n%s", id, d.Status, d.Seq, p.errors())
		}
		time.Sleep(time.Millisecond) // sleep: between two looks at a condition with a deadline
	}
}

// A real server, killed when the log of a background run with a retry, an
// approval, a pause and a branch has so many events: afterwards run and branch
// come to the same end as without a crash.
func TestKill9AtEventsOfABackgroundRun(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := played(t, data, workScript)
	stops := []int{13, 26}
	if os.Getenv("LONG") != "" {
		stops = nil
		for at := 1; at <= 42; at++ {
			stops = append(stops, at)
		}
	}
	for _, at := range stops {
		id := p.starts(t, `{"prompt":"go","max_retries":3}`)
		p.drives(t, id, at)
		p.kill()
		p = played(t, data, workScript)
		p.ends(t, id, at)
		var branch struct {
			ID string `json:"session_id"`
		}
		body := fmt.Sprintf(`{"from_event_id":"%s.7","prompt":"another way"}`, id)
		if err := json.Unmarshal(p.post(t, "/sessions/"+id+"/resume", []byte(body)), &branch); err != nil {
			t.Fatal(err)
		}
		if at%2 == 1 {
			p.drives(t, branch.ID, at)
			p.kill()
			p = played(t, data, workScript)
		}
		p.ends(t, branch.ID, at)
	}
}

// ends drives a session to its end and checks what it came to.
func (p *process) ends(t *testing.T, id string, at int) {
	t.Helper()
	d := p.drives(t, id, 0)
	code, body := p.get("/sessions/"+id+"/state?messages=1", http.Header{})
	var st struct{ Messages []struct{ Content string } }
	if err := json.Unmarshal([]byte(body), &st); code != 200 || err != nil || len(st.Messages) != 1 {
		t.Fatalf("%d %s", code, body)
	}
	if d.Status != "completed" || st.Messages[0].Content != "done" || d.Turn != nil || len(d.Approvals) > 0 || d.Attempts > 3 {
		t.Errorf("killed at %d: %+v, last words %q", at, d, st.Messages[0].Content)
	}
	asked, applied, calls, outcomes := p.told(t, id, "approval_required"), p.told(t, id, "approval_applied"), p.told(t, id, "tool_call"), p.told(t, id, "tool_outcome")
	if asked != applied || calls != outcomes {
		t.Errorf("killed at %d: %d of %d questions decided, %d of %d calls with an outcome", at, applied, asked, outcomes, calls)
	}
}
