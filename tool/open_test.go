package tool_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"harness"
	"harness/sandbox"
	"harness/sandbox/bwrap"
	"harness/sandbox/local"
	"harness/tool"
)

// TestMain is the helper of the sandbox when it is started as one.
func TestMain(m *testing.M) {
	if code, mine := sandbox.Shim(os.Args, os.Environ()); mine {
		os.Exit(code)
	}
	sandboxes()
	os.Exit(m.Run())
}

// sandboxes are those that work here, tried before anything runs in one of
// them, as a server does.
var sandboxes = sync.OnceValue(func() map[string]harness.Sandbox {
	all := map[string]harness.Sandbox{"local": local.New(nil), "bwrap": bwrap.New(nil)}
	for name, box := range all {
		if _, err := box.Probe(context.Background()); err != nil {
			delete(all, name)
		}
	}
	return all
})

// patience is how long a test waits for what takes milliseconds.
const patience = 60 * time.Second

// session is an open workspace with all tools.
type session struct {
	testing.TB
	env   *tool.Env
	tools map[string]tool.Tool

	mu     sync.Mutex // guards logged
	logged strings.Builder
}

// open opens a workspace of the local sandbox.
func open(t testing.TB) *session { return openIn(t, sandboxes()["local"]) }

func openIn(t testing.TB, box harness.Sandbox) *session {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return openAt(t, box, dir, tool.Options{})
}

func openAt(t testing.TB, box harness.Sandbox, dir string, opts tool.Options) *session {
	t.Helper()
	w, err := box.Open(t.Context(), harness.WorkspaceSpec{Session: "ses_test", Directory: dir, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	s := &session{TB: t, tools: map[string]tool.Tool{}}
	s.env = &tool.Env{Session: "ses_test", Call: "call_test", Workspace: w, Directory: dir, State: tool.NewState(), Log: s.log}
	for _, x := range tool.Builtin(opts) {
		s.tools[x.Spec().Name] = x
	}
	t.Cleanup(func() {
		if err := s.env.State.Close(); err != nil {
			t.Errorf("close the state: %v", err)
		}
		if err := w.Close(); err != nil {
			t.Errorf("close the workspace: %v", err)
		}
	})
	return s
}

// everySandbox runs a test in each sandbox that works here.
func everySandbox(t *testing.T, test func(t *testing.T, s *session)) {
	for name, box := range sandboxes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, openIn(t, box))
		})
	}
}

func (s *session) log(stream, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logged.WriteString(stream + ":" + text)
}

func (s *session) shown() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logged.String()
}

type in map[string]any

// try plans and runs a call as an engine does.
func (s *session) try(name string, input in) (tool.Result, error) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.TB.Context(), patience)
	defer cancel()
	return s.tryIn(ctx, name, input)
}

func (s *session) tryIn(ctx context.Context, name string, input in) (tool.Result, error) {
	s.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		s.Fatal(err)
	}
	x := s.tools[name]
	if x == nil {
		s.Fatalf("there is no tool %q", name)
	}
	if _, err := x.Plan(s.env, raw); err != nil {
		return tool.Result{}, err
	}
	return x.Run(ctx, s.env, raw)
}

// do is a call that succeeds.
func (s *session) do(name string, input in) string {
	s.Helper()
	r, err := s.try(name, input)
	if err != nil {
		s.Fatalf("%s %v: %v\n%s", name, input, err, r.Text)
	}
	return r.Text
}

// fails is a call that is answered with an error that says something.
func (s *session) fails(name string, input in, says string) {
	s.Helper()
	r, err := s.try(name, input)
	if err == nil || !strings.Contains(err.Error(), says) {
		s.Fatalf("%s %v: got error %v (%s), want one with %q", name, input, err, r.Text, says)
	}
}

// put writes a file from outside.
func (s *session) put(name, text string) {
	s.Helper()
	to := filepath.Join(s.env.Directory, name)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
		s.Fatal(err)
	}
}

// has checks the content of a file.
func (s *session) has(name, want string) {
	s.Helper()
	got, err := os.ReadFile(filepath.Join(s.env.Directory, name))
	if err != nil || string(got) != want {
		s.Fatalf("%s has %q (%v), want %q", name, got, err, want)
	}
}

// contains checks a text.
func contains(t testing.TB, text string, wants ...string) {
	t.Helper()
	for _, w := range wants {
		if !strings.Contains(text, w) {
			t.Fatalf("got %q, want something with %q", text, w)
		}
	}
}

// until waits for a condition.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for pause := time.NewTicker(5 * time.Millisecond); !ok(); <-pause.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s for %s", patience, what)
		}
	}
}
