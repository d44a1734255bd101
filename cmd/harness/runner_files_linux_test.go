package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"harness"
	protocol "harness/protocol/runner"
)

// abroad is a server whose sessions work on the files of a runner's machine.
func abroad(t *testing.T, runner ...string) *garden {
	t.Helper()
	home := t.TempDir()
	token := filepath.Join(home, "runner.token")
	g := &garden{t: t, dir: t.TempDir()}
	url := hostProcess(t, append([]string{"--engine", "native", "--model", "offline", "--pace", "0s", "--token-file", token, "--cwd", g.dir}, runner...)...)
	g.args = []string{"--data", t.TempDir(), "--cwd", t.TempDir(), "--engine", url, "--runner-token", "file:" + token}
	g.begin()
	return g
}

// begin starts the server and a session in which everything is allowed.
func (g *garden) begin() {
	g.t.Helper()
	g.process = start(g.t, g.args...)
	var made struct {
		SessionID string `json:"session_id"`
	}
	g.must(201, &made, "/chat/sessions", `{"permission_mode":"full_auto"}`)
	g.session = made.SessionID
}

// prompt has the session's n-th turn do something to its end. It returns its
// message.
func (g *garden) prompt(n int, what string) string {
	g.t.Helper()
	var said struct {
		ItemID string `json:"item_id"`
	}
	text, err := json.Marshal(map[string]string{"prompt": what})
	if err != nil {
		g.t.Fatal(err)
	}
	g.must(202, &said, "/chat/sessions/"+g.session+"/turns", string(text))
	g.until("turn_end", n)
	return said.ItemID
}

// What a turn did on a runner's machine is taken back there, also after either
// of the two was started anew, and nothing happens here.
func TestARewindHappensOnTheRunnersMachine(t *testing.T) {
	t.Parallel()
	g := abroad(t)
	g.write("f000", "first")
	m := g.prompt(1, "run `echo second > f000`")
	g.prompt(2, "run `echo second > new`")
	g.holds(0, map[string]string{"f000": "second", "new": "second"})
	if r := g.rewind(m, `,"dry_run":true`); len(r.FilesChanged) != 2 || len(r.Conflicts) != 0 {
		t.Errorf("dry run: %+v", r)
	}
	g.holds(0, map[string]string{"f000": "second", "new": "second"})
	g.write("new", "mine")
	r := g.rewind(m, "")
	if len(r.FilesChanged) != 1 || len(r.Conflicts) != 1 || r.Conflicts[0] != "new" {
		t.Errorf("%+v", r)
	}
	g.holds(1, map[string]string{"new": "mine"})
	g.kill()
	g.process = start(t, g.args...)
	g.rewind(r.ItemID, "") // undone
	g.holds(0, map[string]string{"f000": "second", "new": "mine"})

	v := g.view("?sessionId=" + g.session)
	acked(t, v.do(`"type":"rewind","messageId":%q,"force":true`, m))
	g.holds(1, nil)
	if here, err := os.ReadDir(g.args[3]); err != nil || len(here) != 0 {
		t.Errorf("the server's directory holds %v, %v", here, err)
	}
	if there, err := os.ReadDir(filepath.Join(g.args[1], "snapshots")); err == nil && len(there) != 0 {
		t.Errorf("the server's snapshots are %v", there)
	}
}

// A runner that keeps no files, because it was told so or because it knows only
// S2's text, makes a rewind unsupported.
func TestARewindOnARunnerThatKeepsNothingIsUnsupported(t *testing.T) {
	t.Parallel()
	s2 := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/health":
			fmt.Fprint(w, `{"ok":true,"busy":false,"hasAnthropicKey":false}`)
		case "/query":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "event: run.started\ndata: {\"type\":\"run.started\",\"requestId\":\"r\"}\n\nevent: run.completed\ndata: {\"type\":\"run.completed\",\"result\":\"done\"}\n\n")
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s2.Close)
	bare := &garden{t: t, dir: t.TempDir(), args: []string{"--data", t.TempDir(), "--cwd", t.TempDir(), "--engine", s2.URL}}
	bare.begin()
	for name, g := range map[string]*garden{"snapshots off": abroad(t, "--snapshots", "off"), "S2 only": bare} {
		m := g.prompt(1, "run `echo second > f000`")
		status, answer, err := g.ask("/sessions/"+g.session+"/rewind", fmt.Sprintf(`{"message_id":%q}`, m))
		if status != 501 || err != nil || !strings.Contains(string(answer), "unsupported") {
			t.Errorf("%s: %d %s %v", name, status, answer, err)
		}
		if f := g.view("?sessionId="+g.session).do(`"type":"rewind","messageId":%q`, m); f.Code != "unsupported" {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// A runner takes files back for whoever speaks its protocol, and the next one
// that has its data does, too.
func TestTheFilesOfARunnerAreTakenBackWithoutAServer(t *testing.T) {
	t.Parallel()
	g := &garden{t: t, dir: t.TempDir()}
	args := []string{"--engine", "native", "--model", "offline", "--pace", "0s", "--auth", "off", "--cwd", g.dir, "--data=" + t.TempDir()}
	client := func() *protocol.Client {
		c, err := protocol.NewClient(hostProcess(t, args...), "")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := client()
	s, err := c.Query(t.Context(), protocol.Query{Prompt: "run `echo second > f000`", RequestID: "r1"})
	if err != nil {
		t.Fatal(err)
	}
	for over := false; !over; {
		f, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		if over = f.Type.Ends(); f.Type == protocol.Asked {
			if err := c.Decide(t.Context(), "r1", f.ToolUseID, protocol.Answer{Decision: harness.Decision{Verdict: harness.Allow}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.Close()
	g.holds(0, map[string]string{"f000": "second"})
	if got, err := c.Rewind(t.Context(), protocol.Rewind{RequestID: "r1", DryRun: true}); err != nil || len(got.Delete) != 1 {
		t.Fatalf("%+v %v", got, err)
	}
	if got, err := client().Rewind(t.Context(), protocol.Rewind{RequestID: "r1"}); err != nil || len(got.Delete) != 1 || got.Safety == "" {
		t.Fatalf("%+v %v", got, err)
	}
	g.holds(0, nil)
}
