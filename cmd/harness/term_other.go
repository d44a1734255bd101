//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
)

// Elsewhere there is no terminal to speak of: output is plain, and nobody is
// asked.

func interruptible(_ context.Context, r io.Reader) io.ReadCloser { return io.NopCloser(r) }

func isTerminal(any) bool { return false }

func termSize(any) (width, height int) { return 80, 24 }

func quiet(any) (restore func(), err error) { return func() {}, nil }

func apart(*exec.Cmd) {}

func killAll(cmd *exec.Cmd) { cmd.Process.Kill() }

func notifySignals(c chan<- os.Signal) { signal.Notify(c, os.Interrupt) }

func suspended(os.Signal, func(), func()) bool { return false }
