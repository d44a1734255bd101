//go:build linux

// Package shim is the small process between a sandbox and a command.
//
// It is the program itself, started again under the name Name. It becomes the
// parent of every orphan of its command (a subreaper), so that no daemon gets
// away, and it has a pipe from the process that started it: when that is gone,
// by kill -9 or otherwise, the pipe ends and so does the tree. Restrictions that
// a process can only put on itself are put on the thread that starts the command.
package shim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"harness/sandbox/internal/seccomp"
)

// Name is the first word of a shim's command line, perhaps with directories. A program that uses these
// sandboxes calls Main before anything else.
const Name = "harness-sandbox"

// Plan is what a shim does.
type Plan struct {
	Args []string
	Env  []string
	Dir  string

	Cgroup   string          `json:",omitempty"` // of the whole tree, the shim included
	Landlock *Rules          `json:",omitempty"`
	Seccomp  *seccomp.Policy `json:",omitempty"`
	DropCaps bool            `json:",omitempty"` // also of root
}

// File returns a file from which a shim reads its plan. It is in memory.
func (p *Plan) File() (*os.File, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	return Memory("plan", b)
}

// Memory returns a file that is only in memory and holds b.
func Memory(name string, b []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a file in memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), name)
	_, err = f.Write(b)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Descriptors of a shim besides the three that its command gets.
const (
	planFD    = 3
	controlFD = 4 // orders come in; its end is the end
	reportFD  = 5 // what went wrong before the command ran
)

// Orders on the control pipe.
const (
	orderRun       = 'r'
	orderTerminate = 't'
	orderKill      = 'k'
)

// Main runs the shim if args are those of one, and returns its exit code.
func Main(args, env []string) (code int, mine bool) {
	if len(args) == 0 || filepath.Base(args[0]) != Name {
		return 0, false
	}
	switch {
	case len(args) == 1:
		return piped(), true
	case len(args) == 2 && args[1] == "init":
		return initContainer(), true
	case len(args) == 3 && args[1] == "exec":
		return inContainer(env), true
	}
	return 2, true
}

// piped is the shim of a process on this machine.
func piped() int {
	control, report := os.NewFile(controlFD, "control"), os.NewFile(reportFD, "report")
	for fd := planFD; fd <= reportFD; fd++ {
		unix.CloseOnExec(fd)
	}
	code, err := func() (int, error) {
		var p Plan
		if err := json.NewDecoder(os.NewFile(planFD, "plan")).Decode(&p); err != nil {
			return 0, fmt.Errorf("read plan: %w", err)
		}
		s, err := newSupervisor(p)
		if err != nil {
			return 0, err
		}
		order := make([]byte, 1)
		if _, err := io.ReadFull(control, order); err != nil || order[0] != orderRun {
			return 128 + int(unix.SIGKILL), nil // never released
		}
		if err := s.start(); err != nil {
			return 0, err
		}
		go s.obey(control)
		report.Close()
		return s.wait(), nil
	}()
	return reported(report, code, err)
}

// Codes of a command that could not be run, as shells have them.
const (
	codeNotFound   = 127
	codeNotRunning = 126
)

// reported tells the parent what went wrong, unless it is the command's own
// fault: then the code says it.
func reported(report io.Writer, code int, err error) int {
	switch {
	case err == nil:
		return code
	case errors.Is(err, errNotFound):
		fmt.Fprintln(os.Stderr, err)
		return codeNotFound
	}
	fmt.Fprint(report, err)
	return codeNotRunning
}
