package gateway

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// alive reports whether a process of this id runs. One that has ended and that
// nobody has waited for yet does not.
func alive(pid int) bool {
	if err := syscall.Kill(pid, 0); err != nil && err != syscall.EPERM {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true // there is one
	}
	// PID (NAME) STATE …, and the name may have brackets of its own.
	_, state, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	return !bytes.HasPrefix(state, []byte("Z")) && !bytes.HasPrefix(state, []byte("X"))
}
