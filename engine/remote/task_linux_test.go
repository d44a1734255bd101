package remote_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/kernel"
	"harness/protocol/runner"
	"harness/store/memory"
)

// chief is an engine that does what its prompt says: "do X" hands X on and says
// the answer, "hurry do X" does not wait for it, "burn" uses tokens until it is
// stopped, "ask" asks, "hang" hangs, and anything else is said.
type chief struct{}

func (chief) Abilities() harness.Abilities {
	return harness.Abilities{Tools: true, Approve: true, Tells: []harness.Type{"subagent_event", "usage"}}
}

func (c chief) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	prompt := harness.PlainText(t.Parts)
	verb, rest, _ := strings.Cut(prompt, " ")
	switch verb {
	case "do":
		return c.hand(ctx, ctx, t, h, rest)
	case "hurry":
		short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		_ = c.hand(short, ctx, t, h, strings.TrimPrefix(rest, "do "))
		return h.Emit(ctx, &harness.Token{Text: "gave up"})
	case "burn":
		for i := 1; ; i++ {
			if err := h.Emit(ctx, &harness.Usage{InputTokens: int64(100 * i)}); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(5 * time.Millisecond):
			}
		}
	case "hang":
		<-ctx.Done()
		return context.Cause(ctx)
	case "ask":
		if err := h.Emit(ctx, &harness.ToolCall{ToolCallID: "c", Name: "bash"}); err != nil {
			return err
		}
		d, err := h.Ask(ctx, harness.ToolUse{Call: "c", Tool: "bash", Access: harness.AccessExecute})
		if err != nil {
			return err
		}
		prompt = string(d.Verdict)
	}
	return h.Emit(ctx, &harness.Token{Text: prompt})
}

func (chief) hand(waits, ctx context.Context, t harness.Turn, h harness.Host, task string) error {
	s, ok := h.(harness.Spawner)
	if !ok {
		return h.Emit(ctx, &harness.Token{Text: "alone"})
	}
	event := harness.SubagentEvent{ParentSessionID: t.Session, Status: harness.SubagentRunning}
	answer, err := s.Spawn(waits, harness.NewSession{Title: "a task"}, task, func(id harness.SessionID) {
		event.AgentID = string(id)
		_ = h.Emit(ctx, &event)
	})
	if err != nil {
		return err
	}
	event.Status = harness.SubagentCompleted
	if err := h.Emit(ctx, &event); err != nil {
		return err
	}
	return h.Emit(ctx, &harness.Token{Text: "got " + answer})
}

// child waits for the session that the house's session has handed work to.
func (h *house) child() harness.SessionID {
	h.Helper()
	var id harness.SessionID
	h.see("a task", func(*harness.State) bool {
		for e, err := range h.Read(h.Context(), h.id, 0) {
			if err != nil {
				h.Fatal(err)
			}
			if p, ok := e.Payload.(*harness.SubagentEvent); ok {
				id = harness.SessionID(p.AgentID)
			}
		}
		return id != ""
	})
	return id
}

// A run hands work on to a session with a runner of its own, as deep as sessions
// may, and hears its answer.
func TestATaskOfARunIsDoneByASessionOfItsOwn(t *testing.T) {
	t.Parallel()
	h := enter(t, "chief")
	h.submit("do do look")
	s := h.see("the answer", idle)
	if got := said(s); got != "got got look" {
		t.Errorf("said %q", got)
	}
	var below []harness.SessionID
	for sum, err := range h.List(t.Context(), harness.Filter{Limit: 100}) {
		if err != nil {
			t.Fatal(err)
		}
		if sum.SpawnedBy == h.id {
			below = append(below, sum.Session)
		}
	}
	if len(below) != 1 {
		t.Fatalf("below are %q", below)
	}
	c, err := h.At(t.Context(), below[0], 0)
	if err != nil || c.Title != "a task" || c.Directory != s.Directory || c.Config.PermissionMode != s.Config.PermissionMode || c.Depth != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	h.submit("do do do do deep")
	s = h.see("the end", func(s *harness.State) bool { return s.Turn == nil && s.Turns == 2 })
	if !strings.Contains(s.Error, "nest deeper than 3") {
		t.Errorf("error %q", s.Error)
	}
}

