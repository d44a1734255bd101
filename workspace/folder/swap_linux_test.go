package folder_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"harness/workspace/folder"
)

func TestNamesAreExchangedAtOneInstant(t *testing.T) {
	t.Parallel()
	a, b := t.TempDir(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(a, "x"), []byte("one"), 0o600))
	must(t, os.WriteFile(filepath.Join(b, "y"), []byte("two"), 0o600))
	from, err := folder.Open(a)
	must(t, err)
	defer from.Close()
	to, err := folder.Open(b)
	must(t, err)
	defer to.Close()
	must(t, to.Swap(from, "x", "y"))
	for path, want := range map[string]string{filepath.Join(a, "x"): "two", filepath.Join(b, "y"): "one"} {
		if got, err := os.ReadFile(path); string(got) != want {
			t.Errorf("%s holds %q, want %q; %v", path, got, want, err)
		}
	}
	if err := to.Swap(from, "x", "none"); err == nil {
		t.Error("exchanged with nothing")
	}
	if err := to.Swap(from, "../x", "y"); err == nil {
		t.Error("a path was taken for a name")
	}
}

// A file that somebody else could still tell from a new one stays as it is.
func TestOnlyAFileThatNobodyKnowsIsFilledAgain(t *testing.T) {
	t.Parallel()
	for name, know := range map[string]func(t *testing.T, path string){
		"nobody": nil,
		"a reader": func(t *testing.T, path string) {
			f, err := os.Open(path)
			must(t, err)
			t.Cleanup(func() { f.Close() })
		},
		"a writer": func(t *testing.T, path string) {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			must(t, err)
			t.Cleanup(func() { f.Close() })
		},
		"a mapping": func(t *testing.T, path string) {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			must(t, err)
			m, err := unix.Mmap(int(f.Fd()), 0, 3, unix.PROT_READ, unix.MAP_SHARED)
			must(t, err)
			must(t, f.Close())
			t.Cleanup(func() { unix.Munmap(m) })
		},
		"another name": func(t *testing.T, path string) { must(t, os.Link(path, path+"-too")) },
		"an attribute": func(t *testing.T, path string) {
			if err := unix.Setxattr(path, "user.harness", []byte("x"), 0); err != nil {
				t.Skip(err)
			}
		},
		"a link": func(t *testing.T, path string) {
			must(t, os.Rename(path, path+"-there"))
			must(t, os.Symlink(path+"-there", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			must(t, os.WriteFile(path, []byte("old"), 0o600))
			if know != nil {
				know(t, path)
			}
			f, err := folder.Open(dir)
			must(t, err)
			defer f.Close()
			ok, err := f.Refill("f", []byte("new content"), 0o640)
			must(t, err)
			want := map[bool]string{true: "new content", false: "old"}[know == nil]
			got, err := os.ReadFile(path)
			must(t, err)
			if ok != (know == nil) || string(got) != want {
				t.Errorf("filled: %v, it holds %q, want %q", ok, got, want)
			}
			if info, err := os.Stat(path); know == nil && (err != nil || info.Mode().Perm() != 0o640) {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
		})
	}
}
