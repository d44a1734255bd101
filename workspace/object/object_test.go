package object_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"harness/workspace/object"
)

func open(t *testing.T, dir string) *object.Store {
	t.Helper()
	s, err := object.Open(t.Context(), dir, nil)
	must(t, err)
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func pieces(n int) [][]byte {
	var list [][]byte
	for i := range n {
		list = append(list, bytes.Repeat([]byte(fmt.Sprintf("piece %d\n", i)), i))
	}
	return list
}

func store(t *testing.T, s *object.Store, list [][]byte) {
	t.Helper()
	w, err := s.Writer()
	must(t, err)
	var scratch []byte
	for _, p := range list {
		_, err := w.Put(p, &scratch)
		must(t, err)
	}
	must(t, w.Commit())
}

func TestWhatWasCommittedIsThereForEverybody(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	early, s := open(t, dir), open(t, dir)
	defer early.Close()
	if ok, err := early.Has(object.Sum(nil)); ok || err != nil {
		t.Fatal(ok, err)
	}
	list := pieces(200)
	store(t, s, list)
	must(t, s.Close())
	for _, p := range list {
		if got, err := early.Get(object.Sum(p)); err != nil || !bytes.Equal(got, p) {
			t.Fatalf("%d bytes, %v; want %d", len(got), err, len(p))
		}
	}
	if _, err := early.Get(object.ID{1}); !errors.Is(err, object.ErrMissing) {
		t.Error(err)
	}
}

func TestWhatWasNotCommittedLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	defer s.Close()
	w, err := s.Writer()
	must(t, err)
	var scratch []byte
	_, err = w.Put([]byte("x"), &scratch)
	must(t, err)
	w.Abort()
	for _, sub := range []string{"temp", "packs"} {
		if left, _ := os.ReadDir(filepath.Join(dir, sub)); len(left) != 0 {
			t.Errorf("%s has %v", sub, left)
		}
	}
}

// TestEveryFlippedByteIsNoticed: damage is an error, never other content.
func TestEveryFlippedByteIsNoticed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list := pieces(30)
	s := open(t, dir)
	store(t, s, list)
	s.Close()
	names, _ := filepath.Glob(filepath.Join(dir, "packs", "*"))
	whole, err := os.ReadFile(names[0])
	must(t, err)
	for i := 0; i < len(whole); i += 7 {
		broken := bytes.Clone(whole)
		broken[i] ^= 0x20
		must(t, os.WriteFile(names[0], broken, 0o600))
		s := open(t, dir)
		for _, p := range list {
			got, err := s.Get(object.Sum(p))
			if err == nil && !bytes.Equal(got, p) {
				t.Fatalf("byte %d: other content without an error", i)
			}
		}
		s.Close()
	}
	for _, n := range []int{0, 1, len(whole) / 2, len(whole) - 1} {
		must(t, os.WriteFile(names[0], whole[:n], 0o600))
		s := open(t, dir)
		if _, err := s.Get(object.Sum(list[3])); !errors.Is(err, object.ErrDamaged) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
		s.Close()
	}
}

func TestCollectWaitsForThoseWhoWorkAndTheyForIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	nothing := func(*object.Store, func(object.ID) bool) error { return nil }
	if _, err := object.Collect(ctx, dir, nil, nothing); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("beside a user of the store: %v", err)
	}
	must(t, s.Close())
	_, err := object.Collect(t.Context(), dir, nil, func(*object.Store, func(object.ID) bool) error {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if _, err := object.Open(ctx, dir, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("beside a collection: %v", err)
		}
		return nil
	})
	must(t, err)
}

func TestCollectKeepsExactlyWhatIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list := pieces(100)
	s := open(t, dir)
	store(t, s, list[:60])
	store(t, s, list[40:])
	s.Close()
	_, err := object.Collect(t.Context(), dir, nil, func(_ *object.Store, keep func(object.ID) bool) error {
		for i, p := range list {
			if i%3 == 0 && !keep(object.Sum(p)) {
				t.Error("a piece was new twice")
			}
		}
		return nil
	})
	must(t, err)
	s = open(t, dir)
	defer s.Close()
	for i, p := range list {
		_, err := s.Get(object.Sum(p))
		if want := i%3 == 0; (err == nil) != want {
			t.Errorf("piece %d: %v", i, err)
		}
	}
}
