// Package flock gives one process something on disk for itself.
//
// The claim is an exclusive lock on a file of its own, which also says who
// holds it. It ends with the process, however it ends, and a second claim of the
// same path fails at once, also within one process. It binds only those who ask
// for it; where the system has no such lock, every claim is refused.
package flock

import (
	"fmt"
	"os"
)

// Lock is a claim that was granted.
type Lock struct{ file *os.File }

// HeldError says that somebody else has the lock. It comes with ErrLocked.
type HeldError struct {
	Path string
	PID  int // 0 if the holder has not said
}

func (e *HeldError) Error() string {
	if e.PID == 0 {
		return e.Path + " is held by another process"
	}
	return fmt.Sprintf("%s is held by process %d", e.Path, e.PID)
}
