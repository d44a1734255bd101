package sqlite_test

import (
	"path/filepath"
	"testing"

	"harness"
	"harness/store/sqlite"
	"harness/store/storetest"
)

// open opens the database in dir and closes it with the test.
func open(t testing.TB, dir string) *sqlite.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), filepath.Join(dir, "store.db"), nil)
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
	dirs := newDirs()
	storetest.Suite{
		Open: func(t testing.TB) harness.Store {
			dir := t.TempDir()
			return dirs.keep(open(t, dir), dir)
		},
		Reopen: func(t testing.TB, st harness.Store) harness.Store {
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			dir := dirs.of(st)
			return dirs.keep(open(t, dir), dir)
		},
	}.Run(t)
}
