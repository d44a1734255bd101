package postgrestest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Kill ends the server and every process of it at once, as a power failure
// would if the disk kept what was flushed, and waits until they are gone.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	main := s.pid()
	if main == 0 {
		s.guard.Close()
		return
	}
	signal := func(pid int, sig syscall.Signal) {
		if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
	signal(main, syscall.SIGSTOP) // so that it starts no other
	pids := append(children(main), main)
	for _, pid := range pids {
		signal(pid, syscall.SIGKILL)
	}
	s.guard.Close()
	end := time.Now().Add(patience)
	for every := time.NewTicker(2 * time.Millisecond); slices.ContainsFunc(pids, runs); <-every.C {
		if time.Now().After(end) {
			t.Fatal("the server's processes do not end")
		}
	}
}

// RestartOn is Restart on a TCP port of this machine as well, with further
// arguments.
func (s *Server) RestartOn(t testing.TB, port int, args ...string) {
	t.Helper()
	s.port = port
	s.args = append(s.args, append(args, "-c", "listen_addresses=127.0.0.1")...)
	s.Restart(t)
}

// Restart starts a server again that was killed.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	os.Remove(filepath.Join(s.data(), "postmaster.pid")) // its processes are gone; another may have their number
	if err := s.start(false); err != nil {
		t.Fatal(err)
	}
}

// pid is the server's first process, 0 if it has none. A server that gave up may
// have left a number that is somebody else's now.
func (s *Server) pid() int {
	lock, _ := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	first, _, _ := strings.Cut(string(lock), "\n")
	pid, _ := strconv.Atoi(first)
	if command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err != nil || !strings.Contains(string(command), s.data()) {
		return 0
	}
	return pid
}

func children(pid int) (pids []int) {
	list, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for child := range strings.FieldsSeq(string(list)) {
		if pid, err := strconv.Atoi(child); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// runs reports whether a process is more than a name that nobody has asked for.
func runs(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}
