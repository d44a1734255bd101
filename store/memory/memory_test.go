package memory_test

import (
	"testing"
	"time"

	"harness"
	"harness/store/memory"
	"harness/store/storetest"
)

func TestStore(t *testing.T) { // not parallel: one promise watches the heap
	storetest.Suite{
		Open: func(t testing.TB) harness.Store {
			st := memory.New()
			t.Cleanup(func() { st.Close() })
			return st
		},
		// A clone is what the next process finds.
		Reopen: func(t testing.TB, st harness.Store) harness.Store { return st.(*memory.Store).Clone() },
	}.Run(t)
}

func TestACloneAndItsOriginalPartWays(t *testing.T) {
	t.Parallel()
	commit := func(after harness.Seq, text string) harness.Commit {
		e := harness.NewEvent("a", after+1, time.UnixMilli(1), "", &harness.Token{Text: text})
		return harness.Commit{Session: "a", After: after, Events: []harness.Event{e}, Summary: harness.Summary{Session: "a", Title: text}}
	}
	last := func(st harness.Store) (text string) {
		for e, err := range st.Read(t.Context(), "a", 0) {
			if err != nil {
				t.Fatal(err)
			}
			text = e.Payload.(*harness.Token).Text
		}
		return text
	}
	st := memory.New()
	for after := range harness.Seq(5) {
		if err := st.Append(t.Context(), commit(after, "shared")); err != nil {
			t.Fatal(err)
		}
	}
	clone := st.Clone()
	for s, text := range map[harness.Store]string{st: "original", clone: "clone"} {
		if err := s.Append(t.Context(), commit(5, text)); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := last(st), last(clone); a != "original" || b != "clone" {
		t.Fatalf("the original ends with %q, the clone with %q", a, b)
	}
}
