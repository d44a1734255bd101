package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
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

// moment is when a server is killed.
type moment struct {
	name string
	come func(driven) bool
}

// moments are one of each kind of wait that a run can be killed in, as seen in
// its status: of a retry, an approval and a pause.
var moments = []moment{
	{"waiting to try again", func(d driven) bool {
		return d.Status == "recovering" || d.Status == "queued" && d.Attempts == 1 && d.Seq > 5
	}},
	{"awaiting approval", func(d driven) bool { return d.Request != "" }},
	{"paused", func(d driven) bool { return d.Status == "paused" }},
}

// atEvent is the moment when a log has so many events.
func atEvent(n int) moment {
	return moment{fmt.Sprint("event ", n), func(d driven) bool { return d.Seq >= n }}
}

var never = moment{"never", func(driven) bool { return false }}

// drives does what people would until the session has ended, or a moment has
// come: it answers, pauses once and resumes. After a crash it finds out what is
// left to do. It reports whether the moment came.
func (p *process) drives(t *testing.T, id string, stop moment) (d driven, came bool) {
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
		case stop.come(d):
			return d, true
		case d.Status == "completed", d.Status == "failed", d.Status == "cancelled":
			return d, false
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

// A real server, killed while a background run waits to try again, for an
// approval and in a pause, and while a branch waits for an approval: each kind in
// every run. With LONG=1 also at every event, and in every second branch.
// Afterwards run and branch come to the same end as without a crash.
func TestKill9AtEventsOfABackgroundRun(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := played(t, data, workScript)
	stops := moments
	if os.Getenv("LONG") != "" {
		whole, _ := p.drives(t, p.starts(t, `{"prompt":"go","max_retries":3}`), never)
		for at := 1; at < whole.Seq; at++ {
			stops = append(slices.Clip(stops), atEvent(at))
		}
		t.Logf("killed at each of %d events", whole.Seq-1)
	}
	killed := func(id string, at moment) {
		t.Helper()
		if d, came := p.drives(t, id, at); !came && len(stops) == len(moments) {
			t.Errorf("%s: it was never so, and is %+v", at.name, d)
		}
		p.kill()
		p = played(t, data, workScript)
	}
	for i, at := range stops {
		id := p.starts(t, `{"prompt":"go","max_retries":3}`)
		killed(id, at)
		p.ends(t, id, at.name)
		var branch struct {
			ID string `json:"session_id"`
		}
		body := fmt.Sprintf(`{"from_event_id":"%s.7","prompt":"another way"}`, id)
		if err := json.Unmarshal(p.post(t, "/sessions/"+id+"/resume", []byte(body)), &branch); err != nil {
			t.Fatal(err)
		}
		if i%2 == 1 {
			killed(branch.ID, at)
		}
		p.ends(t, branch.ID, at.name)
	}
}

// ends drives a session to its end and checks what it came to.
func (p *process) ends(t *testing.T, id, at string) {
	t.Helper()
	d, _ := p.drives(t, id, never)
	code, body := p.get("/sessions/"+id+"/state?messages=1", http.Header{})
	var st struct{ Messages []struct{ Content string } }
	if err := json.Unmarshal([]byte(body), &st); code != 200 || err != nil || len(st.Messages) != 1 {
		t.Fatalf("%d %s", code, body)
	}
	if d.Status != "completed" || st.Messages[0].Content != "done" || d.Turn != nil || len(d.Approvals) > 0 || d.Attempts > 3 {
		t.Errorf("killed at %s: %+v, last words %q", at, d, st.Messages[0].Content)
	}
	asked, applied, calls, outcomes := p.told(t, id, "approval_required"), p.told(t, id, "approval_applied"), p.told(t, id, "tool_call"), p.told(t, id, "tool_outcome")
	if asked != applied || calls != outcomes {
		t.Errorf("killed at %s: %d of %d questions decided, %d of %d calls with an outcome", at, applied, asked, outcomes, calls)
	}
}
