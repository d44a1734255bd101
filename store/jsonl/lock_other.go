//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package jsonl

import (
	"fmt"
	"os"
	"runtime"

	"harness"
)

// lock refuses: without flock nothing here keeps a second process away.
func lock(string) (*os.File, error) {
	return nil, fmt.Errorf("exclusive files on %s: %w", runtime.GOOS, harness.ErrUnsupported)
}

func unlock(f *os.File) error { return f.Close() }
