package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWatchersOfEveryProtocolGoOnOverATakeover kills the owner of a running turn,
// or stops it as SIGTERM does, under watchers on other nodes: over SSE, WebSocket and stdio each is told every
// word once, over the takeover and the turn after it, and the WebSocket client is
// never given a state in place of what it lacks.
func TestWatchersOfEveryProtocolGoOnOverATakeover(t *testing.T) {
	t.Parallel()
	for how, end := range map[string]func(*process){"Killed": (*process).kill, "Drained": func(p *process) { p.stop() }} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			watchTakeover(t, end)
		})
	}
}

func watchTakeover(t *testing.T, end func(*process)) {
	url := schema(t)
	file := filepath.Join(t.TempDir(), "play.script")
	if err := os.WriteFile(file, []byte("when long\nsay \"begun \"\nstream 100000 3ms word\nelse\necho\nend"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, b := startNode(t, url, file, "--lease", nodeLease.String(), "--drain", "10ms"), startNode(t, url, file, "--lease", nodeLease.String())
	c := openLines(t, invocation(t, "stdio", "--store", url, "--engine", "script:"+file, "--lease", nodeLease.String()))
	id := a.make(t, "")
	sse, ws := b.follow(id), b.view("?sessionId="+id)
	c.do("thread.threadId", "thread.subscribe", `"threadId":%q`, id)
	a.post(t, "/chat/sessions/"+id+"/turns", []byte(`{"prompt":"long"}`))
	sse.until("words", nth(20, "token"))
	end(a)
	sse.until("the end of the turn", kind("turn_end"))
	b.post(t, "/chat/sessions/"+id+"/turns", []byte(`{"prompt":"and again"}`))
	sse.until("the end of another", nth(2, "turn_end"))
	var words strings.Builder
	for _, e := range of(sse.told(), "token") {
		words.WriteString(e.id("text"))
	}
	got := ws.see("both turns", func(s seen) bool { return s.Status == "idle" && strings.HasSuffix(said(s), "and again") })
	if said(got) != words.String() {
		t.Errorf("over WebSocket\n%s\nwant\n%s", said(got), words.String())
	}
	if ws.states != 1 {
		t.Errorf("%d states over WebSocket, want the first alone", ws.states)
	}
	var lines strings.Builder
	ends := 0
	c.hears = func(h heard) {
		switch h.Method {
		case "item.delta":
			lines.WriteString(h.Params.Delta)
		case "turn.completed", "turn.error":
			ends++
		}
	}
	for _, h := range c.told {
		c.hears(h)
	}
	for ends < 2 {
		if _, err := c.line(); err != nil {
			t.Fatalf("%v\n%s", err, c.errs.String())
		}
	}
	if lines.String() != words.String() {
		t.Errorf("over stdio\n%s\nwant\n%s", lines.String(), words.String())
	}
}
