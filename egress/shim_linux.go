package egress

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
)

// Codes of an agent that could not be run, as shells have them.
const (
	codeUsage      = 2
	codeNotRunning = 126
	codeNotFound   = 127
)

// forwarded are the signals that a shim hands on to its agent.
var forwarded = []os.Signal{
	syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGCONT,
}

// Shim runs an agent behind a relay, if args are the command line that [Wrap]
// made. A program that is given to sandboxes as their way out calls it first,
// with its arguments and environment, and exits with the code if mine is true.
//
// The agent gets the three standard files, the environment and every signal
// that the shim gets; its code is the shim's. It is killed when the shim is, and
// the shim when its parent is. What the agent itself leaves running is for the
// sandbox to end.
func Shim(args, env []string) (code int, mine bool) {
	o, mine, valid := readOrder(args)
	if !mine {
		return 0, false
	}
	complain := func(code int, err error) (int, bool) {
		fmt.Fprintln(os.Stderr, "egress:", err)
		return code, true
	}
	if !valid {
		return complain(codeUsage, errors.New("usage: egress-init PORT SOCKET -- COMMAND"))
	}
	runtime.LockOSThread() // the agent dies with the thread that started it
	if err := dieWithParent(); err != nil {
		return complain(codeNotRunning, err)
	}
	l, err := net.Listen("tcp", Host(o.port)) // every sandbox has its loopback up
	if err != nil {
		return complain(codeNotRunning, err)
	}
	if o.port == AnyPort {
		host := l.Addr().String()
		o.agent, env = fill(o.agent, host), fill(env, host)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var relay sync.WaitGroup
	relay.Go(func() { _ = Relay(ctx, l, o.socket) }) // an agent that is not answered says so itself
	defer relay.Wait()
	defer cancel()
	code, err = o.run(env)
	if err != nil {
		return complain(code, err)
	}
	return code, true
}

// dieWithParent makes this process end when the thread that started it does.
func dieWithParent() error {
	parent := os.Getppid()
	if _, _, errno := syscall.Syscall(syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0); errno != 0 {
		return fmt.Errorf("die with the parent: %w", errno)
	}
	if os.Getppid() != parent {
		return errors.New("the parent is gone")
	}
	return nil
}

// run runs the agent to its end.
func (o order) run(env []string) (code int, err error) {
	signals := make(chan os.Signal, 16) // some may come together
	signal.Notify(signals, forwarded...)
	defer signal.Stop(signals)
	program, err := exec.LookPath(o.agent[0])
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return codeNotFound, err
	} else if err != nil {
		return codeNotRunning, err
	}
	pid, err := syscall.ForkExec(program, o.agent, &syscall.ProcAttr{
		Env: env, Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return codeNotRunning, fmt.Errorf("run %s: %w", program, err)
	}
	agent, err := os.FindProcess(pid) // nobody else waits for it, so it is there
	if err != nil {
		return codeNotRunning, err
	}
	ended := make(chan struct{})
	var handing sync.WaitGroup
	handing.Go(func() {
		for {
			select {
			case s := <-signals:
				_ = agent.Signal(s) // it may have ended
			case <-ended:
				return
			}
		}
	})
	state, err := agent.Wait()
	close(ended)
	handing.Wait()
	if err != nil {
		return codeNotRunning, fmt.Errorf("wait for the agent: %w", err)
	}
	if s, ok := state.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return 128 + int(s.Signal()), nil
	}
	return state.ExitCode(), nil
}
