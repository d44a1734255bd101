package harness

import "context"

// Tasks makes workspaces for sessions that work apart from people: directories of
// their own, made of another. It may be used concurrently.
type Tasks interface {
	// Create makes a workspace for a session of what a directory holds now. It
	// returns where that is, and what there is to say about it.
	Create(ctx context.Context, id SessionID, source string) (directory string, about *Artifact, err error)
	// Remove deletes the workspace of a session with everything in it; nil if it
	// has none.
	Remove(ctx context.Context, id SessionID) error
}

// WorkspaceArtifact is the type of an artifact that describes a session's
// workspace.
const WorkspaceArtifact = "workspace"
