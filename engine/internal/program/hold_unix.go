//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package program

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"harness"
)

// hold makes the home this engine's alone until it is let go, or the server
// ends. If another engine has a process in it, of this server or of
// another one on the same files, hold fails with [harness.ErrRetry]. The file that
// is locked stays: whoever removed it could not know who waits for it.
func (h *Home) hold() (letGo func(), err error) {
	f, err := h.homes.OpenFile(".lock-"+filepath.Base(h.Path), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock a home: %w", err)
	}
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		f.Close()
		return nil, fmt.Errorf("the session has a program already, which another engine runs in %s: %w", h.Path, harness.ErrRetry)
	case err != nil && !errors.Is(err, errors.ErrUnsupported): // a file system without locks has one server
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", h.Path, err)
	}
	return func() {
		_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // a process that is being forked has it, too, for a moment
		f.Close()
	}, nil
}
