//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package jsonl

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"harness"
)

// lock takes the directory for this process, or returns ErrLocked and who has
// it. The lock ends with the process, however it ends.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, harness.ErrStorage)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w: %w", path, err, harness.ErrStorage)
		}
		return nil, fmt.Errorf("%s is held by %s: %w", path, holder(f), harness.ErrLocked)
	}
	if err = f.Truncate(0); err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w: %w", path, err, harness.ErrStorage)
	}
	return f, nil
}

// unlock gives the directory up. Closing alone would not: a child process that
// is being started holds a copy of the descriptor until it has become its own
// program, and with it the lock.
func unlock(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}

// holder reads what the process that holds the lock wrote into it.
func holder(f *os.File) string {
	b, _ := io.ReadAll(io.LimitReader(f, 32))
	if pid, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil {
		return fmt.Sprintf("process %d", pid)
	}
	return "another process"
}
