package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"harness"
)

// TestSavingAgainRepairsWhatWasDamaged flips a bit in a head and in a message.
// The log is whole, so whoever has folded it saves the same again.
func TestSavingAgainRepairsWhatWasDamaged(t *testing.T) {
	t.Parallel()
	path := filled(t)
	st := open(t, filepath.Dir(path))
	head := harness.Snapshot{Session: "a", Seq: 4, State: []byte("the head at four"), Sealed: [][]byte{[]byte("the first message"), []byte("the second message")}}
	if err := errors.Join(st.SaveSnapshot(t.Context(), head), st.Close()); err != nil {
		t.Fatal(err)
	}
	rewrite(t, path, func(b []byte) []byte {
		for _, text := range []string{"the head at four", "the second message"} {
			at := bytes.Index(b, []byte(text))
			if at < 0 {
				t.Fatalf("%q is not in the file", text)
			}
			b[at] ^= 4
		}
		return b
	})
	st = open(t, filepath.Dir(path))
	messages := func() (all []string, err error) {
		for m, err := range st.Messages(t.Context(), "a", 0, 2) {
			if err != nil {
				return all, err
			}
			all = append(all, string(m))
		}
		return all, nil
	}
	if _, err := st.LoadSnapshot(t.Context(), "a", 0); !errors.Is(err, harness.ErrNotFound) {
		t.Fatalf("a damaged head: %v", err)
	}
	if _, err := messages(); !errors.Is(err, harness.ErrCorrupt) {
		t.Fatalf("a damaged message: %v", err)
	}
	for range 2 { // the second changes nothing
		if err := st.SaveSnapshot(t.Context(), head); err != nil {
			t.Fatal(err)
		}
		snap, err := st.LoadSnapshot(t.Context(), "a", 0)
		if err != nil || snap.Seq != 4 || !bytes.Equal(snap.State, head.State) {
			t.Errorf("the head is %q at %d, %v", snap.State, snap.Seq, err)
		}
		if all, err := messages(); err != nil || fmt.Sprintf("%s", all) != fmt.Sprintf("%s", head.Sealed) {
			t.Errorf("the messages are %q, %v", all, err)
		}
	}
}
