package memory_test

import (
	"testing"

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
