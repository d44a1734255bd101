package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"harness"
	"harness/store/sqlite"
)

// What is written to a file that nobody will find again is not acknowledged.
func TestDeletedDatabaseStopsWriting(t *testing.T) {
	for _, name := range []string{"h.db", "h.db-wal"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			st, err := sqlite.Open(t.Context(), filepath.Join(dir, "h.db"), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			add := func(seq harness.Seq) error {
				e := harness.NewEvent("ses_1", seq, time.Now(), "", &harness.Token{Text: "x"})
				s := harness.State{Session: "ses_1", Seq: seq, Status: harness.Idle}
				return st.Append(t.Context(), harness.Commit{Session: "ses_1", After: seq - 1, Events: []harness.Event{e}, Summary: s.Summary()})
			}
			if err := add(1); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := add(2); !errors.Is(err, harness.ErrStorage) {
					t.Errorf("append: %v, want ErrStorage", err)
				}
			}
		})
	}
}
