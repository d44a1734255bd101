//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
)

// endWithUs is not for these kernels; a child whose input ends ends as well.
func endWithUs(*syscall.SysProcAttr) {}
