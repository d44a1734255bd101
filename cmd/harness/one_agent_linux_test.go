package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"harness/engine/agenttest"
	"harness/model/modeltest"
	"harness/store/postgres/postgrestest"
)

// claudeStandIn answers every prompt as Claude Code would, and stays. In the middle
// of an answer to "stay" it waits to be interrupted.
const claudeStandIn = `#!/bin/sh
while IFS= read -r line; do
  over='"subtype":"success","is_error":false,"terminal_reason":"completed","result":"Hello."'
  case "$line" in
  *'"type":"user"'*)
    id=${line#*'"uuid":"'}
    id=${id%%\"*}
    echo '{"type":"system","subtype":"init","session_id":"s","model":"m","tools":[]}'
    echo '{"type":"stream_event","event":{"type":"message_start","message":{"id":"m"}},"session_id":"s"}'
    echo '{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"Hello."}},"session_id":"s"}'
    case "$line" in *'"content":"stay"'*) continue ;; esac
    ;;
  *'"subtype":"interrupt"'*)
    over='"subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_streaming"'
    ;;
  *) continue ;;
  esac
  echo '{"type":"result",'"$over"',"session_id":"s","user_message_uuids":["'"$id"'"]}'
done
`

// TestASessionHasOneAgentOnAllServers that could run it.
func TestASessionHasOneAgentOnAllServers(t *testing.T) {
	t.Parallel()
	program := write(t, filepath.Join(t.TempDir(), "claude"), claudeStandIn)
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	oneAgent(t, program, "http://127.0.0.1:9")
	t.Run("a node that is taken for dead keeps none", func(t *testing.T) { keepsNone(t, program) })
}

// TestASessionHasOneClaudeCodeOnAllServers is the same with the real program. On
// another node it is told what was said.
func TestASessionHasOneClaudeCodeOnAllServers(t *testing.T) {
	t.Parallel()
	bin := agenttest.Installed(t, agenttest.Claude)
	if os.Getenv("LONG")+os.Getenv("CI") == "" {
		t.Skip("CI and LONG=1 play it with the real program")
	}
	if !agenttest.Alone(t) {
		return
	}
	models := modeltest.Serve(t, "say Hello.")
	oneAgent(t, bin, models.URL)
	t.Cleanup(func() {
		for _, r := range models.Requests() {
			if strings.Contains(string(r.Body), "conversation-so-far") && strings.Contains(string(r.Body), "assistant: Hello.") {
				return
			}
		}
		t.Error("on no node was the program told what was said on another")
	})
}

// agentArgs are of servers whose agent is the program.
func agentArgs(t *testing.T, bin, model string) []string {
	key := write(t, filepath.Join(t.TempDir(), "key"), modelKey)
	return []string{
		"--engine", "claude:" + bin, "--sandbox-read", bin, "--idle-after", "50ms",
		"--model", "anthropic", "--key", "anthropic=file:" + key, "--model-url", "anthropic=" + model,
	}
}

