//go:build unix

package gateway

import "syscall"

// noFollow refuses to open a link.
const noFollow = syscall.O_NOFOLLOW

// alive reports whether there is a process of this id.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || err == syscall.EPERM
}
