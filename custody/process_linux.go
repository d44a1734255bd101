package custody

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"harness"
)

// boot names this boot of the machine: start times count from it.
var boot = sync.OnceValue(func() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b))
})

// stat is what the kernel says about a process.
func stat(pid int) (state byte, started uint64, err error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, err
	}
	// The second field is the name, in parentheses, and may hold anything.
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(f) < 20 {
		return 0, 0, fmt.Errorf("read the state of process %d: %d fields", pid, len(f))
	}
	started, err = strconv.ParseUint(f[19], 10, 64)
	return f[0][0], started, err
}

func started(pid int) uint64 {
	_, at, _ := stat(pid)
	return at
}

// alive is false for what has ended and is not yet waited for.
func alive(r harness.ProcessRef) bool {
	state, at, err := stat(r.PID)
	return err == nil && r.PID > 0 && r.Started > 0 && at == r.Started && state != 'Z' && state != 'X'
}

func kill(r harness.ProcessRef) error      { return signal(r, syscall.SIGKILL) }
func terminate(r harness.ProcessRef) error { return signal(r, syscall.SIGTERM) }

// signal reaches the process that r names or none: the handle is of whoever has
// the number now, and is used if that is still the one.
func signal(r harness.ProcessRef, s syscall.Signal) error {
	p, err := os.FindProcess(r.PID)
	if err != nil {
		return nil
	}
	defer p.Release()
	if !alive(r) {
		return nil
	}
	if err := p.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}
