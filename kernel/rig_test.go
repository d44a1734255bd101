package kernel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/engine/script"
	"harness/kernel"
	"harness/store/memory"
)

// rig is a kernel on a memory store with a script for an engine, and one
// session. Use it inside a synctest bubble: the kernel is closed at its end, so
// a goroutine that is left over fails the test.
type rig struct {
	t      testing.TB
	mem    *memory.Store
	engine *script.Engine
	k      *kernel.Kernel
	id     harness.SessionID
}

func newRig(t testing.TB, src string, opts *kernel.Options) *rig {
	t.Helper()
	r := &rig{t: t, mem: memory.New()}
	r.boot(r.mem, src, opts)
	r.id = r.create(harness.NewSession{ID: "ses_1"})
	return r
}

// boot starts a kernel on st with an engine that plays src.
func (r *rig) boot(st harness.Store, src string, opts *kernel.Options) {
	r.t.Helper()
	s, err := script.Parse(src)
	if err != nil {
		r.t.Fatal(err)
	}
	r.engine = script.New(s, nil)
	r.bootWith(st, r.engine, opts)
}

func (r *rig) bootWith(st harness.Store, e harness.Engine, opts *kernel.Options) {
	r.t.Helper()
	if opts == nil {
		opts = &kernel.Options{}
	}
	o := *opts
	o.Engine = "e"
	k := kernel.New(st, map[string]harness.Engine{"e": e}, &o)
	r.t.Cleanup(func() { k.Close() })
	r.k = k
}

