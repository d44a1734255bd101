package jsonl_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"harness"
	"harness/store/jsonl"
)

// TestLosingSnapshotsLosesNothing deletes and damages what is derived.
func TestLosingSnapshotsLosesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".harness")
	st := open(t, dir)
	mustAppend(t, st, new(author).next("a", 9))
	save := func(st *jsonl.Store, seq harness.Seq, first int, sealed ...string) {
		s := harness.Snapshot{Session: "a", Seq: seq, State: fmt.Appendf(nil, `{"seq":%d}`, seq), First: first}
		for _, m := range sealed {
			s.Sealed = append(s.Sealed, []byte(m))
		}
		if err := st.SaveSnapshot(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	newest := func(st *jsonl.Store) harness.Seq {
		s, err := st.LoadSnapshot(t.Context(), "a", 0)
		if err != nil && !errors.Is(err, harness.ErrNotFound) {
			t.Fatal(err)
		}
		return s.Seq
	}
	save(st, 3, 0, "m0")
	save(st, 6, 1, "m1")
	if got := newest(st); got != 6 {
		t.Fatalf("newest is %d", got)
	}
	snapshots := file(dir, "a", "snapshots")
	head := filepath.Join(snapshots, fmt.Sprintf("%020d.head", 6))
	b := load(t, head)
	b[len(b)-2] ^= 1
	store(t, head, b)
	if got := newest(st); got != 3 {
		t.Errorf("with a damaged head: %d", got)
	}
	save(st, 6, 1, "m1") // repairs
	if got := newest(st); got != 6 {
		t.Errorf("saved again: %d", got)
	}
	if err := os.Truncate(filepath.Join(snapshots, "messages"), 2); err != nil { // m1 is lost
		t.Fatal(err)
	}
	if got := newest(st); got != 3 {
		t.Errorf("without a message of the newest: %d", got)
	}
	save(st, 6, 1, "m1")
	if got := newest(st); got != 6 {
		t.Errorf("saved again: %d", got)
	}
	if err := os.RemoveAll(snapshots); err != nil {
		t.Fatal(err)
	}
	if got := newest(st); got != 0 {
		t.Errorf("without any: %d", got)
	}
	mustAgree(t, st, "a")
}

func TestHeadsAreThinned(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".harness")
	st := open(t, dir)
	const last = 200
	mustAppend(t, st, new(author).next("a", last))
	for seq := harness.Seq(1); seq <= last; seq++ {
		if err := st.SaveSnapshot(t.Context(), harness.Snapshot{Session: "a", Seq: seq, State: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
	}
	names, err := os.ReadDir(file(dir, "a", "snapshots"))
	if err != nil || len(names) > 60 { // of 200
		t.Fatalf("%d files, %v", len(names), err)
	}
	for _, at := range []harness.Seq{last, last - 1, last - 7} {
		if s, err := st.LoadSnapshot(t.Context(), "a", at); err != nil || s.Seq != at {
			t.Errorf("at %d: %d, %v", at, s.Seq, err)
		}
	}
	if s, err := st.LoadSnapshot(t.Context(), "a", 100); err != nil || s.Seq > 100 {
		t.Errorf("at 100: %d, %v", s.Seq, err)
	}
}
