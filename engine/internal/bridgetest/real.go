package bridgetest

import (
	"os"
	"strings"
	"testing"

	"harness"
	"harness/engine/agenttest"
	"harness/engine/internal/program"
)

// Alone runs what the real program has to show where nothing but loopback can be
// reached: its scenes, and what follows here.
func (b *Bridge) Alone(t *testing.T, more map[string]func(*testing.T)) {
	agenttest.Installed(t, b.Package)
	if testing.Short() {
		t.Skip("the real program takes its time")
	}
	if !agenttest.Alone(t) {
		return
	}
	t.Run("Scenes", b.PlayReal)
	t.Run("RunsInNamespaces", b.runsInNamespaces)
	rounds := 2
	if os.Getenv("LONG")+os.Getenv("CI") != "" { // the stand-in does both at every run
		rounds = 4
		t.Run("WhatACommandLeftEndsWithTheTurn", b.leavesNothing)
	}
	t.Run("NothingIsLeftHoweverItEnds", func(t *testing.T) { b.harassed(t, rounds) })
	for name, run := range more {
		t.Run(name, run)
	}
}

// Orphans runs the real program for so many rounds of [Harass], and nothing else.
func (b *Bridge) Orphans(t *testing.T, rounds int) {
	agenttest.Installed(t, b.Package)
	if testing.Short() {
		t.Skip("the real program takes its time")
	}
	if agenttest.Alone(t) {
		b.harassed(t, rounds)
	}
}

// working is a model that has the program run a command, and is done.
func (b *Bridge) working(command string) string {
	return "when user \"again\"\n  say Back.\nwhen step 1 and tool " + b.Shell.Tool + "\n  " + b.Shell.Call(command) + "\nelse\n  say Done."
}

// Freely lets the session's program do what it likes.
func (s *Stage) Freely() {
	s.Helper()
	s.Do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.FullAuto)}})
}

// Namespaces is a sandbox in which nothing but the workspace can be written.
func Namespaces(t *testing.T) program.Options {
	t.Helper()
	return program.Options{Sandbox: Walls(t), Network: true}
}

// runsInNamespaces: it works, remembers, and says what holds.
func (b *Bridge) runsInNamespaces(t *testing.T) {
	t.Parallel()
	s := b.Real(t, Namespaces(t), b.working("echo made > made.txt; touch /outside 2>/dev/null && echo out; echo over"))
	s.Freely()
	s.Ask("go")
	s.Made("made.txt", "made\n")
	s.Has("sandbox_notice namespaces")
	if log := Tell(s.Events()); strings.Contains(log, `out\n`) {
		t.Errorf("it wrote outside:\n%s", log)
	}
	for _, e := range s.Events() {
		if n, ok := e.Payload.(*harness.SandboxNotice); ok && !strings.Contains(n.Reason, b.Notice) {
			t.Errorf("the notice does not say %q: %q", b.Notice, n.Reason)
		}
	}
	s.Reboot()
	s.Ask("again")
	s.Told(-1, "echo made", "again")
	if kept, err := os.ReadFile(s.Dir + "/.harness/" + b.Name + "/.gitignore"); err != nil || string(kept) != "*\n" {
		t.Errorf("what the program keeps is not ignored: %q, %v", kept, err)
	}
}

// leavesNothing is about a command that has left its shell.
func (b *Bridge) leavesNothing(t *testing.T) {
	t.Parallel()
	s := b.Real(t, program.Options{}, b.working("setsid sleep 300 >/dev/null 2>&1 & echo left"))
	s.Freely()
	s.Ask("go")
	s.NotRunning("sleep")
}

// harassed is about commands whose processes try to stay.
func (b *Bridge) harassed(t *testing.T, rounds int) {
	t.Parallel()
	within := b.Start
	if within == 0 {
		within = 1500
	}
	Harass(b.Real(t, program.Options{}, b.working(`sh -c 'trap "" TERM INT HUP; while :; do sleep 0.1; done' & setsid sleep 300 & sleep 30; echo over`)), within, rounds)
}