// oneAgent is about such servers.
func oneAgent(t *testing.T, bin, model string) {
	args := agentArgs(t, bin, model)
	say := func(t *testing.T, p *process, id string) {
		t.Helper()
		p.post(t, "/chat/sessions/"+id+"/turns", []byte(`{"prompt":"hello","on_busy":"queue"}`))
	}
	t.Run("a second server on the same data starts none", func(t *testing.T) {
		t.Parallel()
		data := t.TempDir()
		p := start(t, slices.Concat(args, []string{"--data", data})...)
		id := p.make(t, t.TempDir())
		f := p.follow(id)
		say(t, p, id)
		completed(t, f, 1)
		before := agentsOf(t, id)
		if len(before) == 0 {
			t.Fatal("nobody runs the session")
		}
		mustFail(t, 1, []string{"another process uses this data"}, append([]string{"serve", "--addr", "127.0.0.1:0", "--data", data}, args...)...)
		say(t, p, id)
		completed(t, f, 2)
		after := agentsOf(t, id)
		for home, pids := range before { // some of them were commands of a moment
			stayed := slices.ContainsFunc(after[home], func(pid string) bool { return slices.Contains(pids, pid) })
			if len(before) != 1 || len(after) != 1 || !stayed {
				t.Errorf("the agents of the session are %v, and were %v", after, before)
			}
		}
	})
	t.Run("of several nodes one has it", func(t *testing.T) {
		t.Parallel()
		url := schema(t)
		nodes := []*process{start(t, slices.Concat(args, []string{"--store", url})...), start(t, slices.Concat(args, []string{"--store", url})...)}
		id := nodes[0].make(t, t.TempDir())
		f := nodes[1].follow(id)
		turns := 0
		for _, n := range nodes { // one after the other: whoever lets the session go keeps nothing of it
			say(t, n, id)
			turns++
			completed(t, f, turns)
			if found := agentsOf(t, id); len(found) > 1 {
				t.Fatalf("the agents of the session are %v", found)
			}
			eventually(t, "that nobody has the session", func() bool { return len(agentsOf(t, id)) == 0 && !nodes[0].busy() && !nodes[1].busy() })
		}
		var all sync.WaitGroup
		for _, n := range nodes { // and at once
			all.Go(func() {
				for range 3 {
					say(t, n, id)
				}
			})
		}
		all.Wait()
		for range 2 * 3 {
			turns++
			completed(t, f, turns)
			if found := agentsOf(t, id); len(found) > 1 {
				t.Fatalf("the agents of the session are %v", found)
			}
		}
	})
}

// keepsNone cuts a node off from the database in the middle of a turn: another one
// has the session then, and the first ends its agent, which it would have kept.
func keepsNone(t *testing.T, bin string) {
	t.Parallel()
	url := schema(t)
	wall := postgrestest.NewWall(t, url)
	args := append(agentArgs(t, bin, "http://127.0.0.1:9"), "--lease", nodeLease.String())
	a, b := start(t, slices.Concat(args, []string{"--store", wall.URL})...), start(t, slices.Concat(args, []string{"--store", url})...)
	id := a.make(t, t.TempDir())
	f := b.follow(id)
	a.post(t, "/chat/sessions/"+id+"/turns", []byte(`{"prompt":"stay"}`))
	f.until("words", kind("token"))
	if len(agentsOf(t, id)) != 1 {
		t.Fatalf("the agents of the session are %v", agentsOf(t, id))
	}
	wall.Cut(postgrestest.BothWays)
	f.until("the end of the turn", kind("turn_end"))
	eventually(t, "that nobody has the session", func() bool { return len(agentsOf(t, id)) == 0 })
	b.post(t, "/chat/sessions/"+id+"/turns", []byte(`{"prompt":"hello"}`))
	f.until("another turn", nth(2, "turn_end"))
	if found := agentsOf(t, id); len(found) > 1 { // it may have let the session go by now
		t.Errorf("the agents of the session are %v", found)
	}
}

// busy reports whether the server has a session awake.
func (p *process) busy() bool {
	_, text := p.get("/metrics", nil)
	return !strings.Contains(text, "\nharness_sessions_awake 0\n")
}

// completed waits for the end of so many turns, and checks that they did well.
func completed(t *testing.T, f *follower, turns int) {
	t.Helper()
	f.until("the end of a turn", nth(turns, "turn_end"))
	for _, e := range f.told() {
		if e.Type == "error" {
			t.Fatalf("a turn failed: %v", e.Payload)
		}
	}
}

// agentsOf are the processes of a session's agents, by the homes that they live
// in: each server has one for it.
func agentsOf(t *testing.T, id string) map[string][]string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	homes := map[string][]string{}
	for _, name := range all {
		b, _ := os.ReadFile(name) // it may be gone
		for e := range bytes.SplitSeq(b, []byte{0}) {
			if home, ok := strings.CutPrefix(string(e), "HOME="); ok && strings.HasSuffix(home, "/agents/claude/"+id) {
				homes[home] = append(homes[home], strings.Split(name, "/")[2])
			}
		}
	}
	return homes
}
