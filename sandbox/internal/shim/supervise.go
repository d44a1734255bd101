//go:build linux

package shim

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"harness/sandbox/internal/cgroup"
	"harness/sandbox/internal/proc"
	"harness/sandbox/internal/seccomp"
)

// supervisor runs one command and is there until nothing of it is left.
type supervisor struct {
	plan   Plan
	pid    int
	pidfd  int
	sweep  func() // begins to kill; once
	begun  chan struct{}
	gone   chan struct{} // closed when there are no children left
	status unix.WaitStatus
}

func newSupervisor(p Plan) (*supervisor, error) {
	s := &supervisor{plan: p, pidfd: -1, begun: make(chan struct{}), gone: make(chan struct{})}
	s.sweep = sync.OnceFunc(func() { close(s.begun) })
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become a subreaper: %w", err)
	}
	return s, nil
}

// start starts the command from a thread of its own, which carries the
// restrictions and lives as long as the shim: the command dies with it.
func (s *supervisor) start() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		started <- s.fork()
		select {}
	}()
	return <-started
}

func (s *supervisor) fork() error {
	program, err := look(s.plan.Args[0], s.plan.Dir, s.plan.Env)
	if err != nil {
		return err
	}
	if err := s.plan.confine(); err != nil {
		return err
	}
	s.pid, err = syscall.ForkExec(program, s.plan.Args, &syscall.ProcAttr{
		Dir: s.plan.Dir, Env: s.plan.Env, Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, PidFD: &s.pidfd},
	})
	switch {
	case errors.Is(err, unix.ENOENT):
		return fmt.Errorf("%s: %w", program, errNotFound)
	case err != nil:
		return fmt.Errorf("exec %s: %w", program, err)
	}
	return nil
}

// confine restricts the calling thread and what it starts.
func (p *Plan) confine() error {
	if p.Landlock == nil && p.Seccomp == nil && !p.DropCaps {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	if p.Landlock != nil {
		if err := p.Landlock.apply(); err != nil {
			return err
		}
	}
	if p.DropCaps {
		if err := dropCaps(); err != nil {
			return err
		}
	}
	if p.Seccomp != nil {
		f, err := seccomp.Filter(*p.Seccomp)
		if err != nil {
			return err
		}
		return seccomp.Apply(f)
	}
	return nil
}

// obey carries out the orders of the parent, until it is gone.
func (s *supervisor) obey(control *os.File) {
	order := make([]byte, 1)
	for {
		n, err := control.Read(order)
		if n == 1 && order[0] == orderTerminate {
			s.terminate()
			continue
		}
		if n == 1 && order[0] == orderKill || err != nil {
			s.sweep()
			_ = cgroup.Kill(s.plan.Cgroup) // this process, too
			return
		}
	}
}

func (s *supervisor) terminate() {
	if s.pidfd >= 0 {
		_ = unix.PidfdSendSignal(s.pidfd, unix.SIGTERM, nil, 0)
	} else {
		_ = unix.Kill(s.pid, unix.SIGTERM)
	}
}

// wait returns the command's code when everything below this process is gone.
func (s *supervisor) wait() int {
	go s.reap()
	select {
	case <-s.gone:
	case <-s.begun:
		killBelow(os.Getpid(), s.gone)
	}
	if s.status.Signaled() {
		return 128 + int(s.status.Signal())
	}
	return s.status.ExitStatus()
}

// reap takes the state of every child and orphan until there are none. When the
// command has ended, the rest must.
func (s *supervisor) reap() {
	defer close(s.gone)
	for flags := 0; ; {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, flags, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil: // no children
			return
		case pid == 0: // somebody outlived the command
			s.sweep()
			flags = 0
		case pid == s.pid:
			s.status = status
			flags = unix.WNOHANG // in most cases nobody is left
		}
	}
}

// killBelow kills every descendant of a process, again and again, until gone is
// closed: a tree may fork while it is read.
func killBelow(pid int, gone <-chan struct{}) {
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		for _, p := range proc.Descendants(pid) {
			if p.State != 'Z' {
				_ = proc.Signal(p, unix.SIGKILL)
			}
		}
		select {
		case <-gone:
			return
		case <-time.After(pause):
		}
	}
}

var errNotFound = errors.New("no such program")

// look finds a program as a shell does, in the PATH of the given environment.
func look(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	var list string
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, "PATH="); ok {
			list = v
		}
	}
	for _, d := range filepath.SplitList(list) {
		if !filepath.IsAbs(d) {
			d = filepath.Join(dir, d)
		}
		p := filepath.Join(d, name)
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && unix.Access(p, unix.X_OK) == nil {
			return p, nil
		}
	}
	return "", fmt.Errorf("%s: %w", name, errNotFound)
}
