package bridgetest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"harness/engine/internal/program"
	"harness/internal/temp"
)

// far makes TMPDIR, and a directory for what sessions keep, so deep that no
// socket fits in.
func far(t *testing.T) (base program.Options) {
	t.Helper()
	deep := filepath.Join(t.TempDir(), strings.Repeat("x", 100), strings.Repeat("y", 100))
	base.State = filepath.Join(deep, "agents")
	if err := os.MkdirAll(base.State, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", deep)
	return base
}

// secret is a variable of the server that is for nobody else.
const secret = "HARNESS_TEST_SECRET"

// Short has a program that answers prompts, as [Bridge.Faults] has, far down in
// the file system. It has a directory there in which a socket fits, and which is
// gone when it has ended; and no variable that it was not given.
func (b *Bridge) Short(t *testing.T) {
	t.Setenv(secret, "x")
	s := b.As(t, "fault", far(t), "HARNESS_TEST_STORY=")
	s.Ask("right")
	dir := s.temp()
	l, err := net.Listen("unix", filepath.Join(dir, "cc-socks-and-more.sock"))
	if err != nil {
		t.Errorf("no socket fits into %s: %v", dir, err)
	} else {
		l.Close()
	}
	s.ends(dir)
}

// temp is the temporary directory of the stage's program.
func (s *Stage) temp() (dir string) {
	s.Helper()
	for _, pid := range s.Processes() {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil {
			continue
		}
		for e := range strings.SplitSeq(string(b), "\x00") {
			if v, ok := strings.CutPrefix(e, "TMPDIR="); ok {
				dir = v
			}
			if strings.HasPrefix(e, secret+"=") {
				s.Error("the program has a variable of the server")
			}
		}
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		s.Fatalf("the program's temporary directory is %q: %v, %v", dir, info, err)
	}
	if len(dir) > temp.MaxPath {
		s.Errorf("the program's temporary directory has %d bytes, more than %d: %s", len(dir), temp.MaxPath, dir)
	}
	return dir
}

// ends ends the program, and with it its temporary directory.
func (s *Stage) ends(dir string) {
	s.Helper()
	if err := s.Engine.Close(); err != nil {
		s.Error(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		s.Errorf("%s is still there: %v", dir, err)
	}
}

// Socketed has the real program far down in the file system. The sockets that it
// makes are in its own directory: it makes them for everybody to find if they do
// not fit there.
func (b *Bridge) Socketed(t *testing.T, sockets string) {
	if os.Getenv("LONG")+os.Getenv("CI") == "" {
		t.Skip("CI and LONG=1 look for the sockets of the real program")
	}
	s := b.Real(t, far(t), "say Hello.")
	s.Ask("hello")
	dir := s.temp()
	s.wait("socket in "+dir, func() bool {
		found, err := filepath.Glob(filepath.Join(dir, sockets))
		if err != nil {
			s.Fatal(err)
		}
		return len(found) > 0
	})
	s.ends(dir)
}
