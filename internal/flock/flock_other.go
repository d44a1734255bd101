//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package flock

import (
	"fmt"
	"runtime"

	"harness"
)

// Take refuses: without flock nothing here keeps a second process away.
func Take(string) (*Lock, error) {
	return nil, fmt.Errorf("exclusive files on %s: %w", runtime.GOOS, harness.ErrUnsupported)
}

// Release closes the file.
func (l *Lock) Release() error { return l.file.Close() }
