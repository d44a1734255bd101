//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package temp

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// wanted makes TMPDIR a place that is short enough.
func wanted(t *testing.T) string {
	t.Helper()
	place, err := os.MkdirTemp("/tmp", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(place) })
	t.Setenv("TMPDIR", place)
	return place
}

func TestADirectoryThatNobodyHasIsRemovedByTheNext(t *testing.T) {
	place := wanted(t)
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
	wanted(t)
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

// TestASocketFitsInHoweverLongTMPDIRIs and the directory is gone when it is
// removed.
func TestASocketFitsInHoweverLongTMPDIRIs(t *testing.T) {
	base := t.TempDir()
	for _, n := range []int{maxPlace, maxPlace + 1, 107, 108, 1000} {
		long := base
		for len(long) < n {
			long = filepath.Join(long, strings.Repeat("x", min(100, max(1, n-len(long)-1))))
		}
		if err := os.MkdirAll(long, 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("TMPDIR", long)
		d, err := New()
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Path) > MaxPath {
			t.Errorf("with a TMPDIR of %d bytes the directory is %s, of %d", n, d.Path, len(d.Path))
		}
		if got := strings.HasPrefix(d.Path, long+"/"); got != (len(long) <= maxPlace) {
			t.Errorf("with a TMPDIR of %d bytes it is in there: %v", n, got)
		}
		if err := os.Mkdir(filepath.Join(d.Path, "cc-socks"), 0o700); err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("unix", filepath.Join(d.Path, "cc-socks/4194304.sock"))
		if err != nil {
			t.Error(err)
		} else {
			l.Close()
		}
		if err := d.Remove(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(d.Path); err == nil {
			t.Errorf("%s is still there", d.Path)
		}
	}
}

func TestTheLongPlaceIsTheLastResort(t *testing.T) {
	t.Parallel()
	long := "/" + strings.Repeat("x", maxPlace)
	if got := places(long); got[len(got)-1] != long || len(got) < 2 {
		t.Errorf("the places are %v", got)
	}
	if got := places("/tmp/"); len(got) != 1 || got[0] != "/tmp" {
		t.Errorf("the places are %v", got)
	}
}
