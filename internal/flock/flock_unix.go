//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package flock

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

// Take claims path for this process, or returns a [HeldError]. It makes the
// file if it is not there and writes the id of the process into it.
func Take(path string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, harness.ErrStorage)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w: %w", path, err, harness.ErrStorage)
		}
		return nil, fmt.Errorf("%w: %w", &HeldError{path, holder(f)}, harness.ErrLocked)
	}
	if err = f.Truncate(0); err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w: %w", path, err, harness.ErrStorage)
	}
	return &Lock{f}, nil
}

// Release gives the claim up; the file stays. Closing alone would not do: a
// child process that is being started holds a copy of the descriptor until it
// has become its own program, and with it the lock.
func (l *Lock) Release() error {
	return errors.Join(syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN), l.file.Close())
}

// holder reads what the process that holds the lock wrote into it.
func holder(f *os.File) int {
	b, _ := io.ReadAll(io.LimitReader(f, 32))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return pid
}
