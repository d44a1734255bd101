//go:build linux

package temp

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestADirectoryThatNobodyHasIsRemovedByTheNext(t *testing.T) {
	place := t.TempDir()
	t.Setenv("TMPDIR", place)
	mine, err := New()
	if err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(place, prefix+"left")
	if err := os.MkdirAll(filepath.Join(left, "closed", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(left, "closed"), 0); err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(place, prefix+"link")); err != nil {
		t.Fatal(err)
	}
	other, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{left: false, mine.Path: true, other.Path: true, elsewhere: true} {
		if _, err := os.Stat(name); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, err == nil, want)
		}
	}
	for _, d := range []*Dir{mine, other} {
		if err := d.Remove(); err != nil {
			t.Error(err)
		}
	}
}

func TestManyMakersTakeNothingFromEachOther(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var makers sync.WaitGroup
	for range 8 {
		makers.Go(func() {
			for range 50 {
				d, err := New()
				if err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(filepath.Join(d.Path, "x"), nil, 0o600); err != nil {
					t.Error(err)
				}
				if err := d.Remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	makers.Wait()
}
