package faulty_test

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"harness"
	"harness/store/faulty"
	"harness/store/sqlite"
	"harness/store/storetest"
)

type powers interface {
	harness.Store
	harness.Snapshotter
	harness.Remover
	harness.Rulebook
}

// suite is the store suite for a wrapped sqlite.
func suite(wrap func(harness.Store) harness.Store) storetest.Suite {
	var paths sync.Map
	open := func(t testing.TB, path string) harness.Store {
		inner, err := sqlite.Open(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { inner.Close() })
		st := wrap(inner)
		paths.Store(st, path)
		return st
	}
	return storetest.Suite{
		Open: func(t testing.TB) harness.Store { return open(t, filepath.Join(t.TempDir(), "store.db")) },
		Reopen: func(t testing.TB, st harness.Store) harness.Store {
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			path, _ := paths.Load(st)
			return open(t, path.(string))
		},
	}
}

func TestAWrapperWithoutFaultsIsTheStore(t *testing.T) { // not parallel: one promise watches the heap
	suite(func(st harness.Store) harness.Store {
		return faulty.Wrap(st, func(faulty.Op) faulty.Fault { return faulty.Fault{} })
	}).Run(t)
}

// TestACallerThatRepeatsSeesNoFaultBefore: with one call in four refused and
// every call delayed, a caller that tries again sees a store that keeps every
// promise, because a refused call has no effect.
func TestACallerThatRepeatsSeesNoFaultBefore(t *testing.T) { // not parallel: one promise watches the heap
	suite(func(st harness.Store) harness.Store {
		rnd := rand.New(rand.NewPCG(7, 7))
		return &stubborn{faulty.Wrap(st, func(op faulty.Op) faulty.Fault {
			if rnd.IntN(4) == 0 {
				return faulty.Fault{Before: errInjected}
			}
			return faulty.Fault{Wait: func(context.Context) error { runtime.Gosched(); return nil }}
		}).(powers)}
	}).Run(t)
}

// stubborn repeats a call for as long as it is refused by the plan.
type stubborn struct{ powers }

func repeat(call func() error) error {
	for {
		if err := call(); !errors.Is(err, errInjected) {
			return err
		}
	}
}

func (s *stubborn) Append(ctx context.Context, c harness.Commit) error {
	return repeat(func() error { return s.powers.Append(ctx, c) })
}

func (s *stubborn) SaveSnapshot(ctx context.Context, snap harness.Snapshot) error {
	return repeat(func() error { return s.powers.SaveSnapshot(ctx, snap) })
}

func (s *stubborn) LoadSnapshot(ctx context.Context, id harness.SessionID, at harness.Seq) (snap harness.Snapshot, err error) {
	err = repeat(func() (err error) { snap, err = s.powers.LoadSnapshot(ctx, id, at); return err })
	return snap, err
}

func (s *stubborn) Remove(ctx context.Context, id harness.SessionID) error {
	return repeat(func() error { return s.powers.Remove(ctx, id) })
}

func (s *stubborn) RevokeRule(ctx context.Context, id harness.RuleID) error {
	return repeat(func() error { return s.powers.RevokeRule(ctx, id) })
}

func (s *stubborn) Rules(ctx context.Context, directory string) iter.Seq2[harness.Rule, error] {
	return repeatStream(func() iter.Seq2[harness.Rule, error] { return s.powers.Rules(ctx, directory) })
}

func (s *stubborn) Read(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Event, error] {
	return repeatStream(func() iter.Seq2[harness.Event, error] { return s.powers.Read(ctx, id, after) })
}

func (s *stubborn) List(ctx context.Context, f harness.Filter) iter.Seq2[harness.Summary, error] {
	return repeatStream(func() iter.Seq2[harness.Summary, error] { return s.powers.List(ctx, f) })
}

func (s *stubborn) Messages(ctx context.Context, id harness.SessionID, from, to int) iter.Seq2[[]byte, error] {
	return repeatStream(func() iter.Seq2[[]byte, error] { return s.powers.Messages(ctx, id, from, to) })
}

// repeatStream begins again a stream that was refused at its beginning.
func repeatStream[T any](begin func() iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for again := true; again; {
			again = false
			for v, err := range begin() {
				if again = errors.Is(err, errInjected); again {
					break
				}
				if !yield(v, err) {
					return
				}
			}
		}
	}
}
