package main

import (
	"context"
	"fmt"
	"strings"

	"harness"
	"harness/sandbox"
	"harness/sandbox/bwrap"
	"harness/sandbox/docker"
	"harness/sandbox/landlock"
	nowall "harness/sandbox/local"
)

// fence is the flag that says where an agent's processes run.
type fence struct{ name *string }

func (f *flags) fence() fence {
	return fence{f.String("sandbox", sandbox.Auto, "`SANDBOX` that processes run in: auto, bwrap, landlock, local (none), docker:IMAGE; required:SANDBOX to run nothing rather than in less")}
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
