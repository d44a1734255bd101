package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"harness"
	"harness/workspace/task"
)

// taskRooms are the workspaces of sessions that work apart from people, by the
// session's id. The directory is made when there is one.
type taskRooms struct{ dir *string }

// tasks is the flag that says where they are. That is not the data directory:
// processes in a sandbox see nothing of that.
func (f *flags) tasks() taskRooms {
	return taskRooms{f.String("tasks", "", "`DIR` for the workspaces of isolated sessions; by default beside the data directory")}
}

// beside is where they are if nothing was said.
func (t taskRooms) beside(data string) taskRooms {
	if *t.dir == "" {
		return taskRooms{new(filepath.Clean(data) + "-tasks")}
	}
	return t
}

func (t taskRooms) Create(ctx context.Context, id harness.SessionID, source string) (string, *harness.Artifact, error) {
	all, err := task.Open(*t.dir, &task.Options{Leave: []string{own}})
	if err != nil {
		return "", nil, fmt.Errorf("--tasks: %w", err)
	}
	made, err := all.Create(ctx, string(id), source)
	if err != nil {
		return "", nil, err
	}
	about, err := json.Marshal(made)
	if err != nil {
		return "", nil, errors.Join(err, t.Remove(context.WithoutCancel(ctx), id))
	}
	title := "a copy of " + made.Source
	if made.Kind == task.Worktree {
		title = "a worktree of " + made.Source + " on the branch " + made.Branch
	}
	a := harness.NewArtifact(id, harness.WorkspaceArtifact, title, about)
	a.Metadata = about
	return made.Directory, a, nil
}

func (t taskRooms) Remove(ctx context.Context, id harness.SessionID) error {
	if _, err := os.Stat(filepath.Join(*t.dir, string(id))); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	all, err := task.Open(*t.dir, nil)
	if err != nil {
		return fmt.Errorf("--tasks: %w", err)
	}
	return all.Remove(ctx, string(id))
}
