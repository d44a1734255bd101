//go:build unix && !linux

package gateway

import "syscall"

// alive reports whether there is a process of this id.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || err == syscall.EPERM
}
