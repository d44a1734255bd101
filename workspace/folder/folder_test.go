//go:build unix

package folder_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"harness/workspace/folder"
)

func TestNoCallFollowsALinkOrTakesAPath(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(outside, "f"), []byte("outside"), 0o600))
	must(t, os.Symlink(outside, filepath.Join(dir, "d")))
	must(t, os.Symlink(filepath.Join(outside, "f"), filepath.Join(dir, "l")))
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	f, err := folder.Open(dir)
	must(t, err)
	defer f.Close()
	if _, err := f.Open("d"); err == nil {
		t.Error("a link was opened as a directory")
	}
	for _, name := range []string{"l", "pipe", "d"} {
		if _, _, err := f.Read(name); err == nil {
			t.Errorf("%s was read", name)
		}
		if _, _, _, err := f.ReadFull(name, make([]byte, 10)); err == nil {
			t.Errorf("%s was read", name)
		}
		if err := f.Create(name, nil, 0o600); !errors.Is(err, os.ErrExist) {
			t.Errorf("%s was created: %v", name, err)
		}
		if err := f.ChmodFile(name, 0o777); err == nil {
			t.Errorf("%s was given a mode", name)
		}
	}
	for _, name := range []string{"", ".", "..", "d/f", "/etc", "a\x00"} {
		_, openErr := f.Open(name)
		_, statErr := f.Stat(name)
		_, linkErr := f.Readlink(name)
		for i, err := range []error{openErr, statErr, linkErr, f.Create(name, nil, 0), f.Remove(name, true), f.Mkdir(name, 0), f.Symlink("x", name), f.Move(f, "l", name), f.Move(f, name, "x")} {
			if !errors.Is(err, folder.ErrName) {
				t.Errorf("call %d took %q: %v", i, name, err)
			}
		}
	}
	if b, _ := os.ReadFile(filepath.Join(outside, "f")); string(b) != "outside" {
		t.Errorf("the file outside is %q", b)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
