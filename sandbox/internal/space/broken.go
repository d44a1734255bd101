//go:build linux

package space

import (
	"harness"
	"harness/sandbox/internal/cgroup"
)

// Broken returns the limits that need a control group which root cannot make.
func Broken(root *cgroup.Root) map[harness.Guarantee]string {
	broken := map[harness.Guarantee]string{}
	_, pids, memory := root.Can()
	if !pids {
		broken[harness.LimitPids] = "no control group with a limit of processes can be made"
	}
	if !memory {
		broken[harness.LimitMemory] = "no control group with a limit of memory can be made"
	}
	return broken
}
