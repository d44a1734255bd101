package enginetest

import (
	"strings"
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
	l.Settle(e.Abilities(), 1)
	if len(r.failures) != 1 || !strings.Contains(r.failures[0], "claims to tell of retrieval") {
		t.Errorf("the ledger says %q", r.failures)
	}
}
