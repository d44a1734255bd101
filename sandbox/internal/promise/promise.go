// Package promise sorts what a sandbox promises into what holds and what not.
package promise

import (
	"slices"
	"strings"

	"harness"
)

// No is the promise that something is not enforced. Others are "yes", or the
// condition under which it is.
const No = "no"

// Isolation is what remains of promises: those in broken do not hold, for the
// reason that is given there.
func Isolation(kind string, promises, broken map[harness.Guarantee]string) harness.Isolation {
	out := harness.Isolation{Kind: kind}
	var reasons []string
	for _, g := range harness.Guarantees {
		why, lacks := broken[g.Name]
		if !lacks && promises[g.Name] != No {
			out.Enforces = append(out.Enforces, g.Name)
			continue
		}
		out.Lacks = append(out.Lacks, g.Name)
		if why != "" && !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
	}
	out.Reason = strings.Join(reasons, "; ")
	return out
}
