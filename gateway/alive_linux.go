package gateway

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// alive reports whether a process of this id and mark runs that is this user's:
// another's is no server of ours, whatever it answers. One that has ended and
// that nobody has waited for yet does not run. An empty mark is any process's.
func alive(pid int, mark string) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	state, is, ok := process(pid)
	if !ok {
		return true // there is one
	}
	return state != 'Z' && state != 'X' && (mark == "" || mark == is)
}

// markOf tells a process from others of its id, before and after it.
func markOf(pid int) string {
	_, mark, _ := process(pid)
	return mark
}

// process is what the system says of one: how it is, and since when, in ticks
// since which start of the machine.
func process(pid int) (state byte, mark string, ok bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, "", false
	}
	// PID (NAME) STATE …, and the name may have brackets of its own.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil || len(fields) < 20 {
		return 0, "", false
	}
	return fields[0][0], fmt.Sprintf("%s:%s", bytes.TrimSpace(boot), fields[19]), true
}
