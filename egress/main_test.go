package egress_test

import (
	"os"
	"testing"

	"harness/egress"
	"harness/sandbox"
)

// TestMain is also what runs in sandboxes: the shims, and the agent behind them.
func TestMain(m *testing.M) {
	if code, mine := sandbox.Shim(os.Args, os.Environ()); mine {
		os.Exit(code)
	}
	if code, mine := egress.Shim(os.Args, os.Environ()); mine {
		os.Exit(code)
	}
	if len(os.Args) > 1 {
		if agent, ok := agents[os.Args[1]]; ok {
			os.Exit(agent(os.Args[2:]))
		}
	}
	os.Exit(m.Run())
}
