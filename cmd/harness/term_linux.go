package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
)

// endWithUs has the kernel kill a child when its parent is gone.
func endWithUs(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
