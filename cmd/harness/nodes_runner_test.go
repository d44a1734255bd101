package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestARunThatOutlivesItsNodeIsFollowedByAnother kills the node that owns a
// session while one of a pool of runners does its turn. Another node takes over and
// follows the same run: nothing is missing, nothing is told or done twice.
func TestARunThatOutlivesItsNodeIsFollowedByAnother(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	token := filepath.Join(dir, "runner.token")
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	const job = "for i in 1 2 3 4 5; do\n echo line $i | tee -a out\n while ! test -e go; do sleep 0.05; done\ndone\n"
	if err := os.WriteFile(filepath.Join(work, "job.sh"), []byte(job), 0o600); err != nil {
		t.Fatal(err)
	}
	var runners []string
	for range 2 {
		runners = append(runners, hostProcess(t, "--engine", "native", "--sandbox", "local", "--token-file", token, "--cwd", work))
	}
	url := schema(t)
	var nodes []*process
	for i := range 3 {
		pool := runners[i%2] + "," + runners[(i+1)%2] // in which order does not matter
		nodes = append(nodes, start(t, "--store", url, "--engine", pool, "--runner-token", "file:"+token, "--idle-after", "100ms", "--lease", nodeLease.String()))
	}
	a, b := nodes[0], nodes[1]
	var made struct {
		SessionID string `json:"session_id"`
	}
	g := &garden{t: t, process: a}
	g.must(201, &made, "/chat/sessions", `{"permission_mode":"full_auto"}`)
	id := made.SessionID
	talk := b.follow(id)
	a.post(t, "/chat/sessions/"+id+"/turns", []byte(`{"prompt":"run sh job.sh"}`))
	talk.until("the first line", kind("tool_log"))
	a.kill()
	if status, text, _ := nodes[2].status("PATCH", "/sessions/"+id, `{"title":"taken over"}`, b.bearer(nil)); status != 200 { // an owner has answered
		t.Fatalf("a word to whoever took over: %d %s", status, text)
	}
	if err := os.WriteFile(filepath.Join(work, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	end := talk.until("the end", kind("turn_end"))
	if end.id("status") != "completed" {
		t.Errorf("the turn ended as %v", end)
	}
	out, err := os.ReadFile(filepath.Join(work, "out"))
	if want := "line 1\nline 2\nline 3\nline 4\nline 5\n"; err != nil || string(out) != want {
		t.Errorf("what was done is %q, %v", out, err)
	}
	for _, k := range []string{"turn_start", "tool_call", "tool_result", "turn_end"} {
		only(t, talk.told(), k)
	}
	said := ""
	for _, e := range of(talk.told(), "tool_log") {
		said += e.id("text")
	}
	if fmt.Sprint(strings.Fields(said)) != "[line 1 line 2 line 3 line 4 line 5]" {
		t.Errorf("what was told is %q", said)
	}
}
