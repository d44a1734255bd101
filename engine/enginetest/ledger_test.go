package enginetest

import (
	"context"
	"strings"
	"sync"
	"testing"

	"harness"
)

// claims is an engine that says something else about itself.
func claims(tb testing.TB, tells ...harness.Type) harness.Engine {
	return bent{Engine: honest(tb), abilities: func(a *harness.Abilities) { *a = harness.Abilities{Tells: tells} }}
}

func TestALedgerNoticesWhatIsNotClaimed(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	h := NewHost("ses_1")
	if err := NewLedger(r).Watch(r, claims(t)).Run(t.Context(), h.Begin("think"), h); err != nil {
		t.Fatal(err)
	}
	if len(r.failures) == 0 || !strings.Contains(r.failures[0], "thinking, which its abilities do not have") {
		t.Errorf("the ledger says %q", r.failures)
	}
	r.failures = nil
	e := honest(t)
	if err := NewLedger(r).Watch(r, e).Run(t.Context(), h.Again(), h); err != nil || len(r.failures) > 0 {
		t.Errorf("of an honest engine the ledger says %q, %v", r.failures, err)
	}
}

func TestALedgerNoticesAClaimThatNothingShows(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	l := NewLedger(r)
	h := NewHost("ses_1")
	e := claims(t, "retrieval")
	if err := l.Watch(r, e).Run(t.Context(), h.Begin("say"), h); err != nil {
		t.Fatal(err)
	}
	l.SettleEvents(e.Abilities(), 1)
	if len(r.failures) != 1 || !strings.Contains(r.failures[0], "claims retrieval, and no play shows it") {
		t.Errorf("the ledger says %q", r.failures)
	}
}

// takes is an engine that says which commands and settings it takes.
func takes(tb testing.TB, can harness.Abilities) harness.Engine {
	return bent{Engine: honest(tb), abilities: func(a *harness.Abilities) { *a = can }}
}

func TestALedgerNoticesACommandThatNothingShows(t *testing.T) {
	t.Parallel()
	can := harness.Abilities{Tools: true, Steer: true, Approve: true, Resume: true, Ignores: []string{"max_turns", "system_prompt", "agent_profile"}}
	r := &recorder{TB: t}
	l := NewLedger(r)
	h := NewHost("ses_1")
	if err := l.Watch(r, takes(t, can)).Run(t.Context(), h.Begin("ask"), h); err != nil {
		t.Fatal(err)
	}
	l.Settle(can, 1)
	got := strings.Join(r.failures, "\n")
	for _, what := range []string{"command cancel", "command steer", "command deny", "command resume", "command configure", "setting permission_mode", "setting model", "setting think_level"} {
		if !strings.Contains(got, "claims "+what+", and no play shows it") {
			t.Errorf("the ledger does not miss %s:\n%s", what, got)
		}
	}
	for _, what := range []string{"command submit", "command approve", "command rewind", "max_turns"} {
		if strings.Contains(got, what) {
			t.Errorf("the ledger misses %s:\n%s", what, got)
		}
	}
}

func TestALedgerSeesWhatCommandsCameTo(t *testing.T) {
	t.Parallel()
	e := honest(t)
	l := NewLedger(t)
	w := l.Watch(t, e)
	h := NewHost("ses_1")
	sees := func(what string, when func()) {
		t.Helper()
		if l.saw(what) {
			t.Errorf("%s was seen before it was there", what)
		}
		when()
		if !l.saw(what) {
			t.Errorf("%s was not seen", what)
		}
	}
	run := func(ctx context.Context, prompt string) error {
		err := w.Run(ctx, h.Begin(prompt), h)
		h.End(err)
		return err
	}
	sees("command submit", func() { _ = run(t.Context(), "say") })
	sees("command approve", func() { _ = run(t.Context(), "ask") })
	h.Answer = func(context.Context, harness.ToolUse) (harness.Decision, error) {
		return harness.Decision{Verdict: harness.Deny, Scope: harness.Once, Source: harness.ByUser}, nil
	}
	sees("command deny", func() { _ = run(t.Context(), "ask") })
	sees("command cancel", func() {
		ctx, cancel := context.WithCancelCause(t.Context())
		h.After = func(string) { cancel(errStop) }
		_ = run(ctx, "long")
		h.After = nil
	})
	sees("command steer", func() {
		var both sync.WaitGroup
		turn := h.Begin("steer")
		both.Go(func() { _ = h.Steer(t.Context(), "a word") })
		h.End(w.Run(t.Context(), turn, h))
		both.Wait()
	})
	sees("setting model", func() {
		h.mu.Lock()
		h.state.Config.Model = "other"
		h.mu.Unlock()
		_ = run(t.Context(), "say")
	})
	if !l.saw("command configure") || l.saw("setting think_level") {
		t.Error("the ledger does not know what was configured")
	}
}
