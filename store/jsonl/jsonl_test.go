package jsonl_test

import (
	"path/filepath"
	"sync"
	"testing"

	"harness"
	"harness/store/jsonl"
	"harness/store/storetest"
)

// open opens the directory and closes it with the test.
func open(t testing.TB, dir string) *jsonl.Store {
	t.Helper()
	st, err := jsonl.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

func TestStore(t *testing.T) { // not parallel: one promise watches the heap
	var dirs sync.Map // of each store of the suite, so that it can be reopened
	opened := func(t testing.TB, dir string) harness.Store {
		st := open(t, dir)
		dirs.Store(st, dir)
		return st
	}
	storetest.Suite{
		Open: func(t testing.TB) harness.Store { return opened(t, filepath.Join(t.TempDir(), ".harness")) },
		Reopen: func(t testing.TB, st harness.Store) harness.Store {
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			dir, _ := dirs.Load(st)
			return opened(t, dir.(string))
		},
	}.Run(t)
}
