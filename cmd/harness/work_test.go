package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"harness"
)

// played is a server whose script engine plays src.
func played(t testing.TB, data, src string, flags ...string) *process {
	t.Helper()
	file := filepath.Join(data, "work.script")
	if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	return start(t, append([]string{"--data", data, "--engine", "script:" + file}, flags...)...)
}

// starts has a session work by itself and returns its id.
func (p *process) starts(t *testing.T, body string) string {
	t.Helper()
	var made struct {
		ID string `json:"session_id"`
	}
	if err := json.Unmarshal(p.post(t, "/sessions", []byte(body)), &made); err != nil || made.ID == "" {
		t.Fatalf("%+v, %v", made, err)
	}
	return made.ID
}

// worker is what these tests look at of a session.
type worker struct {
	Status    string
	Attempts  int    `json:"attempt_count"`
	RequestID string `json:"approval_request_id"`
	Messages  int    `json:"message_count"`
}

// becomes waits for a status.
func (p *process) becomes(t *testing.T, id string, status harness.Status) (w worker) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		code, body := p.get("/sessions/"+id, http.Header{})
		if err := json.Unmarshal([]byte(body), &w); code != 200 || err != nil {
			t.Fatalf("%d %s", code, body)
		}
		if w.Status == string(status) {
			return w
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is %s and does not become %s\n%s", id, w.Status, status, p.errors())
		}
		time.Sleep(5 * time.Millisecond) // sleep: between two looks at a condition with a deadline
	}
}

// told counts the events of a kind in a session's log.
func (p *process) told(t *testing.T, id, kind string) int {
	t.Helper()
	_, body := p.get("/sessions/"+id+"/events?types="+kind+"&limit=1000", http.Header{})
	var page struct{ Events []json.RawMessage }
	if err := json.Unmarshal([]byte(body), &page); err != nil {
		t.Fatal(err)
	}
	return len(page.Events)
}

// An approval of a background session waits while the server is killed three
// times, and is then answered over HTTP and JSON-RPC at once: it is applied
// once, and the call runs once.
func TestAnApprovalWaitsOverThreeRestartsAndIsAppliedOnce(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	const src = "ask bash c1 {\"command\":\"make\"} => built\nsay done"
	p := played(t, data, src)
	id := p.starts(t, `{"prompt":"go"}`)
	first := p.becomes(t, id, harness.AwaitingApproval).RequestID
	for range 3 {
		p.kill()
		p = played(t, data, src)
		if w := p.becomes(t, id, harness.AwaitingApproval); w.RequestID != first || first == "" {
			t.Fatalf("the question was %s and is %s", first, w.RequestID)
		}
	}
	conn, err := dialRPC(t.Context(), remote{p.http, p.token})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var wg sync.WaitGroup
	at := make(chan struct{})
	for range 8 {
		wg.Go(func() {
			<-at
			p.post(t, "/approvals/"+first, []byte(`{"decision":"allow"}`))
		})
	}
	wg.Go(func() {
		<-at
		answers := json.NewDecoder(conn)
		for i := range 8 {
			fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":%d,"method":"approval.respond","params":{"threadId":%q,"requestId":%q,"decision":"once"}}`+"\n", i, id, first)
			var m message
			for m.ID == nil {
				if err := answers.Decode(&m); err != nil {
					t.Error(err)
					return
				}
			}
			if m.Error != nil {
				t.Errorf("over JSON-RPC: %v", m.Error)
			}
		}
	})
	close(at)
	wg.Wait()
	w := p.becomes(t, id, harness.StatusCompleted)
	if n := p.told(t, id, "approval_applied"); n != 1 {
		t.Errorf("applied %d times", n)
	}
	if n := p.told(t, id, "tool_result"); n != 1 || w.Attempts != 1 {
		t.Errorf("the call ran %d times, in %d attempts", n, w.Attempts)
	}
}

// Many background sessions of several users on one server, which is killed
// twice: all of them end, with one answer each, users take turns, and the memory
// of each of its lives is bounded.
func TestKill9OfManyBackgroundSessionsLosesNothing(t *testing.T) {
	t.Parallel()
	const users = 5
	n, slots, wait := 25, 4, "10ms"
	if os.Getenv("LONG") != "" {
		n, slots, wait = 1000, 8, "100ms"
	}
	data := t.TempDir()
	src := "say looking\ncall read => one\ncheckpoint\nwait " + wait + "\nsay done"
	serve := func() *process {
		return played(t, data, src, "--concurrency", strconv.Itoa(slots), "--idle-after", "100ms")
	}
	p := serve()
	var ids []string
	for i := range n { // one user after the other
		ids = append(ids, p.starts(t, fmt.Sprintf(`{"prompt":"go","max_retries":3,"user_id":"user%d"}`, i*users/n)))
	}
	queued := time.Now()
	ended := func() (done int) {
		for next := ""; ; {
			_, body := p.get("/sessions?limit=1000&status=completed&cursor="+next, http.Header{})
			var page struct {
				Sessions []worker
				Next     string `json:"next_cursor"`
			}
			if err := json.Unmarshal([]byte(body), &page); err != nil {
				t.Fatal(err)
			}
			done += len(page.Sessions)
			if next = page.Next; next == "" {
				return done
			}
		}
	}
	until := func(want int) {
		t.Helper()
		for deadline := time.Now().Add(10 * patience); ended() < want; {
			if time.Now().After(deadline) {
				t.Fatalf("%d of %d ended\n%s", ended(), want, p.errors())
			}
			time.Sleep(10 * time.Millisecond) // sleep: between two looks at a condition with a deadline
		}
	}
	bounded := func() {
		t.Helper()
		if kb := p.memory(); kb > 0 {
			t.Logf("%d sessions on %d places; the server's memory at its peak: %d KiB", n, slots, kb)
			if kb > 400<<10 {
				t.Errorf("the server took %d KiB", kb)
			}
		}
	}
	for life := range 2 {
		until(n * (life + 1) / 3)
		bounded()
		p.kill()
		p = serve()
	}
	until(n)
	for _, id := range ids {
		if w := p.becomes(t, id, harness.StatusCompleted); w.Attempts > 3 {
			t.Errorf("%s took %d attempts", id, w.Attempts)
		}
		if ends := p.told(t, id, "turn_end"); ends != 1 {
			t.Errorf("a turn of %s ended %d times", id, ends)
		}
	}
	bounded()
	p.fair(t, ids, users, 2*slots, queued)
}

