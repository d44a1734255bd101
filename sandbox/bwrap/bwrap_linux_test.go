package bwrap_test

import (
	"testing"

	"harness"
	"harness/sandbox/bwrap"
	"harness/sandbox/sandboxtest"
)

func TestSandbox(t *testing.T) {
	sandboxtest.Suite{Rounds: 10, Open: func(_ testing.TB, _ string) harness.Sandbox {
		return bwrap.New(nil)
	}}.Test(t)
}

// TestSandboxWithoutControlGroups is the case of an ordinary user to whom
// nobody has delegated any. What is no tree of processes TestSandboxOfAnOrdinaryUser
// shows without them, and TestSandbox of root.
func TestSandboxWithoutControlGroups(t *testing.T) {
	sandboxtest.Suite{Rounds: 10, Only: sandboxtest.Trees, Open: func(_ testing.TB, _ string) harness.Sandbox {
		return bwrap.New(&bwrap.Options{NoCgroup: true})
	}}.Test(t)
}

func TestSandboxOfAnOrdinaryUser(t *testing.T) {
	sandboxtest.AsNobody(t, "TestSandboxWithoutControlGroups")
}
