package jsonl_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"harness"
)

// TestEverybodyAtOnce makes, reads, lists, snapshots and removes the same few
// threads from many goroutines: every answer is one that the seam allows.
func TestEverybodyAtOnce(t *testing.T) {
	t.Parallel()
	st := open(t, filepath.Join(t.TempDir(), ".harness"))
	var wg sync.WaitGroup
	for i := range 12 {
		id := harness.SessionID(fmt.Sprintf("s%d", i%3))
		wg.Go(func() {
			for range 15 {
				a := new(author)
				for e, err := range st.Read(t.Context(), id, 0) {
					if err != nil {
						allowed(t, err, harness.ErrNotFound)
						break
					}
					a.state.Apply(e)
				}
				allowed(t, st.Append(t.Context(), a.next(id, 2)), harness.ErrConflict)
				snap := harness.Snapshot{Session: id, Seq: a.state.Seq, State: harness.EncodeState(&a.state)}
				allowed(t, st.SaveSnapshot(t.Context(), snap), harness.ErrConflict, harness.ErrNotFound)
				for r, err := range st.List(t.Context(), harness.Filter{}) {
					if allowed(t, err); r.Seq == 0 {
						t.Errorf("listed: %+v", r)
					}
				}
				if i >= 9 {
					allowed(t, st.Remove(t.Context(), id), harness.ErrNotFound)
				}
			}
		})
	}
	wg.Wait()
}

func allowed(t *testing.T, err error, kinds ...*harness.Error) {
	t.Helper()
	for _, k := range kinds {
		if errors.Is(err, k) {
			return
		}
	}
	if err != nil {
		t.Error(err)
	}
}