// Who is cancelled, or does not wait any longer, leaves nobody working for it.
func TestATaskIsStoppedWithWhoeverWaitsForIt(t *testing.T) {
	t.Parallel()
	for _, prompt := range []string{"do hang", "hurry do hang"} {
		t.Run(prompt, func(t *testing.T) {
			t.Parallel()
			h := enter(t, "chief")
			h.submit(prompt)
			parent, child := h.id, h.child()
			h.id = child
			h.see("its turn", func(s *harness.State) bool { return s.Turn != nil || s.Turns > 0 })
			h.id = parent
			if prompt == "do hang" {
				h.do(harness.Cancel{})
			}
			s := h.see("the end", func(s *harness.State) bool { return s.Turn == nil })
			if prompt != "do hang" && said(s) != "gave up" {
				t.Errorf("said %q", said(s))
			}
			h.id = child
			s = h.see("its end", func(s *harness.State) bool { return s.Turn == nil })
			if s.Status != harness.Idle || s.Turns != 1 {
				t.Errorf("the task is %s after %d turns", s.Status, s.Turns)
			}
		})
	}
}

// A server that starts again finds the run and its task, and each goes on.
func TestATaskOutlivesTheServer(t *testing.T) {
	t.Parallel()
	h := enter(t, "chief")
	h.submit("do ask")
	child := h.child()
	parent := h.id
	h.id = child
	h.see("the question", func(s *harness.State) bool { return len(s.Pending) == 1 })
	h.restart()
	s := h.see("the question", func(s *harness.State) bool { return len(s.Pending) == 1 })
	h.do(harness.Answer{Approval: s.Pending[0].ID, Decision: harness.Decision{Verdict: harness.Allow, Scope: harness.Once}})
	h.id = parent
	s = h.see("the answer", idle)
	if got := said(s); got != "got allow" || s.Turns != 1 {
		t.Errorf("said %q in %d turns", got, s.Turns)
	}
}

// Budgets hold for the whole tree, also where its sessions have runners.
func TestBudgetsCountTheTasksOfRuns(t *testing.T) {
	t.Parallel()
	h := enter(t, "chief")
	h.do(harness.Configure{Patch: harness.ConfigPatch{Health: &harness.HealthPolicy{TotalTokens: new(int64(1000))}}})
	h.submit("do burn")
	child := h.child()
	h.see("the limit", func(s *harness.State) bool {
		return len(s.Pending) == 1 && s.Pending[0].Tool == harness.HealthTool
	})
	parent := h.id
	h.id = child
	s := h.see("the end of the task", func(s *harness.State) bool { return s.Turn == nil && s.Turns == 1 })
	used := 0
	for e, err := range h.Read(t.Context(), child, 0) {
		if u, ok := e.Payload.(*harness.Usage); err == nil && ok {
			used = int(u.InputTokens)
		}
	}
	if s.Status != harness.Idle || used < 1000 {
		t.Errorf("the task is %s after %d tokens", s.Status, used)
	}
	h.id = parent
	h.do(harness.Cancel{})
	h.see("the end", func(s *harness.State) bool { return s.Turn == nil })
}

// A runner that does one turn at a time is not asked to hand work on, and says so.
func TestNothingIsHandedOnAtARunnerForOneTurn(t *testing.T) {
	t.Parallel()
	e := serve(t, runner.New(chief{}, nil).ServeHTTP)
	h := &house{T: t, dir: t.TempDir(), store: memory.New()}
	h.Kernel = kernel.New(h.store, map[string]harness.Engine{"url": e}, &kernel.Options{Engine: "url", Window: -1, IdleAfter: 20 * time.Millisecond})
	t.Cleanup(func() { h.Close() })
	var err error
	if h.id, err = h.Create(t.Context(), harness.NewSession{Directory: h.dir}); err != nil {
		t.Fatal(err)
	}
	h.submit("do look")
	if s := h.see("the end", idle); said(s) != "alone" {
		t.Errorf("said %q", said(s))
	}
	if can := e.Abilities(); slices.Contains(can.Tells, "subagent_event") || !slices.Contains(can.Tells, "usage") {
		t.Errorf("it tells of %q", can.Tells)
	}
}
