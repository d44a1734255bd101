//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package main

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// terminal is the descriptor of a stream, if it is one of a terminal.
func terminal(stream any) (fd int, ok bool) {
	f, isFile := stream.(*os.File)
	if !isFile {
		return 0, false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), getTermios)
	return int(f.Fd()), err == nil
}

func isTerminal(stream any) bool {
	_, ok := terminal(stream)
	return ok
}

// termSize is the size of the terminal in cells, or a usual one.
func termSize(stream any) (width, height int) {
	if fd, ok := terminal(stream); ok {
		if ws, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ); err == nil && ws.Col > 0 && ws.Row > 0 {
			return int(ws.Col), int(ws.Row)
		}
	}
	return 80, 24
}

// quiet makes the terminal give each key at once and show none. Ctrl-C and
// Ctrl-Z stay signals.
func quiet(stream any) (restore func(), err error) {
	fd, ok := terminal(stream)
	if !ok {
		return func() {}, nil
	}
	was, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return nil, err
	}
	now := *was
	now.Lflag &^= unix.ICANON | unix.ECHO
	now.Iflag |= unix.ICRNL
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(fd, setTermios, &now); err != nil {
		return nil, err
	}
	return func() { unix.IoctlSetTermios(fd, setTermios, was) }, nil
}

// apart gives a child a process group of its own, so that Ctrl-C is ours to
// deal with, and ends it with us.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithUs(cmd.SysProcAttr)
}

// killAll ends a child that was set apart, and its children.
func killAll(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// notifySignals asks for what a person at a terminal can do to a process.
func notifySignals(c chan<- os.Signal) {
	signal.Notify(c, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGTSTP)
}

// suspended stops the process if s asks for it, and reports whether it did:
// then it goes on.
func suspended(s os.Signal, before, after func()) bool {
	if s != syscall.SIGTSTP {
		return false
	}
	before()
	syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	after()
	return true
}
