package storetest

import (
	"testing"

	"harness"
	"harness/store/memory"
)

// powers is a store with everything, for wrong stores to embed.
type powers interface {
	harness.Store
	harness.Snapshotter
	harness.Remover
	harness.Rulebook
	harness.RuleKeeper
	harness.Counter
}

// wrongly is a suite for a store that is right but for what wrap does to it.
func wrongly(wrap func(powers) harness.Store) Suite {
	return Suite{
		Open:   func(testing.TB) harness.Store { return wrap(memory.New()) },
		Reopen: func(_ testing.TB, st harness.Store) harness.Store { return st },
	}
}

// TestAWrongStoreFailsExactlyThePromiseItBreaks is the suite's own test: every
// promise has a store that breaks it, and no other promise minds.
func TestAWrongStoreFailsExactlyThePromiseItBreaks(t *testing.T) {
	t.Parallel()
	for _, broken := range promises {
		s, ok := wrong[broken.name]
		if !ok {
			t.Errorf("%s: no store breaks it", broken.name)
		}
		for _, p := range promises {
			if p.name == measuring && p.name != broken.name {
				continue // slow, and minds nothing that another does not
			}
			switch failure := failureOf(t, p, s); {
			case p.name == broken.name && failure == "":
				t.Errorf("%s: its wrong store passes", broken.name)
			case p.name == broken.name:
				t.Logf("%s: %s", p.name, failure)
			case failure != "":
				t.Errorf("the wrong store of %s also fails %s: %s", broken.name, p.name, failure)
			}
		}
	}
	if len(wrong) != len(promises) {
		t.Errorf("%d wrong stores for %d promises", len(wrong), len(promises))
	}
}

// TestAStoreWithoutPowersIsNotAskedForThem shows that optional means optional.
func TestAStoreWithoutPowersIsNotAskedForThem(t *testing.T) { // not parallel: one promise watches the heap
	Test(t, func(testing.TB) harness.Store { return struct{ harness.Store }{memory.New()} })
}
