package acp_test

import (
	"testing"

	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
)

// faulty is a stage with an agent of our own, and what is special about it.
func faulty(t *testing.T, how string, opts program.Options) *bridgetest.Stage {
	t.Helper()
	return bridge.As(t, "fault", opts, "HARNESS_TEST_STORY="+how)
}

// TestAProgramThatMisbehavesEndsTheTurnNotTheSession lets the program go wrong
// in each way; afterwards the session takes another prompt.
func TestAProgramThatMisbehavesEndsTheTurnNotTheSession(t *testing.T) {
	t.Parallel()
	bridge.Faults(t, "no more", "4: _brand/new ×1, _brand/request ×1, update brand_new ×2")
}

// TestNothingIsLeftHoweverItEnds with an agent of our own that starts processes
// which try to stay, and has us start others.
func TestNothingIsLeftHoweverItEnds(t *testing.T) {
	t.Parallel()
	bridgetest.Harass(faulty(t, "busy", program.Options{}), 300, 4)
}

// TestItsTemporaryDirectoryIsShort wherever the server's is, so that sockets fit
// in, and goes with it. Nothing else of the server's environment is the program's.
func TestItsTemporaryDirectoryIsShort(t *testing.T) { bridge.Short(t) }

// TestASessionHasOneProcess however many speak to it, to a branch of it, or would
// run it on the same files.
func TestASessionHasOneProcess(t *testing.T) {
	t.Parallel()
	bridge.OneProcess(t)
}
