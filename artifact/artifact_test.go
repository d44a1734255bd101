package artifact_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"harness"
	"harness/artifact"
	"harness/store/memory"
)

func open(t *testing.T) (*artifact.Shelf, string) {
	dir := filepath.Join(t.TempDir(), "artifacts")
	s, err := artifact.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, dir
}

func TestWhatIsKeptIsReadUntilItsSessionIsForgotten(t *testing.T) {
	t.Parallel()
	s, dir := open(t)
	t.Run("InADirectory", func(t *testing.T) { keeps(t, s) })
	t.Run("InADepot", func(t *testing.T) { keeps(t, artifact.In(memory.NewDepot(), nil)) })
	t.Run("InADepotSinceLately", func(t *testing.T) {
		old := harness.NewArtifact("ses_old", "diff", "", []byte("old"))
		if err := s.Put(t.Context(), old.ArtifactID, old.Content); err != nil {
			t.Fatal(err)
		}
		both := artifact.In(memory.NewDepot(), s)
		keeps(t, both)
		f, err := both.Open(t.Context(), old.ArtifactID)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if err := both.Forget(t.Context(), "ses_old"); err != nil {
			t.Fatal(err)
		}
		if _, err := both.Open(t.Context(), old.ArtifactID); !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("forgotten: %v", err)
		}
	})
	left, err := filepath.Glob(filepath.Join(dir, "*", ".part-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func keeps(t *testing.T, s harness.Shelf) {
	ids := map[string]string{}
	var wg sync.WaitGroup
	for _, session := range []harness.SessionID{"ses_a", "ses_b", "a:b.c-D"} {
		for _, text := range []string{"", "one", strings.Repeat("two ", 100_000)} {
			a := harness.NewArtifact(session, "tool_output", "", []byte(text))
			ids[a.ArtifactID] = text
			for range 4 { // the same again, at the same time
				wg.Go(func() {
					if err := s.Put(t.Context(), a.ArtifactID, []byte(text)); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
	wg.Wait()
	for id, want := range ids {
		f, err := s.Open(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(f); err != nil || string(got) != want {
			t.Errorf("%s: %d bytes, %v", id, len(got), err)
		}
		f.Close()
	}
	if err := s.Forget(t.Context(), "ses_a"); err != nil {
		t.Fatal(err)
	}
	if err := s.Forget(t.Context(), "ses_never"); err != nil {
		t.Fatal(err)
	}
	for id := range ids {
		_, err := s.Open(t.Context(), id)
		if gone := strings.HasPrefix(id, "art_ses_a."); gone != errors.Is(err, harness.ErrNotFound) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func TestNoNameLeavesTheDirectory(t *testing.T) {
	t.Parallel()
	s, dir := open(t)
	good := harness.NewArtifact("ses_a", "diff", "", []byte("x")).ArtifactID
	name := good[strings.LastIndexByte(good, '.'):]
	for _, id := range []string{"", "art_", "art_" + name, "art_.." + name, "art_../x" + name, "art_a/b" + name, "art_ses_a.../../x", "art_ses_a.0", strings.ToUpper(good), "x" + good} {
		if err := s.Put(t.Context(), id, []byte("x")); !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("Put(%q): %v", id, err)
		}
		if _, err := s.Open(t.Context(), id); !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("Open(%q): %v", id, err)
		}
	}
	if err := s.Forget(t.Context(), ".."); !errors.Is(err, harness.ErrInvalid) {
		t.Errorf("Forget: %v", err)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "ses_a")); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(t.Context(), good, []byte("x")); err == nil {
		t.Error("a link led out of the directory")
	}
}

func TestContentHasABound(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	big := make([]byte, harness.MaxArtifact+1)
	if err := s.Put(t.Context(), harness.NewArtifact("ses_a", "diff", "", big).ArtifactID, big); !errors.Is(err, harness.ErrTooLarge) {
		t.Error(err)
	}
	if err := s.Put(t.Context(), harness.NewArtifact("ses_a", "diff", "", big[1:]).ArtifactID, big[1:]); err != nil {
		t.Error(err)
	}
}
