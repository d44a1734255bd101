package jsonl

import (
	"errors"
	"os"
	"syscall"
)

// flush makes what was written to f durable, and its length.
func flush(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if errors.Is(err, syscall.EINTR) { // nothing was flushed and nothing failed
			continue
		}
		return err
	}
}
