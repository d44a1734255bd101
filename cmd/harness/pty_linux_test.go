package main

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pty is a terminal with a program on it and nobody but the test in front.
type pty struct {
	t      testing.TB
	master *os.File
	cmd    *exec.Cmd
	done   chan error
	hangUp func() // closes the program's end and reads what is left
	before *unix.Termios

	mu   sync.Mutex // guards seen and more
	seen strings.Builder
	more chan struct{}
}

// onTerminal starts a command on a new terminal of 72 by 24 cells.
func onTerminal(t testing.TB, cmd *exec.Cmd) *pty {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		mustHave(t, "no terminals here: "+err.Error())
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 72}); err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &pty{t: t, master: master, cmd: cmd, done: make(chan error, 1), more: make(chan struct{})}
	if p.before, err = unix.IoctlGetTermios(fd, unix.TCGETS); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(cmd.Env, "TERM=xterm-256color")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	reading.Go(p.read)
	go func() { p.done <- cmd.Wait() }()
	p.hangUp = sync.OnceFunc(func() {
		slave.Close() // kept so far, so that the terminal outlives the program
		reading.Wait()
	})
	t.Cleanup(func() {
		cmd.Process.Kill()
		p.hangUp()
		master.Close()
	})
	return p
}

func (p *pty) read() {
	buf := make([]byte, 4096)
	for {
		n, err := p.master.Read(buf)
		p.mu.Lock()
		p.seen.Write(buf[:n])
		close(p.more)
		p.more = make(chan struct{})
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (p *pty) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen.String()
}

// expect waits until the terminal was told something.
func (p *pty) expect(what string) {
	p.t.Helper()
	deadline := time.After(patience)
	for {
		p.mu.Lock()
		found, more := strings.Contains(p.seen.String(), what), p.more
		p.mu.Unlock()
		if found {
			return
		}
		select {
		case <-more:
		case <-deadline:
			p.t.Fatalf("%q did not come:\n%s", what, p.shows())
		}
	}
}

// shows is what somebody in front of the terminal sees.
func (p *pty) shows() string {
	vt := newVT(72)
	vt.write(p.text())
	return vt.String()
}

func (p *pty) press(keys string) {
	p.t.Helper()
	if _, err := p.master.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// exit waits for the end of the program, which must leave the terminal as it
// found it, and returns its exit code.
func (p *pty) exit() int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		p.t.Fatalf("it did not end:\n%s", p.shows())
	}
	after, err := unix.IoctlGetTermios(int(p.master.Fd()), unix.TCGETS)
	if err != nil || *after != *p.before {
		p.t.Errorf("the terminal was left in another mode: %v", err)
	}
	p.hangUp()
	if text := p.text(); strings.LastIndex(text, "\x1b[?25l") > strings.LastIndex(text, "\x1b[?25h") {
		p.t.Error("the cursor was left hidden")
	}
	return p.cmd.ProcessState.ExitCode()
}
