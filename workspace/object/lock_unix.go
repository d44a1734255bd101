//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package object

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lock is a claim on a file that ends with the process, however it ends.
type lock struct{ file *os.File }

// lockPoll is how often a claim is repeated while another one stands: a
// blocking one could not be given up when ctx ends.
const lockPoll = 5 * time.Millisecond

// take claims path together with others, or alone. It tries until ctx ends.
func take(ctx context.Context, path string, alone bool) (*lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	how := unix.LOCK_SH
	if alone {
		how = unix.LOCK_EX
	}
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		if err == nil {
			return &lock{f}, nil
		}
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, context.Cause(ctx))
		case <-time.After(lockPoll):
		}
	}
}

// release gives the claim up. Closing alone would not do: a child process that
// is being started holds a copy of the descriptor for a moment.
func (l *lock) release() error {
	return errors.Join(unix.Flock(int(l.file.Fd()), unix.LOCK_UN), l.file.Close())
}

// freeBytes is what the file system of dir has left for us.
func freeBytes(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

// Full turns the system's ways to say that there is no room into ErrFull.
func Full(err error) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG) {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}
