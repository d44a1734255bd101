//go:build !unix

package local

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"harness"
)

// Sandbox does not work on this system.
type Sandbox struct{}

// New returns a sandbox that says so.
func New(*Options) *Sandbox { return &Sandbox{} }

// Probe fails.
func (*Sandbox) Probe(context.Context) (harness.Isolation, error) {
	return harness.Isolation{}, missing()
}

// Open fails.
func (*Sandbox) Open(context.Context, harness.WorkspaceSpec) (harness.Workspace, error) {
	return nil, missing()
}

func missing() error { return fmt.Errorf("local on %s: %w", runtime.GOOS, errors.ErrUnsupported) }
