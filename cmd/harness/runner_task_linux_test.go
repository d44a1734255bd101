package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"harness/custody"
)

// Below runner:native work is handed on as below native: a session with a runner
// of its own does it, its parent is told, and each turn is summed up.
func TestARunnerOfTheNativeEngineHasSubagents(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	t.Cleanup(func() {
		if _, err := book(t, data).Reconcile(context.Background(), func(custody.Entry) bool { return false }); err != nil {
			t.Error(err)
		}
	})
	p := start(t, "--data", data, "--cwd", dir, "--engine", "runner:native", "--model", "offline", "--pace", "0s")
	s := &nativeServer{process: p, dir: dir}
	id := s.chat(t, "full_auto")
	events := s.say(t, id, "delegate to a subagent: write 'from below' to below.txt", "")
	if text, err := os.ReadFile(filepath.Join(dir, "below.txt")); string(text) != "from below\n" {
		t.Errorf("below.txt is %q, %v", text, err)
	}
	told := of(events, "subagent_event")
	if len(told) < 2 || told[0].id("status") != "running" || told[len(told)-1].id("status") != "completed" {
		t.Fatalf("it is told %+v", told)
	}
	var child struct {
		SpawnedBy string `json:"spawned_by"`
	}
	below := told[0].id("agent_id")
	if status, body := p.get("/sessions/"+below, nil); status != 200 || json.Unmarshal([]byte(body), &child) != nil || child.SpawnedBy != id {
		t.Errorf("%d %s", status, body)
	}
	for _, session := range []string{id, below} {
		if n := len(of(s.log(t, session), "antahkarana")); n != 1 {
			t.Errorf("%s was summed up %d times", session, n)
		}
	}
}
