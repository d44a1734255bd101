package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"harness/store/postgres/postgrestest"
)

const askScript = `repeat 20
  say "word "
  wait 2ms
end
ask bash {"command":"x"} access=execute "Run it" => ran
say "Done."
`

// TestThreeNodesThreeProtocols starts a turn on one node over stdio, watches it
// on another over SSE and approves it on a third over WebSocket.
func TestThreeNodesThreeProtocols(t *testing.T) {
	t.Parallel()
	url := schema(t)
	file := filepath.Join(t.TempDir(), "play.script")
	if err := os.WriteFile(file, []byte(askScript), 0o600); err != nil {
		t.Fatal(err)
	}
	a := openLines(t, invocation(t, "stdio", "--store", url, "--engine", "script:"+file))
	b, c := startNode(t, url, file), startNode(t, url, file)
	a.do("version", "initialize", "")
	thread := a.do("thread.threadId", "thread.create", "")
	sse := b.follow(thread)
	a.do("turnId", "turn.start", `"threadId":%q,"input":[{"type":"text","text":"go"}]`, thread)
	sse.until("a word", kind("token"))
	v := c.view("?sessionId=" + thread)
	s := v.see("the question", pending)
	asked := a.until("approval.requested")
	acked(t, v.do(`"type":"approve","toolCallId":%q`, s.PendingApprovals[0].ToolCallID))
	a.until("turn.completed")
	sse.until("the end", kind("turn_end"))
	v.see("the end", saying("Done."))
	if got := only(t, sse.told(), "approval_applied").id("request_id"); got != asked.Params.RequestID {
		t.Errorf("%s was decided, %s was asked", got, asked.Params.RequestID)
	}
	for _, k := range []string{"turn_start", "tool_result", "turn_end"} {
		only(t, sse.told(), k)
	}
}

// TestARuleHoldsOnEveryNode answers "always" on one node: questions of sessions
// on others are released, and no more are asked.
func TestARuleHoldsOnEveryNode(t *testing.T) {
	t.Parallel()
	nodes := startNodes(t, schema(t), askScript, 3)
	cwd := t.TempDir()
	var ids []string
	var streams []*follower
	for i, n := range nodes {
		ids = append(ids, n.make(t, cwd))
		streams = append(streams, nodes[(i+1)%3].follow(ids[i]))
		n.post(t, "/chat/sessions/"+ids[i]+"/turns", []byte(`{"prompt":"go"}`))
	}
	for _, s := range streams {
		s.until("a question", kind("approval_required"))
	}
	request := only(t, streams[0].told(), "approval_required").id("request_id")
	nodes[2].post(t, "/approvals/"+request, []byte(`{"decision":"allow","scope":"always"}`))
	for _, s := range streams {
		s.until("the end", kind("turn_end"))
	}
	nodes[0].post(t, "/chat/sessions/"+ids[0]+"/turns", []byte(`{"prompt":"again"}`))
	streams[0].until("the end of another turn", nth(2, "turn_end"))
	if n := len(of(streams[0].told(), "approval_required")); n != 1 {
		t.Errorf("asked %d times though a rule stands", n)
	}
}

// make creates a session and returns its id.
func (p *process) make(t testing.TB, cwd string) string {
	t.Helper()
	body := "{}"
	if cwd != "" {
		body = fmt.Sprintf(`{"directory":%q}`, cwd)
	}
	answer := p.post(t, "/chat/sessions", []byte(body))
	_, id, _ := strings.Cut(string(answer), `"session_id":"`)
	id, _, ok := strings.Cut(id, `"`)
	if !ok {
		t.Fatalf("a session was made: %s", answer)
	}
	return id
}

// TestReadyzTellsTheTruth takes the database away from a node, and gives it back;
// then it has the node stop while a turn runs.
func TestReadyzTellsTheTruth(t *testing.T) {
	t.Parallel()
	w := postgrestest.NewWall(t, schema(t))
	p := startNodes(t, w.URL, "say begun\nhang", 1, "--lease", "400ms", "--drain", "1m")[0]
	ready := func(want int) {
		t.Helper()
		eventually(t, fmt.Sprintf("readyz answers %d", want), func() bool {
			code, _ := p.get("/readyz", nil)
			return code == want
		})
	}
	ready(http.StatusOK)
	w.Cut(postgrestest.BothWays)
	ready(http.StatusServiceUnavailable)
	if code, _ := p.get("/healthz", nil); code != http.StatusOK {
		t.Errorf("healthz of a process that lives: %d", code)
	}
	w.Mend()
	ready(http.StatusOK)
	id := p.make(t, "")
	f := p.follow(id)
	p.post(t, "/chat/sessions/"+id+"/turns", []byte(`{"prompt":"go"}`))
	f.until("the turn", kind("token"))
	p.signal() // which waits until it is not ready
	if code, _ := p.get("/healthz", nil); code != http.StatusOK {
		t.Errorf("healthz of a process that stops: %d", code)
	}
	p.kill()
}

// TestSIGTERMHandsSessionsOver stops a node with a turn that does not end: the
// other goes on with it at once, long before the lease is over.
func TestSIGTERMHandsSessionsOver(t *testing.T) {
	t.Parallel()
	nodes := startNodes(t, schema(t), "when long\nsay begun\nhang\nelse\necho\nend", 2, "--lease", "1h", "--drain", "50ms")
	a, b := nodes[0], nodes[1]
	id := a.make(t, "")
	talk := b.follow(id)
	a.post(t, "/chat/sessions/"+id+"/turns", []byte(`{"prompt":"long"}`))
	talk.until("the turn", kind("token"))
	stopped := time.Now()
	if code := a.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, a.errors())
	}
	t.Logf("stopped after %v", time.Since(stopped).Round(time.Millisecond))
	if end := talk.until("its end", kind("turn_end")); end.id("reason") != "interrupted" {
		t.Errorf("it ended as %v", end)
	}
	b.post(t, "/chat/sessions/"+id+"/turns", []byte(`{"prompt":"hello"}`))
	talk.until("the next turn", nth(2, "turn_end"))
}
