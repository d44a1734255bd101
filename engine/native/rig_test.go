package native_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/engine/enginetest"
	"harness/engine/native"
	"harness/kernel"
	"harness/model"
	"harness/model/anthropic"
	"harness/model/modeltest"
	"harness/model/openai"
	"harness/sandbox"
	"harness/sandbox/local"
	"harness/store/memory"
	"harness/tool"
)

// TestMain is the helper of the sandbox when it is started as one.
func TestMain(m *testing.M) {
	if code, mine := sandbox.Shim(os.Args, os.Environ()); mine {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// patience is how long a test waits for what takes milliseconds.
const patience = 60 * time.Second

// clients are the ways to a scripted server that the main flows are told over.
var clients = map[string]func(url string, c *http.Client) model.Client{
	"anthropic": func(url string, c *http.Client) model.Client {
		return anthropic.New("k", &anthropic.Options{URL: url, Name: "anthropic", HTTP: c})
	},
	"responses": func(url string, c *http.Client) model.Client {
		return openai.NewResponses("k", &openai.Options{URL: url + "/v1", Name: "openai", HTTP: c})
	},
	"chat": func(url string, c *http.Client) model.Client {
		return openai.NewChat("k", &openai.Options{URL: url + "/v1", Name: "openai", HTTP: c})
	},
}

// providers are whose models they are.
var providers = map[string]string{"anthropic": "anthropic", "responses": "openai", "chat": "openai"}

// each runs a test over every client.
func each(t *testing.T, f func(t *testing.T, client string)) {
	t.Parallel()
	for name := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, name)
		})
	}
}

// rig is a kernel on a memory store with a native engine, whose model is a
// scripted server, and one session in a directory of its own.
type rig struct {
	testing.TB
	client  string
	server  *modeltest.Server
	mem     *memory.Store
	k       *kernel.Kernel
	engine  *native.Engine
	id      harness.SessionID
	dir     string
	http    *http.Client
	told    *enginetest.Ledger              // who hears the engine; nil is nobody
	through func(model.Client) model.Client // what stands before the client; nil is nothing
	opts    native.Options
	kopts   kernel.Options
}

func newRig(t testing.TB, client, script string, change func(*rig)) *rig {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{TB: t, client: client, mem: memory.New(), id: "ses_1", dir: dir, server: modeltest.Serve(t, script)}
	r.opts = native.Options{
		Model: "test-model", Provider: providers[client], Tools: tool.Builtin(tool.Options{}), Sandbox: local.New(&local.Options{NoCgroup: true}),
		Workspace: harness.WorkspaceSpec{Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}},
	}
	if change != nil {
		change(r)
	}
	r.boot(nil)
	mode := harness.FullAuto
	if _, err := r.k.Create(t.Context(), harness.NewSession{ID: r.id, Directory: dir, Config: harness.ConfigPatch{PermissionMode: &mode}}); err != nil {
		t.Fatal(err)
	}
	return r
}

// boot starts a kernel on the rig's store.
func (r *rig) boot(wrap func(harness.Store) harness.Store) {
	r.Helper()
	c := clients[r.client](r.server.URL, r.http)
	if r.through != nil {
		c = r.through(c)
	}
	e := native.New(c, &r.opts)
	var st harness.Store = r.mem
	if wrap != nil {
		st = wrap(st)
	}
	o := r.kopts
	o.Engine, o.Window = "native", -1
	var heard harness.Engine = e
	if r.told != nil {
		heard = r.told.Watch(r, e)
	}
	k := kernel.New(st, map[string]harness.Engine{"native": heard}, &o)
	r.k, r.engine = k, e
	r.Cleanup(func() {
		k.Close()
		if err := e.Close(); err != nil {
			r.Errorf("close the engine: %v", err)
		}
	})
}

func (r *rig) do(cmd harness.Command) {
	r.Helper()
	if _, err := r.k.Do(r.Context(), r.id, cmd); err != nil {
		r.Fatalf("%+v: %v", cmd, err)
	}
}

// prompt continues the conversation and waits for the end of the turn.
func (r *rig) prompt(text string) *harness.State {
	r.Helper()
	r.do(harness.Submit{Source: harness.FromTurn, Parts: harness.TextPart(text)})
	return r.rest()
}

