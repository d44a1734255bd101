//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package main

import (
	"context"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// interruptible is r, which ends when ctx does even while a Read blocks. Who
// uses it closes it; r itself stays open.
func interruptible(ctx context.Context, r io.Reader) io.ReadCloser {
	f, ok := r.(*os.File)
	if !ok {
		return io.NopCloser(r)
	}
	woken, wake, err := os.Pipe()
	if err != nil { // no descriptors left: the input still ends by itself
		return io.NopCloser(r)
	}
	in := &polled{file: f, woken: woken, wake: wake}
	in.stop = context.AfterFunc(ctx, func() { wake.Write([]byte{0}) })
	return in
}

// polled waits for its file and for a byte in a pipe at the same time.
type polled struct {
	file        *os.File
	woken, wake *os.File
	stop        func() bool
}

func (p *polled) Read(b []byte) (int, error) {
	for {
		fds := []unix.PollFd{{Fd: int32(p.file.Fd()), Events: unix.POLLIN}, {Fd: int32(p.woken.Fd()), Events: unix.POLLIN}}
		_, err := unix.Poll(fds, -1)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case fds[1].Revents != 0:
			return 0, io.EOF
		case fds[0].Revents != 0:
			return p.file.Read(b)
		}
	}
}

func (p *polled) Close() error {
	p.stop()
	p.woken.Close()
	return p.wake.Close()
}
