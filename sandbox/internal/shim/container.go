//go:build linux

package shim

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"harness/sandbox/internal/proc"
)

// PlanVariable carries the plan of a shim in a container, where a command has no
// descriptors but three.
const PlanVariable = "HARNESS_SANDBOX_PLAN"

// Words of the init of a container, one a line. The end of its input is its end,
// and so the end of everything in the container.
const (
	WordPing      = "ping"      // is answered with WordPong, as is its start
	WordPong      = "pong"      // and its limits, and how many were killed for memory
	WordTerminate = "terminate" // asks a command to end
	WordKill      = "kill"      // kills the tree of a command
	WordGone      = "gone"      // is the answer, when nothing of it is left
)

// Pong is what an init says about its container. A limit of 0 is none.
type Pong struct {
	Pids        int
	Memory      int64
	MemoryKills int
}

// pong reads the container's control groups, of either version.
func pong() string {
	var p Pong
	number := func(files ...string) (n int64) {
		for _, f := range files {
			if b, err := os.ReadFile("/sys/fs/cgroup/" + f); err == nil {
				n, _ = strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64) // "max" is 0
				break
			}
		}
		return n
	}
	p.Pids = int(number("pids.max", "pids/pids.max"))
	p.Memory = number("memory.max", "memory/memory.limit_in_bytes")
	for _, f := range []string{"memory.events", "memory/memory.oom_control"} {
		b, _ := os.ReadFile("/sys/fs/cgroup/" + f)
		for line := range strings.Lines(string(b)) {
			if n, ok := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); ok {
				p.MemoryKills, _ = strconv.Atoi(n)
			}
		}
	}
	b, _ := json.Marshal(p)
	return WordPong + " " + string(b)
}

// Variable returns the plan in the form of the environment.
func (p *Plan) Variable() (string, error) {
	b, err := json.Marshal(p)
	return PlanVariable + "=" + base64.StdEncoding.EncodeToString(b), err
}

// inContainer is the shim of a command in a container.
func inContainer(env []string) int {
	code, err := func() (int, error) {
		var p Plan
		for _, e := range env {
			if v, ok := strings.CutPrefix(e, PlanVariable+"="); ok {
				b, err := base64.StdEncoding.DecodeString(v)
				if err != nil {
					return 0, fmt.Errorf("read plan: %w", err)
				}
				if err := json.Unmarshal(b, &p); err != nil {
					return 0, fmt.Errorf("read plan: %w", err)
				}
			}
		}
		if len(p.Args) == 0 {
			return 0, fmt.Errorf("no plan in %s", PlanVariable)
		}
		s, err := newSupervisor(p)
		if err != nil {
			return 0, err
		}
		if err := s.start(); err != nil {
			return 0, err
		}
		return s.wait(), nil
	}()
	return reported(os.Stderr, code, err)
}

// initContainer is the first process of a container. It reaps, and it ends
// commands whose caller is on the other side of a daemon.
func initContainer() int {
	children := make(chan os.Signal, 1) // more than one at a time need no more than one look
	signal.Notify(children, unix.SIGCHLD)
	orders := make(chan string)
	go func() {
		defer close(orders)
		for in := bufio.NewScanner(os.NewFile(0, "orders")); in.Scan(); {
			orders <- in.Text()
		}
	}()
	out := os.NewFile(1, "answers")
	fmt.Fprintln(out, pong())
	for {
		select {
		case <-children:
			reapAll()
		case order, ok := <-orders:
			if !ok {
				return 0
			}
			go answer(out, order)
		}
	}
}

func reapAll() {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if err != nil && err != unix.EINTR || pid == 0 {
			return
		}
	}
}

func answer(out io.Writer, order string) {
	word, id, _ := strings.Cut(order, " ")
	switch word {
	case WordPing:
		fmt.Fprintln(out, pong())
	case WordTerminate:
		if shim, ok := shimOf(id); ok {
			for _, p := range proc.Descendants(shim.PID) {
				if p.Parent == shim.PID {
					_ = proc.Signal(p, unix.SIGTERM)
				}
			}
		}
	case WordKill:
		// The shim itself ends when it has no children; it must not be killed
		// before, for it is their reaper.
		for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
			shim, ok := shimOf(id)
			if !ok {
				break
			}
			for _, p := range proc.Descendants(shim.PID) {
				if p.State != 'Z' {
					_ = proc.Signal(p, unix.SIGKILL)
				}
			}
			time.Sleep(pause)
		}
		fmt.Fprintln(out, WordGone, id)
	}
}

// shimOf finds the shim that was started with an id.
func shimOf(id string) (proc.Stat, bool) {
	want := strings.Join([]string{Name, "exec", id, ""}, "\x00")
	for _, p := range proc.All() {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/cmdline")
		if err == nil && strings.HasSuffix(string(b), "/"+want) && p.State != 'Z' {
			return p, true
		}
	}
	return proc.Stat{}, false
}
