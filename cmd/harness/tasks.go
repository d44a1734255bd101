package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"harness"
	"harness/workspace/task"
)

// taskRooms are the workspaces of sessions that work apart from people, by the
// session's id. The directory is made when there is one.
type taskRooms struct {
	dir  *string
	ours bool // no other server has its own there
}

// tasks is the flag that says where they are. That is not the data directory:
// processes in a sandbox see nothing of that.
func (f *flags) tasks() taskRooms {
	return taskRooms{dir: f.String("tasks", "", "`DIR` for the workspaces of isolated sessions; by default beside the data directory")}
}

// beside is where they are if nothing was said.
func (t taskRooms) beside(data string) taskRooms {
	if *t.dir == "" {
		return taskRooms{new(filepath.Clean(data) + "-tasks"), true}
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

// reconcile removes workspaces that a crash left half made: no session has ever
// worked there. Whole ones without a session are named and left, for who knows
// which store has gone back to an earlier day.
func (t taskRooms) reconcile(ctx context.Context, store harness.Store, log *slog.Logger) {
	if _, err := os.Stat(*t.dir); err != nil || !t.ours {
		return
	}
	all, err := task.Open(*t.dir, nil)
	var list []task.Task
	if err == nil {
		list, err = all.List()
	}
	if err != nil {
		log.Warn("workspaces of sessions are not looked after", "err", err)
		return
	}
	for _, made := range list {
		if made.Kind == "" {
			err := all.Remove(ctx, made.Name)
			log.Info("removed a workspace that a crash left half made", "session", made.Name, "err", err)
			continue
		}
		found := false
		for _, err := range store.List(ctx, harness.Filter{Session: harness.SessionID(made.Name), Limit: 1}) {
			found = true
			if err != nil {
				return // nothing can be said of any
			}
		}
		if !found {
			log.Warn("a workspace has no session", "session", made.Name, "directory", made.Directory)
		}
	}
}
