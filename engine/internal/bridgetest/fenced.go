package bridgetest

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"harness"
	"harness/engine/internal/program"
	"harness/sandbox/bwrap"
)

// Walls is a sandbox of namespaces. Where this machine has none, the test is
// skipped; with CI it fails.
func Walls(t *testing.T) harness.Sandbox {
	t.Helper()
	box := bwrap.New(nil)
	if _, err := box.Probe(t.Context()); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return box
}

// Fenced has a program that answers prompts, as [Bridge.Faults] has, in real
// namespaces without a network. The session is told what holds there, and what
// became of the program's own sandbox: own is part of that.
func (b *Bridge) Fenced(t *testing.T, own string) {
	s := b.As(t, "fault", program.Options{Sandbox: Walls(t)})
	s.Ask("right")
	s.Has("sandbox_notice namespaces", "turn_end completed")
	told := 0
	for _, e := range s.Events() {
		if n, ok := e.Payload.(*harness.SandboxNotice); ok {
			told++
			for _, guard := range []harness.Guarantee{harness.GuardWrite, harness.GuardNetwork, harness.GuardSyscalls} {
				if !slices.Contains(n.Enforces, string(guard)) {
					t.Errorf("the notice does not have %s: %+v", guard, n)
				}
			}
			if !strings.Contains(n.Reason, own) {
				t.Errorf("the notice does not say %q: %q", own, n.Reason)
			}
		}
	}
	if told != 1 {
		t.Errorf("it is told %d times", told)
	}
	if !slices.ContainsFunc(s.Processes(), elsewhere) {
		t.Error("no process of it has a network of its own")
	}
}

// elsewhere reports whether a process is in another network namespace than we.
func elsewhere(pid int) bool {
	theirs, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/ns/net")
	ours, also := os.Readlink("/proc/self/ns/net")
	return err == nil && also == nil && theirs != ours
}