func (r *rig) until(what string, ok func(*harness.State) bool) *harness.State {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	var st *harness.State
	for up, err := range r.k.Watch(ctx, r.id, 0) {
		if err != nil {
			r.Fatalf("waiting for %s: %v\n%s", what, err, r.story())
		}
		if up.State != nil {
			st = up.State
		}
		for _, e := range up.Events {
			st.Apply(e)
		}
		if ok(st) {
			return st
		}
	}
	return nil
}

func (r *rig) rest() *harness.State {
	r.Helper()
	return r.until("rest", func(st *harness.State) bool { return st.Turn == nil && len(st.Queue) == 0 && st.Turns > 0 })
}

// answer decides the first question that waits.
func (r *rig) answer(v harness.Verdict, reason string) {
	r.Helper()
	st := r.until("a question", func(st *harness.State) bool { return len(st.Pending) > 0 })
	r.do(harness.Answer{Approval: st.Pending[0].ID, Decision: harness.Decision{Verdict: v, Scope: harness.Once, Reason: reason, Actor: "ann"}})
}

func (r *rig) log() (all []harness.Event) {
	r.Helper()
	for e, err := range r.k.Read(context.Background(), r.id, 0) {
		if err != nil {
			r.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// all are the payloads of one kind in the log.
func all[P harness.Payload](r *rig) (list []P) {
	for _, e := range r.log() {
		if p, ok := e.Payload.(P); ok {
			list = append(list, p)
		}
	}
	return list
}

// one is the only payload of its kind.
func one[P harness.Payload](r *rig) P {
	r.Helper()
	list := all[P](r)
	if len(list) != 1 {
		var p P
		r.Fatalf("there are %d events of the kind %T, want 1\n%s", len(list), p, r.story())
	}
	return list[0]
}

// said is what the assistant said in the last turn.
func (r *rig) said() string {
	list := all[*harness.Completed](r)
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1].Result
}

// last is the newest request that the model got.
func (r *rig) last() *modeltest.Request {
	r.Helper()
	list := r.server.Requests()
	if len(list) == 0 {
		r.Fatal("the model was not asked")
	}
	return list[len(list)-1]
}

// story is the log in short, without what differs from run to run.
func (r *rig) story() string {
	var b strings.Builder
	for _, e := range r.log() {
		fmt.Fprintf(&b, "%s%s\n", e.Type(), brief(e.Payload))
	}
	return b.String()
}

func brief(p harness.Payload) string {
	switch p := p.(type) {
	case *harness.UserMessage:
		return fmt.Sprintf(" %s %q", p.Source, harness.PlainText(p.Parts))
	case *harness.TurnStart:
		return fmt.Sprint(" ", p.Attempt)
	case *harness.Token:
		return fmt.Sprintf(" %q", p.Text)
	case *harness.Response:
		return fmt.Sprintf(" %q %s", p.Text, p.StopReason)
	case *harness.ToolCall:
		return fmt.Sprintf(" %s %s %s", p.ToolCallID, p.Name, p.Arguments)
	case *harness.ToolResult:
		return fmt.Sprintf(" %s %q", p.ToolCallID, p.Output)
	case *harness.ToolOutcome:
		return fmt.Sprintf(" %s %s %s %s", p.ToolCallID, p.Status, p.Reason, p.Error)
	case *harness.ToolBatch:
		return fmt.Sprintf(" %v %s", p.Waves, p.Reason)
	case *harness.HookEvent:
		return fmt.Sprintf(" %s %s %q", p.Kind, p.Status, p.Reason)
	case *harness.Reflection:
		return fmt.Sprintf(" %q", p.Text)
	case *harness.PolicyDecision:
		return fmt.Sprintf(" %s %s", p.ToolCallID, p.Outcome)
	case *harness.Failure:
		return fmt.Sprintf(" %q retryable=%t", p.Message, p.Retryable)
	case *harness.TransportDiagnostic:
		return fmt.Sprintf(" %s %s", p.Kind, p.Reason)
	case *harness.TurnEnd:
		return fmt.Sprintf(" %s %s", p.Status, p.Reason)
	case *harness.Completed:
		return fmt.Sprintf(" %q", p.Result)
	}
	return ""
}

func (r *rig) file(name string) string {
	b, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		return ""
	}
	return string(b)
}

func (r *rig) write(name, text string) {
	r.Helper()
	name = filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		r.Fatal(err)
	}
}
