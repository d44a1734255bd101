package bwrap

import (
	"bytes"
	"errors"
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

// sandboxed is one bwrap.
//
// bwrap itself is the first process of a pid namespace of our making, around the
// one that it makes. It ties its processes to its own life only when they are
// set up, and itself to ours only after it has made the first: whoever is killed
// in between would leave some. The end of a namespace's first process, however,
// is the end of all others at any time, and it is seen by us only after theirs.
type sandboxed struct {
	cmd    *exec.Cmd
	cgroup string
	status *os.File // bwrap says here how the command ended
	hold   *os.File // a byte lets the command run
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

	s := &sandboxed{cgroup: at.Cgroup, status: status, hold: hold}
	s.cmd = &exec.Cmd{
		Path: w.sandbox.program, Args: append([]string{"bwrap", "--args", "3", "--"}, command...),
		Dir: "/", Env: []string{}, ExtraFiles: files,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, Cloneflags: unix.CLONE_NEWPID},
	}
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 { // who needs a user namespace for one of processes
		attr := s.cmd.SysProcAttr
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
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
		Drop:      func() { closeAll(append(files, status, hold)) },
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

// release lets the command run.
func (s *sandboxed) release() error {
	_, err := s.hold.Write([]byte{1})
	s.hold.Close()
	return err
}

// terminate asks the command to end. It is the child of the first process of the
// inner namespace, which is the child of bwrap.
func (s *sandboxed) terminate() {
	s.killed.Store(true) // it may not have reached the command yet
	below := proc.Descendants(s.cmd.Process.Pid)
	for _, first := range below {
		for _, p := range below {
			if first.Parent == s.cmd.Process.Pid && p.Parent == first.PID {
				_ = proc.Signal(p, unix.SIGTERM)
			}
		}
	}
}

// kill kills bwrap, and with it the namespace.
func (s *sandboxed) kill() {
	s.killed.Store(true)
	_ = cgroup.Kill(s.cgroup)
	_ = s.cmd.Process.Kill()
}

// gone says, when bwrap has ended and so everything, whether the command was
// never run.
func (s *sandboxed) gone() error {
	said, _ := io.ReadAll(s.status)
	closeAll([]*os.File{s.status, s.hold})
	if !s.killed.Load() && s.cmd.ProcessState.Exited() && !bytes.Contains(said, []byte("exit-code")) {
		return errors.New("bubblewrap could not set up the sandbox")
	}
	return nil
}
