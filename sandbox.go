package harness

import (
	"context"
	"io"
	"io/fs"
)

// Sandbox makes workspaces: places where a turn's processes run.
type Sandbox interface {
	Open(ctx context.Context, spec WorkspaceSpec) (Workspace, error)
}

// WorkspaceSpec says what a workspace must offer.
type WorkspaceSpec struct {
	Session   SessionID
	Directory string
	Network   bool
	Env       []string // the whole environment; nothing is inherited
}

// Workspace is a directory and the processes in it. Paths are relative to it
// and cannot leave it.
type Workspace interface {
	fs.FS
	WriteFile(name string, data []byte, perm fs.FileMode) error
	// Start runs a process. When ctx is done its whole tree is gone.
	Start(ctx context.Context, c Process) (Child, error)
	// Close ends every process of the workspace.
	Close() error
}

// Process is a command line to run in a workspace.
type Process struct {
	Args           []string
	Dir            string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Child is a process of a workspace.
type Child interface {
	// Wait returns the exit code when the process and everything it started
	// are gone.
	Wait() (int, error)
}

// Rewinder is an optional power of a workspace: files can be taken back.
type Rewinder interface {
	Mark(ctx context.Context) (mark string, err error)
	Rewind(ctx context.Context, mark string, dryRun bool) (Rewound, error)
}
