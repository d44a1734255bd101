//go:build linux

package shim

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"harness/sandbox/internal/cgroup"
	"harness/sandbox/internal/proc"
	"harness/sandbox/internal/run"
)

// Self is the running program, which is its own shim.
const Self = "/proc/self/exe"

// Launch returns how to run a plan under a shim. start starts a command; it is
// where a control group is entered.
func Launch(program string, p Plan, cgroupFD int, start func(*exec.Cmd) error) (run.Plan, error) {
	file, err := p.File()
	if err != nil {
		return run.Plan{}, err
	}
	control, orders, err := os.Pipe()
	if err != nil {
		file.Close()
		return run.Plan{}, err
	}
	report, words, err := os.Pipe()
	if err != nil {
		file.Close()
		control.Close()
		orders.Close()
		return run.Plan{}, err
	}
	cmd := &exec.Cmd{
		Path: program, Args: []string{Name}, Dir: "/",
		Env:         []string{"GOMAXPROCS=2", "GOGC=off", "GOMEMLIMIT=64MiB", "GORACE=atexit_sleep_ms=0"}, // it only waits, and not at its end
		ExtraFiles:  []*os.File{file, control, words},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if cgroupFD >= 0 {
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, cgroupFD
	}
	order := func(o byte) error {
		_, err := orders.Write([]byte{o})
		return err
	}
	theirs := func() {
		for _, f := range cmd.ExtraFiles {
			f.Close()
		}
	}
	ours := func() {
		orders.Close()
		report.Close()
	}
	return run.Plan{
		Cmd: cmd,
		Start: func() error {
			err := start(cmd)
			theirs()
			if err != nil {
				ours()
			}
			return err
		},
		Drop:      func() { theirs(); ours() },
		Release:   func() error { return order(orderRun) },
		Terminate: func() { _ = order(orderTerminate) },
		Kill: func() {
			// The shim sweeps; if it cannot, because it was stopped or is gone,
			// the group is killed, and what is still below it.
			_ = order(orderKill)
			_ = cgroup.Kill(p.Cgroup)
			if !Ended(cmd.Process, patience) {
				killFrom(cmd.Process.Pid)
			}
		},
		Gone: func() error {
			orders.Close()
			_ = cgroup.Kill(p.Cgroup)
			said, _ := io.ReadAll(io.LimitReader(report, 4096))
			report.Close()
			if len(said) > 0 {
				return errors.New(string(said))
			}
			return nil
		},
		Started: Started,
	}, nil
}

// Started returns when a process was started, or 0.
func Started(pid int) uint64 {
	s, _ := proc.Read(pid)
	return s.Started
}

// patience is how long a shim may take to end its tree before it is suspected.
const patience = 3 * time.Second

// Ended reports whether a process of ours, not yet waited for, ended in time.
func Ended(p *os.Process, within time.Duration) bool {
	gone := true
	err := p.WithHandle(func(fd uintptr) {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(within.Milliseconds()))
		gone = n > 0 || err != nil && !errors.Is(err, unix.EINTR)
	})
	return err != nil || gone
}

// killFrom kills a shim and what is below it, from outside.
func killFrom(pid int) {
	for range 3 {
		for _, p := range append(proc.Descendants(pid), proc.Stat{PID: pid, Started: Started(pid)}) {
			_ = proc.Signal(p, unix.SIGKILL)
		}
	}
}
