package sqlite_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"harness"
	"harness/store/sqlite"
)

func TestLookReadsBesideTheOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	if _, err := sqlite.Look(t.Context(), path); !errors.Is(err, harness.ErrNotFound) {
		t.Fatalf("look at nothing: %v, want ErrNotFound", err)
	}
	owner, err := sqlite.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	look, err := sqlite.Look(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer look.Close()
	for seq := range harness.Seq(3) {
		e := harness.NewEvent("ses_1", seq+1, time.Now(), "", &harness.Token{Text: "x"})
		st := harness.State{Session: "ses_1", Seq: seq + 1, Status: harness.Idle}
		c := harness.Commit{Session: "ses_1", After: seq, Events: []harness.Event{e}, Summary: st.Summary()}
		if err := owner.Append(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		n := harness.Seq(0)
		for _, err := range look.Read(t.Context(), "ses_1", 0) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != seq+1 {
			t.Errorf("after %d appends the looker sees %d events", seq+1, n)
		}
		c.After, c.Events = seq+1, []harness.Event{harness.NewEvent("ses_1", seq+2, time.Now(), "", &harness.Token{Text: "y"})}
		if err := look.Append(t.Context(), c); !errors.Is(err, harness.ErrStorage) {
			t.Errorf("append to a look: %v, want ErrStorage", err)
		}
	}
}
