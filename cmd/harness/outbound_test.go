package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestAKilledServerTellsItsHooksAfterAll: the receiver never says yes to the
// first life of the server; the next one finds in the log what is not told yet,
// under the same id.
func TestAKilledServerTellsItsHooksAfterAll(t *testing.T) {
	t.Parallel()
	type told struct{ id, kind string }
	heard := make(chan told, 64) // more than is sent
	var up atomic.Bool
	to := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var b struct{ Type string }
		text, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(text, &b); err != nil || r.Header.Get("Webhook-Signature") == "" {
			t.Errorf("%s: %v", text, err)
		}
		if !up.Load() {
			w.WriteHeader(503)
		}
		heard <- told{r.Header.Get("Webhook-Id"), b.Type}
	}))
	t.Cleanup(to.Close)
	next := func() told {
		select {
		case n := <-heard:
			return n
		case <-time.After(patience):
			t.Fatal("nothing is told")
			return told{}
		}
	}
	secret := write(t, filepath.Join(t.TempDir(), "secret"), "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	dir := t.TempDir()
	args := []string{"--data", dir, "--engine", "script:" + write(t, filepath.Join(t.TempDir(), "s"), "fail no luck"), "--webhook", to.URL, "--webhook-secret", "file:" + secret, "--webhook-private"}
	p := start(t, args...)
	invoke(t, "run", "--connect", p.http, "--approve", "never", "go") // which fails
	first := next()
	p.kill()
	if first.kind != "session.failed" {
		t.Errorf("%+v", first)
	}
	up.Store(true)
	for len(heard) > 0 {
		<-heard
	}
	p = start(t, args...)
	if again := next(); again != first {
		t.Errorf("got %+v, want %+v", again, first)
	}
	p.stop()
}

// Each caller has schedules and webhooks of its own; of others there is nothing
// to be found, and administrators see them all.
func TestSchedulesAndWebhooksAreTheirMakers(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	sch := h.must(t, ask{as: "ada", method: "POST", path: "/schedules", body: `{"when":"0 9 * * *","zone":"Europe/Berlin","prompt":"hello"}`})["schedule_id"].(string)
	hook := h.must(t, ask{as: "ada", method: "POST", path: "/webhooks", body: `{"name":"mine","url":"https://example.com/x"}`})
	if s, _ := hook["secret"].(string); !strings.HasPrefix(s, "whsec_") {
		t.Errorf("%v", hook)
	}
	if s := fmt.Sprint(h.must(t, ask{as: "ada", method: "GET", path: "/webhooks"})); strings.Contains(s, "whsec_") || !strings.Contains(s, "mine") {
		t.Error(s)
	}
	for _, q := range []ask{
		{method: "DELETE", path: "/schedules/" + sch}, {method: "POST", path: "/schedules/" + sch + "/run"}, {method: "DELETE", path: "/webhooks/mine"}, {method: "POST", path: "/webhooks/mine/test"},
	} {
		if q.as = "bob"; h.send(t, q).status != 404 {
			t.Errorf("bob: %s %s: %d", q.method, q.path, h.send(t, q).status)
		}
		if q.as = "ada-viewer"; h.send(t, q).status != 403 {
			t.Errorf("a viewer: %s %s: %d", q.method, q.path, h.send(t, q).status)
		}
	}
	for _, path := range []string{"/schedules", "/webhooks"} {
		if s := h.send(t, ask{as: "bob", method: "GET", path: path}).body; strings.Contains(s, sch) || strings.Contains(s, "mine") {
			t.Errorf("bob sees %s", s)
		}
		if s := h.send(t, ask{as: "owner", method: "GET", path: path}).body; !strings.Contains(s, `"ada"`) {
			t.Errorf("the owner sees %s", s)
		}
	}
	// Who may not decide in advance cannot have the clock do it.
	full := ask{as: "ada-operator", method: "POST", path: "/schedules", body: `{"when":"@daily","prompt":"x","permission_mode":"full_auto"}`}
	if got := h.send(t, full); got.status != 403 {
		t.Errorf("%d %s", got.status, got.body)
	}
	id := h.must(t, ask{as: "ada", method: "POST", path: "/schedules/" + sch + "/run"})["session_id"].(string)
	if row := h.must(t, ask{as: "ada", method: "GET", path: "/sessions/" + id}); row["user_id"] != "ada" || row["kind"] != "background" {
		t.Errorf("%v", row)
	}
	if got := h.send(t, ask{as: "bob", method: "GET", path: "/sessions/" + id}); got.status != 404 {
		t.Errorf("bob sees it: %d", got.status)
	}
	// A URL inside is refused when it is dialled; a command cannot be asked for at all.
	if got := h.send(t, ask{as: "ada", method: "POST", path: "/webhooks", body: `{"name":"cmd","command":["id"]}`}); got.status != 400 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := h.send(t, ask{as: "ada", method: "DELETE", path: "/schedules/" + sch}); got.status != 204 {
		t.Errorf("%d", got.status)
	}
	if got := h.send(t, ask{as: "ada", method: "DELETE", path: "/webhooks/mine"}); got.status != 204 {
		t.Errorf("%d", got.status)
	}
}

