//go:build linux

package space

import (
	"strings"

	"harness"
	"harness/sandbox/internal/cgroup"
)

// Isolation sorts promises into what holds and what does not: conditions on
// control groups are looked up in root, those in broken do not hold.
func Isolation(kind string, promises map[harness.Guarantee]string, root *cgroup.Root, broken map[harness.Guarantee]string) harness.Isolation {
	_, pids, memory := root.Can()
	out := harness.Isolation{Kind: kind}
	var reasons []string
	for _, g := range harness.Guarantees {
		why, lacks := broken[g.Name]
		switch {
		case promises[g.Name] == "no":
			lacks = true
		case g.Name == harness.LimitPids && !pids, g.Name == harness.LimitMemory && !memory:
			why, lacks = "no control group with a limit of "+string(g.Name)+" can be made", true
		}
		if !lacks {
			out.Enforces = append(out.Enforces, g.Name)
			continue
		}
		out.Lacks = append(out.Lacks, g.Name)
		if why != "" {
			reasons = append(reasons, why)
		}
	}
	out.Reason = strings.Join(reasons, "; ")
	return out
}
