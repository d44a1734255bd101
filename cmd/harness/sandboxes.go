package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"harness"
	"harness/sandbox"
	"harness/sandbox/bwrap"
	"harness/sandbox/docker"
	"harness/sandbox/landlock"
	nowall "harness/sandbox/local"
)

// fence is the flags that say where an agent's processes run, and what they may
// reach there.
type fence struct {
	name, read *string
	network    *bool
}

func (f *flags) fence() fence {
	return fence{
		name:    f.String("sandbox", sandbox.Auto, "`SANDBOX`: auto, bwrap, landlock, local (none), docker:IMAGE; required:SANDBOX for no less"),
		read:    f.String("sandbox-read", "", "what processes may read and execute beside the workspace and the system, `PATH` with commas"),
		network: f.Bool("sandbox-network", false, "let processes use the network"),
	}
}

// passedOn are the variables of ours that processes of a sandbox have too: none
// of them is a secret, and without them programs misbehave.
var passedOn = []string{"PATH", "LANG", "LC_ALL", "TZ"}

// spec is what every workspace offers.
func (f fence) spec(getenv func(string) string) harness.WorkspaceSpec {
	s := harness.WorkspaceSpec{Network: *f.network, Limits: sandbox.DefaultLimits, Env: []string{"TERM=dumb"}}
	for _, path := range parts(*f.read) {
		if abs, err := filepath.Abs(path); err == nil { // a relative one would be the workspace's
			path = abs
		}
		s.ReadOnly = append(s.ReadOnly, path)
	}
	for _, name := range passedOn {
		if value := getenv(name); value != "" {
			s.Env = append(s.Env, name+"="+value)
		}
	}
	return s
}

// own is what of a workspace is ours: sessions, rules, memory. Processes that
// could change it could allow themselves everything.
const own = ".harness"

// workspace is what the workspaces of an engine offer, and hide.
func (h *housing) workspace() harness.WorkspaceSpec {
	s := h.fence.spec(h.program.getenv)
	s.Hidden = []string{own}
	if h.data != "" {
		s.Hidden = append(s.Hidden, h.place())
	}
	return s
}

// place is the data directory, absolute and without links.
func (h *housing) place() string {
	path, err := filepath.Abs(h.data)
	if err != nil {
		path = h.data
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path
}

// choose tries what was asked for. The notice says what was got.
func (f fence) choose(ctx context.Context) (harness.Sandbox, harness.SandboxNotice, error) {
	name, need := *f.name, sandbox.Preferred
	if rest, ok := strings.CutPrefix(name, "required"); ok {
		name, need = strings.TrimPrefix(rest, ":"), sandbox.Required
		if name == "" {
			name = sandbox.Auto
		}
	}
	name, image, _ := strings.Cut(name, ":")
	// In the order of preference.
	candidates := []sandbox.Candidate{
		{Name: "bwrap", Sandbox: bwrap.New(nil), Auto: true},
		{Name: "landlock", Sandbox: landlock.New(nil), Auto: true},
		{Name: "local", Sandbox: nowall.New(nil), Auto: true},
		{Name: "docker", Sandbox: docker.New(&docker.Options{Image: image})},
	}
	box, notice, err := sandbox.Choose(ctx, name, need, candidates)
	if err != nil {
		return nil, notice, fmt.Errorf("--sandbox %s: %w", *f.name, err)
	}
	return box, notice, nil
}
