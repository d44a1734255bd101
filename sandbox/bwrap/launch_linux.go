package bwrap

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"harness/sandbox/internal/cgroup"
	"harness/sandbox/internal/proc"
	"harness/sandbox/internal/run"
	"harness/sandbox/internal/shim"
	"harness/sandbox/internal/space"
)

// sandboxed is one bwrap: the process outside, which we started, and the first
// process of the namespace, whose end is the end of all others in it.
type sandboxed struct {
	cmd    *exec.Cmd
	cgroup string
	status *os.File // bwrap says here who the first process is
	lines  *bufio.Reader
	hold   *os.File // a byte lets the command run
	first  int
	pidfd  int
	killed atomic.Bool
}

// launch returns how to run a command with the given arguments of bwrap. They
// go through a file in memory: the environment is nobody else's business.
func (w *workspace) launch(command, args []string, at space.Place) (plan run.Plan, err error) {
	var files []*os.File
	defer func() {
		if err != nil {
			closeAll(files)
		}
	}()
	// Descriptors 3 to 6 of bwrap. It closes all of them before the command runs.
	filter, err := shim.Memory("seccomp", w.sandbox.filter)
	if err != nil {
		return plan, err
	}
	files = append(files, filter)
	args = append(args, "--seccomp", "4", "--json-status-fd", "5", "--block-fd", "6")
	list, err := shim.Memory("arguments", []byte(strings.Join(args, "\x00")+"\x00"))
	if err != nil {
		return plan, err
	}
	files = append([]*os.File{list}, files...)
	status, theirStatus, err := os.Pipe()
	if err != nil {
		return plan, err
	}
	files = append(files, theirStatus)
	theirHold, hold, err := os.Pipe()
	if err != nil {
		status.Close()
		return plan, err
	}
	files = append(files, theirHold)

	s := &sandboxed{cgroup: at.Cgroup, status: status, lines: bufio.NewReader(status), hold: hold, pidfd: -1}
	s.cmd = &exec.Cmd{
		Path: w.sandbox.program, Args: append([]string{"bwrap", "--args", "3", "--"}, command...),
		Dir: "/", Env: []string{}, ExtraFiles: files,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	}
	if at.FD >= 0 {
		s.cmd.SysProcAttr.UseCgroupFD, s.cmd.SysProcAttr.CgroupFD = true, at.FD
	}
	return run.Plan{
		Cmd: s.cmd,
		Start: func() error {
			err := at.Begin(s.cmd)
			closeAll(files)
			if err != nil {
				closeAll([]*os.File{status, hold})
			}
			return err
		},
		Ready:     s.ready,
		Release:   s.release,
		Terminate: s.terminate,
		Kill:      s.kill,
		Gone: func() error {
			return errors.Join(s.gone(), w.pins.Clean())
		},
		Started: shim.Started,
	}, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// ready learns who the first process is, while it is held.
func (s *sandboxed) ready() error {
	var said struct {
		Child int `json:"child-pid"`
	}
	line, err := s.lines.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &said)
	}
	if err != nil || said.Child == 0 {
		return fmt.Errorf("bubblewrap did not start: %w", err)
	}
	s.first = said.Child
	if s.pidfd, err = unix.PidfdOpen(s.first, 0); err != nil {
		return fmt.Errorf("open process %d: %w", s.first, err)
	}
	return nil
}

// release lets the command run.
func (s *sandboxed) release() error {
	_, err := s.hold.Write([]byte{1})
	s.hold.Close()
	return err
}

// terminate asks the command to end. It is the child of the first process.
func (s *sandboxed) terminate() {
	s.killed.Store(true) // it may not have reached the command yet
	for _, p := range proc.Descendants(s.first) {
		if p.Parent == s.first {
			_ = proc.Signal(p, unix.SIGTERM)
		}
	}
}

// kill kills the first process, and with it all others, and bwrap outside. One
// that is not known yet is found below bwrap.
func (s *sandboxed) kill() {
	s.killed.Store(true)
	_ = cgroup.Kill(s.cgroup)
	if s.pidfd >= 0 {
		_ = unix.PidfdSendSignal(s.pidfd, unix.SIGKILL, nil, 0)
	} else {
		for _, p := range proc.Descendants(s.cmd.Process.Pid) {
			_ = proc.Signal(p, unix.SIGKILL)
		}
	}
	_ = s.cmd.Process.Kill()
}

// gone returns when the namespace is empty. bwrap ends with the command; the
// first process then ends by losing its parent, after everybody else. The error
// says that the command was never run.
func (s *sandboxed) gone() error {
	_ = cgroup.Kill(s.cgroup)
	if s.pidfd >= 0 {
		_ = unix.PidfdSendSignal(s.pidfd, unix.SIGKILL, nil, 0)
		_ = proc.Await(s.pidfd)
		unix.Close(s.pidfd)
	}
	said, _ := io.ReadAll(s.lines)
	closeAll([]*os.File{s.status, s.hold})
	if !s.killed.Load() && s.cmd.ProcessState.Exited() && !bytes.Contains(said, []byte("exit-code")) {
		return errors.New("bubblewrap could not set up the sandbox")
	}
	return nil
}