// fair checks that of the users, each of whom has as many sessions in a row, no
// one who still waits is further behind another than this, from a time on.
func (p *process) fair(t *testing.T, ids []string, users, behind int, since time.Time) {
	t.Helper()
	type start struct {
		at   time.Time
		user int
	}
	var begun []start
	for i, id := range ids {
		_, body := p.get("/sessions/"+id+"/events?types=turn_start&limit=1", http.Header{})
		var page struct{ Events []struct{ TS time.Time } }
		if err := json.Unmarshal([]byte(body), &page); err != nil || len(page.Events) == 0 || page.Events[0].TS.IsZero() {
			t.Fatalf("when did %s begin? %v %s", id, err, body)
		}
		begun = append(begun, start{page.Events[0].TS, i * users / len(ids)})
	}
	slices.SortFunc(begun, func(a, b start) int { return a.at.Compare(b.at) })
	total, fresh, judged := make([]int, users), make([]int, users), 0
	for i, s := range begun {
		total[s.user]++
		if s.at.Before(since) {
			continue
		}
		fresh[s.user]++
		most, least := 0, len(ids)
		for u := range users {
			if total[u] < len(ids)/users { // it still waits
				most, least = max(most, fresh[u]), min(least, fresh[u])
			}
		}
		if judged++; most-least > behind {
			t.Fatalf("when %d had begun, one user had %d and another %d", i+1, most, least)
		}
	}
	t.Logf("%d of %d began after all were queued, and users took turns", judged, len(begun))
}

// memory is the most that the server ever had, where the system tells.
func (p *process) memory() (kib int) {
	if runtime.GOOS != "linux" {
		return 0
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, _ = strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
		}
	}
	return kib
}

// What is said of a pause is what becomes of it: also while an approval waits,
// and when the call that it was about is cancelled.
func TestAPauseSaysWhatWillHappen(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := played(t, data, "ask bash {\"command\":\"ls\"} access=execute \"List\"\n  hang\nsay done")
	id := strings.TrimSpace(mustRun(t, "sessions", "start", "--connect", p.http, "go"))
	p.becomes(t, id, harness.AwaitingApproval)
	if says := mustRun(t, "sessions", "pause", "--connect", p.http, id); says != "awaiting_approval; the session pauses when that is answered and the call is done\n" {
		t.Errorf("pause says %q", says)
	}
	mustRun(t, "sessions", "resume", "--connect", p.http, id)
	mustRun(t, "sessions", "cancel", "--connect", p.http, id)
	p.becomes(t, id, harness.StatusCancelled)
	if out := mustRun(t, "sessions", "show", "--data", data, id); !strings.Contains(out, `▸ bash {"command":"ls"} [cancelled]`) {
		t.Errorf("show says\n%s", out)
	}
}

// What a person at a terminal does with background work.
func TestWorkIsStartedAndSteeredFromATerminal(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := played(t, data, "when stuck\nhang\nend\nsay done", "--concurrency", "1")
	verb := func(args ...string) string {
		t.Helper()
		return strings.TrimSpace(mustRun(t, append(args, "--connect", p.http)...))
	}
	first := verb("sessions", "start", "--title", "first", "--max-retries", "2", "--expires", "1h", "stuck")
	p.becomes(t, first, harness.Running)
	o := invoke(t, "sessions", "start", "--connect", p.http, "be quick")
	second := strings.TrimSpace(o.stdout)
	if !strings.Contains(o.stderr, "working in ") || !strings.Contains(o.stderr, second) || !strings.Contains(o.stderr, "number 1 in line") {
		t.Errorf("start says %+v", o)
	}
	p.becomes(t, second, harness.Queued)
	list := mustRun(t, "sessions", "ls", "--data", data)
	if !strings.Contains(list, "queued (1)") || !strings.Contains(list, "running") || !strings.Contains(list, "first") {
		t.Errorf("the list is\n%s", list)
	}
	if out := mustRun(t, "sessions", "ls", "--json", "--status", "queued", "--data", data); !strings.Contains(out, `"queue_position":1`) {
		t.Errorf("the list is\n%s", out)
	}
	if says := verb("sessions", "pause", first); says != "running; the session pauses behind the call that runs" && says != "paused" {
		t.Errorf("pause says %q", says)
	}
	p.becomes(t, first, harness.Paused)
	p.becomes(t, second, harness.StatusCompleted)
	verb("sessions", "resume", first)
	p.becomes(t, first, harness.Running)
	if says := verb("sessions", "cancel", first); says != "running" && says != "cancelled" {
		t.Errorf("cancel says %q", says)
	}
	p.becomes(t, first, harness.StatusCancelled)
	mustFail(t, 1, []string{"no turn is running"}, "sessions", "cancel", "--connect", p.http, first)
	mustFail(t, 1, []string{"no server runs"}, "sessions", "start", "go")
	mustFail(t, 2, []string{"--concurrency"}, "serve", "--concurrency", "0")
}