// The command line makes, lists, runs and ends schedules of a running server,
// and they are there after a kill.
func TestSchedulesOnTheCommandLine(t *testing.T) {
	t.Parallel()
	args := []string{"--data", t.TempDir(), "--engine", "script:" + write(t, filepath.Join(t.TempDir(), "s"), "say hi")}
	p := start(t, args...)
	at := []string{"--connect", p.http}
	id := strings.TrimSpace(mustRun(t, append([]string{"schedule", "add", "@daily", "tidy up", "--name", "nightly", "--overlap", "queue"}, at...)...))
	mustFail(t, 1, []string{"the server says", "never happens"}, append([]string{"schedule", "add", "0 0 31 2 *", "x"}, at...)...)
	p.kill()
	p = start(t, args...)
	at = []string{"--connect", p.http}
	if list := mustRun(t, append([]string{"schedule", "ls"}, at...)...); !strings.Contains(list, id) || !strings.Contains(list, "nightly") {
		t.Error(list)
	}
	if made := mustRun(t, append([]string{"schedule", "run", id}, at...)...); !strings.HasPrefix(made, "ses_") {
		t.Error(made)
	}
	mustRun(t, append([]string{"schedule", "rm", id}, at...)...)
	mustFail(t, 1, []string{"no schedule"}, append([]string{"schedule", "rm", id}, at...)...)
	mustFail(t, 1, []string{"no server runs"}, "schedule", "ls")
}

// Turns, model calls and tools are told to a collector that is named, in the
// words of the GenAI conventions and without what was said. By default none is.
func TestTurnsAreTracedIfACollectorIsNamed(t *testing.T) {
	t.Parallel()
	heard := make(chan string, 16) // more than is sent
	to := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		heard <- r.URL.Path + " " + string(text)
	}))
	t.Cleanup(to.Close)
	script := "script:" + write(t, filepath.Join(t.TempDir(), "s"), "call bash {\"command\":\"canary\"} => canary\nusage 10 5 0.5\nsay canary")
	p := start(t, "--engine", script, "--otel", to.URL)
	invoke(t, "run", "--connect", p.http, "--approve", "all", "canary")
	select {
	case got := <-heard:
		for _, want := range []string{"/v1/traces", "gen_ai.operation.name", "invoke_agent", "chat", "execute_tool", "gen_ai.usage.input_tokens"} {
			if !strings.Contains(got, want) {
				t.Errorf("no %s in what is told", want)
			}
		}
		if strings.Contains(got, "canary") {
			t.Error("what was said is told")
		}
	case <-time.After(patience):
		t.Fatal("nothing is traced")
	}
}
