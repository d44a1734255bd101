// Package task makes isolated workspaces: a directory for one task, apart from
// the one that people work in.
//
// Of a repository it is a git worktree on a branch of its own, of anything else
// a copy. git runs only here, only in the user's own repository, and never in
// the new directory once an agent may have written to it: adding a worktree
// comes before the agent, and removing one deletes the directory first. Even so
// it runs with no hooks, no filters, no helpers, no network and no
// configuration but the repository's, whose programs are switched off by name.
// Nobody should add a worktree to a repository that an agent may write into;
// if it has happened, this is what stands between its configuration and us.
package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"harness"
)

// Kind is how a workspace was made.
type Kind string

const (
	Worktree Kind = "worktree"
	Copy     Kind = "copy"
)

// Task is a workspace.
type Task struct {
	Name      string    `json:"name"`
	Kind      Kind      `json:"kind"`
	Source    string    `json:"source"`    // the directory it was made from
	Directory string    `json:"directory"` // where to work: what Source is, in the new place
	Root      string    `json:"root"`      // the whole of the new place; Directory lies in it
	Branch    string    `json:"branch,omitempty"`
	Base      string    `json:"base,omitempty"` // the commit that Branch began at
	Created   time.Time `json:"created"`
	// Notes say what is not as one would expect.
	Notes []string `json:"notes,omitempty"`
}

// Options change what Tasks do; the zero value works.
type Options struct {
	Git      string // the program; looked up if empty, and never used if "-"
	MaxFiles int    // of a copy; 200,000 if 0
	MaxBytes int64  // of a copy; 4 GB if 0
	// Leave names what of a directory is not copied, at its top.
	Leave []string
}

// Tasks are the workspaces below one directory of ours.
type Tasks struct {
	dir  string
	opts Options
}

// Open returns the workspaces below dir, which is made if need be.
func Open(dir string, opts *Options) (*Tasks, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	t := &Tasks{dir: dir}
	if opts != nil {
		t.opts = *opts
	}
	if t.opts.MaxFiles <= 0 {
		t.opts.MaxFiles = 200_000
	}
	if t.opts.MaxBytes <= 0 {
		t.opts.MaxBytes = 4 << 30
	}
	return t, os.MkdirAll(dir, 0o700)
}

func (t *Tasks) place(name string) string  { return filepath.Join(t.dir, name) }
func (t *Tasks) record(name string) string { return filepath.Join(t.place(name), "task.json") }

// Create makes a workspace of source under a name that is not taken. It is a
// worktree of the commit that source's repository is at, or else a copy of the
// files as they are; Notes say why not the first.
func (t *Tasks) Create(ctx context.Context, name, source string) (task Task, err error) {
	if err := harness.CheckID("task", name); err != nil {
		return Task{}, err
	}
	if source, err = filepath.Abs(source); err != nil {
		return Task{}, err
	}
	if source, err = filepath.EvalSymlinks(source); err != nil {
		return Task{}, err
	}
	if within(source, t.dir) {
		return Task{}, fmt.Errorf("task of %s: %w: it is where tasks are kept", source, harness.ErrInvalid)
	}
	if err := os.Mkdir(t.place(name), 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return Task{}, fmt.Errorf("task %s: %w", name, harness.ErrExists)
		}
		return Task{}, err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(t.place(name))
		}
	}()
	task = Task{Name: name, Source: source, Root: filepath.Join(t.place(name), "tree"), Created: time.Now().UTC()}
	if repo, ok := repository(source); ok {
		err := t.worktree(ctx, &task, repo)
		if err == nil {
			return task, t.save(task)
		}
		if ctx.Err() != nil {
			return Task{}, context.Cause(ctx)
		}
		task.Kind, task.Branch, task.Base = "", "", ""
		task.Notes = []string{"not a worktree: " + err.Error()}
		if err := os.RemoveAll(task.Root); err != nil {
			return Task{}, err
		}
	}
	if err := t.copy(ctx, &task); err != nil {
		return Task{}, err
	}
	return task, t.save(task)
}

func (t *Tasks) save(task Task) error {
	b, err := json.Marshal(task)
	if err != nil {
		return err
	}
	temp := t.record(task.Name) + ".tmp"
	if err := os.WriteFile(temp, b, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, t.record(task.Name))
}

// List returns the workspaces, oldest first. One that was being made when the
// process was killed has no Kind; Remove removes it.
func (t *Tasks) List() ([]Task, error) {
	entries, err := os.ReadDir(t.dir)
	if err != nil {
		return nil, err
	}
	var list []Task
	for _, e := range entries {
		if harness.CheckID("task", e.Name()) != nil || !e.IsDir() {
			continue
		}
		task, err := t.Get(e.Name())
		if err != nil {
			return nil, err
		}
		list = append(list, task)
	}
	slices.SortFunc(list, func(a, b Task) int { return a.Created.Compare(b.Created) })
	return list, nil
}

// Get returns a workspace.
func (t *Tasks) Get(name string) (Task, error) {
	if err := harness.CheckID("task", name); err != nil {
		return Task{}, err
	}
	if _, err := os.Stat(t.place(name)); err != nil {
		return Task{}, fmt.Errorf("task %s: %w", name, harness.ErrNotFound)
	}
	b, err := os.ReadFile(t.record(name))
	if errors.Is(err, fs.ErrNotExist) {
		return Task{Name: name, Root: filepath.Join(t.place(name), "tree")}, nil
	}
	if err != nil {
		return Task{}, err
	}
	var task Task
	if err := json.Unmarshal(b, &task); err != nil || task.Name != name {
		return Task{}, fmt.Errorf("task %s: %w", name, harness.ErrCorrupt)
	}
	return task, nil
}

// Remove deletes a workspace with everything in it. A branch stays if anything
// was committed to it, and goes if not.
func (t *Tasks) Remove(ctx context.Context, name string) error {
	task, err := t.Get(name)
	if err != nil {
		return err
	}
	if err := removeAll(task.Root); err != nil {
		return fmt.Errorf("task %s: %w", name, err)
	}
	var forgotten error
	if task.Kind == Worktree {
		forgotten = t.forget(ctx, task)
	}
	return errors.Join(removeAll(t.place(name)), forgotten)
}

// removeAll is os.RemoveAll that also enters directories that forbid it.
func removeAll(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer root.Close()
	fs.WalkDir(root.FS(), ".", func(p string, e fs.DirEntry, _ error) error {
		if e != nil && e.IsDir() {
			root.Chmod(p, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}

// within reports whether path is dir or lies in it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
