// Package absent is a sandbox on a system that has no such thing: it says so.
package absent

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"harness"
)

// Sandbox opens nothing.
type Sandbox struct{ name string }

// New returns one of a name.
func New(name string) *Sandbox { return &Sandbox{name} }

// Probe fails.
func (s *Sandbox) Probe(context.Context) (harness.Isolation, error) {
	return harness.Isolation{}, s.missing()
}

// Open fails.
func (s *Sandbox) Open(context.Context, harness.WorkspaceSpec) (harness.Workspace, error) {
	return nil, s.missing()
}

func (s *Sandbox) missing() error {
	return fmt.Errorf("%s on %s: %w", s.name, runtime.GOOS, errors.ErrUnsupported)
}
