//go:build unix

package gateway

import "syscall"

// noFollow refuses to open a link.
const noFollow = syscall.O_NOFOLLOW
