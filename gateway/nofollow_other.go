//go:build !unix

package gateway

import "os"

// noFollow refuses to open a link, where the system can.
const noFollow = 0

// alive reports whether there is a process of this id.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	p.Release()
	return true
}
