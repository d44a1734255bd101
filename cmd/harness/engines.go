package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"harness"
	"harness/engine/acp"
	"harness/engine/claude"
	"harness/engine/codex"
	"harness/engine/native"
	remoteengine "harness/engine/remote"
)

// fidelity is an engine, what it can do, and the programs that it needs.
type fidelity struct {
	name     string
	can      harness.Abilities
	programs []string // of which one will do; none: it needs none
	install  string   // how the first is had
}

// fidelities are the engines for work, the fullest first.
func fidelities() []fidelity {
	return []fidelity{
		{name: "native", can: new(native.Engine).Abilities()},
		{name: "claude", can: new(claude.Engine).Abilities(), programs: []string{"claude"}, install: "npm install -g @anthropic-ai/claude-code, or --engine claude:PATH"},
		{name: "codex", can: new(codex.Engine).Abilities(), programs: []string{"codex"}, install: "npm install -g @openai/codex, or --engine codex:PATH"},
		{name: "acp", can: new(acp.Engine).Abilities(), programs: []string{"opencode", "gemini", "claude-agent-acp", "claude-code-acp"}, install: "npm install -g opencode-ai, or --engine acp:COMMAND for any other agent"},
		{name: "remote", can: remoteengine.Bare()},
	}
}

// lookAtEngines says which engines are really there, and what each cannot do.
func lookAtEngines(ctx context.Context) (all []finding) {
	for _, f := range fidelities() {
		var here []string
		for _, name := range f.programs {
			if path, err := exec.LookPath(name); err == nil {
				here = append(here, fmt.Sprintf("%s at %s", versionOf(ctx, path), path))
			}
		}
		switch {
		case f.name == "remote":
			all = append(all, finding{what: "engine remote: a runner at a URL says itself what it can do; one that knows only S2 has " + lacking(f.can.Lacks())})
		case len(f.programs) == 0:
			all = append(all, finding{what: "engine " + f.name + ": in this program; it has " + lacking(f.can.Lacks())})
		case len(here) == 0:
			all = append(all, finding{what: fmt.Sprintf("engine %s: no %s is installed", f.name, strings.Join(f.programs, ", ")), advice: f.install})
		default:
			all = append(all, finding{what: fmt.Sprintf("engine %s: %s; it has %s", f.name, strings.Join(here, ", "), lacking(f.can.Lacks()))})
		}
	}
	return all
}

// lacking is what is missing, for a person.
func lacking(l *harness.Lacks) string {
	if l == nil {
		return "everything there is"
	}
	var missing []string
	for _, kind := range [][2]string{{"commands", words(l.Commands)}, {"settings", words(l.Settings)}, {"events", words(l.Events)}} {
		if kind[1] != "" {
			missing = append(missing, "no "+kind[0]+" "+kind[1])
		}
	}
	return strings.Join(missing, "; ")
}

// versionPatience is for a program to say its version: some need seconds on a
// busy machine.
const versionPatience = 20 * time.Second

// versionOf is what a program says of itself.
func versionOf(ctx context.Context, path string) string {
	ctx, cancel := context.WithTimeout(ctx, versionPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent"}
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if err != nil || line == "" {
		return "an unknown version"
	}
	return clean(line, 60)
}
