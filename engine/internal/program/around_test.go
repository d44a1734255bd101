package program_test

import (
	"strings"
	"testing"

	"harness"
	"harness/engine/internal/program"
)

// Nobody is told of a sandbox that is not there.
func TestTheNoticeSaysWhatIsAroundAProgram(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		is   harness.Isolation
		want string
	}{
		{harness.Isolation{Kind: "namespaces", Enforces: []harness.Guarantee{harness.GuardRead, harness.GuardWrite}}, "this one is around it"},
		{harness.Isolation{Kind: "landlock", Enforces: []harness.Guarantee{harness.GuardWrite}}, "this one is around it"},
		{harness.Isolation{Kind: "none", Enforces: []harness.Guarantee{harness.GuardEnv, harness.GuardTree}, Lacks: []harness.Guarantee{harness.GuardWrite}}, "none is around it"},
	} {
		if got := program.Around("claude")(c.is); !strings.HasPrefix(got, "claude's own sandbox is off") || !strings.Contains(got, c.want) {
			t.Errorf("in %s: %q", c.is.Kind, got)
		}
	}
}
