package landlock_test

import (
	"testing"

	"harness"
	"harness/sandbox/landlock"
	"harness/sandbox/sandboxtest"
)

func TestSandbox(t *testing.T) {
	sandboxtest.Suite{Rounds: 20, Open: func(_ testing.TB, probe string) harness.Sandbox {
		return landlock.New(&landlock.Options{Shim: probe})
	}}.Test(t)
}

// TestSandboxWithoutControlGroups is the case of an ordinary user to whom
// nobody has delegated any.
func TestSandboxWithoutControlGroups(t *testing.T) {
	sandboxtest.Suite{Rounds: 20, Open: func(_ testing.TB, probe string) harness.Sandbox {
		return landlock.New(&landlock.Options{Shim: probe, NoCgroup: true})
	}}.Test(t)
}

func TestSandboxOfAnOrdinaryUser(t *testing.T) {
	sandboxtest.AsNobody(t, "TestSandboxWithoutControlGroups")
}