// crash is a rig on what a crash at this moment leaves, with a kernel that has
// recovered. The old kernel goes on with the old store.
func (r *rig) crash(src string, opts *kernel.Options) *rig {
	r.t.Helper()
	c := &rig{t: r.t, mem: r.mem.Clone(), id: r.id}
	c.boot(c.mem, src, opts)
	if _, err := c.k.Recover(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	return c
}

func (r *rig) create(n harness.NewSession) harness.SessionID {
	r.t.Helper()
	id, err := r.k.Create(r.t.Context(), n)
	if err != nil {
		r.t.Fatal(err)
	}
	return id
}

func (r *rig) do(cmd harness.Command) harness.Receipt {
	r.t.Helper()
	receipt, err := r.k.Do(r.t.Context(), r.id, cmd)
	if err != nil {
		r.t.Fatalf("%+v: %v", cmd, err)
	}
	return receipt
}

// refused checks that a command is answered with an error of the closed set.
func (r *rig) refused(want *harness.Error, cmd harness.Command) {
	r.t.Helper()
	if _, err := r.k.Do(r.t.Context(), r.id, cmd); !errors.Is(err, want) {
		r.t.Fatalf("%+v: got %v, want %v", cmd, err, want)
	}
}

func (r *rig) submit(text string) harness.Receipt {
	r.t.Helper()
	return r.do(harness.Submit{Parts: harness.TextPart(text), OnBusy: harness.Enqueue})
}

func (r *rig) allow() { r.t.Helper(); r.decide(harness.Allow, harness.Once) }

// decide answers the first pending approval.
func (r *rig) decide(v harness.Verdict, s harness.Scope) {
	r.t.Helper()
	p := r.state().Pending
	if len(p) == 0 {
		r.t.Fatal("nothing is pending")
	}
	r.do(harness.Answer{Approval: p[0].ID, Decision: harness.Decision{Verdict: v, Scope: s}})
}

// state is the durable state.
func (r *rig) state() *harness.State {
	r.t.Helper()
	st, err := r.k.At(r.t.Context(), r.id, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	return st
}

func (r *rig) log() []harness.Event {
	r.t.Helper()
	var log []harness.Event
	for e, err := range r.k.Read(r.t.Context(), r.id, 0) {
		if err != nil {
			r.t.Fatal(err)
		}
		log = append(log, e)
	}
	return log
}

// until watches until the state is as wanted, for at most an hour of the
// bubble's time.
func (r *rig) until(what string, ok func(*harness.State) bool) *harness.State {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Hour)
	defer cancel()
	var st *harness.State
	for up, err := range r.k.Watch(ctx, r.id, 0) {
		if err != nil {
			r.t.Fatalf("waiting for %s: %v; %s", what, err, r.story())
		}
		st = follow(st, up)
		if ok(st) {
			return st
		}
	}
	return nil
}

// follow applies an update to what a watcher has.
func follow(st *harness.State, up harness.Update) *harness.State {
	if up.State != nil {
		st = up.State
	}
	for _, e := range up.Events {
		st.Apply(e)
	}
	return st
}

// rest waits until no turn runs and no prompt waits.
func (r *rig) rest() *harness.State {
	r.t.Helper()
	return r.until("rest", func(st *harness.State) bool { return st.Turn == nil && len(st.Queue) == 0 })
}

// pending waits until n approvals are open.
func (r *rig) pending(n int) *harness.State {
	r.t.Helper()
	return r.until("an approval", func(st *harness.State) bool { return len(st.Pending) == n })
}

// story is the log in short: what a reader of a failing test wants to see.
func (r *rig) story() string {
	var b strings.Builder
	for _, e := range r.log() {
		b.WriteString(tell(e))
		b.WriteByte('\n')
	}
	return b.String()
}

func tell(e harness.Event) string {
	s := string(e.Type())
	switch p := e.Payload.(type) {
	case *harness.SessionState:
		s += " " + string(p.Status)
	case *harness.UserMessage:
		s += " " + string(p.Source) + " " + harness.PlainText(p.Parts)
	case *harness.TurnStart:
		s += fmt.Sprint(" ", p.Attempt)
	case *harness.Token:
		s += " " + p.Text
	case *harness.Response:
		s += " " + p.Text
	case *harness.ToolCall:
		s += " " + string(p.ToolCallID)
	case *harness.ToolOutcome:
		s += " " + string(p.ToolCallID) + " " + p.Status + " " + p.Reason
	case *harness.ApprovalRequired:
		s += " " + string(p.ToolCallID)
	case *harness.ApprovalApplied:
		s += " " + string(p.ToolCallID) + " " + string(p.Decision) + " " + string(p.Source)
	case *harness.HookEvent:
		s += " " + p.Kind
	case *harness.Failure:
		s += " " + p.Message
	case *harness.TurnEnd:
		s += " " + p.Status + " " + p.Reason
	}
	return strings.TrimSpace(s)
}

// tells compares the story with lines; checkpoints are left out.
func (r *rig) tells(want string) {
	r.t.Helper()
	clean := func(s string) string {
		var lines []string
		for l := range strings.Lines(s) {
			if l = strings.TrimSpace(l); l != "" && l != "session_checkpoint" {
				lines = append(lines, l)
			}
		}
		return strings.Join(lines, "\n")
	}
	if got, want := clean(r.story()), clean(want); got != want {
		r.t.Errorf("the log tells\n%s\nwant\n%s", got, want)
	}
}

// messages is the whole conversation of st, sealed messages included, each in
// the form that clients get.
func (r *rig) messages(st *harness.State) []string {
	r.t.Helper()
	var list []string
	for m, err := range r.k.Messages(r.t.Context(), r.id, 0, st.Sealed) {
		if err != nil {
			r.t.Fatal(err)
		}
		list = append(list, string(m))
	}
	for _, m := range st.Messages {
		list = append(list, string(harness.EncodeMessage(m)))
	}
	return list
}

// conversation is the messages of st in short.
func (r *rig) conversation(st *harness.State) string {
	r.t.Helper()
	var parts []string
	for _, raw := range r.messages(st) {
		var m harness.Message
		if err := json.Unmarshal([]byte(raw), &m); err != nil {
			r.t.Fatal(err)
		}
		parts = append(parts, fmt.Sprintf("%s:%s(%s)", m.Role, m.Content, m.Status))
	}
	return strings.Join(parts, " ")
}

func bubble(t *testing.T, f func(t *testing.T)) {
	t.Parallel()
	synctest.Test(t, f)
}

// pass lets time pass. Everything runs in a bubble, so it costs none and
// everybody else has had their say before it is over.
func pass(d time.Duration) {
	time.Sleep(d) // sleep: of the bubble's clock
}
