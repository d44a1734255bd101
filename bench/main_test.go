package bench

import (
	"fmt"
	"os"
	"testing"
)

// roles are the processes that a benchmark starts: this test binary again,
// with its role in the environment.
var roles = map[string]func() error{
	"crowd":           runCrowd,
	"hold-harness":    holdHarness,
	"hold-coder":      holdCoder,
	"hold-centrifuge": holdCentrifuge,
	"audience":        runAudience,
	"hold-sse":        holdSSE,
	"hold-sse-plain":  holdPlainSSE,
}

const roleVar = "BENCH_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		if err := roles[role](); err != nil {
			fmt.Fprintln(os.Stderr, role+":", err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	os.Exit(code)
}

// long asks for the full sizes and times.
func long() bool { return os.Getenv("LONG") == "1" }
