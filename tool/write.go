package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
)

type writeInput struct {
	Path    string `json:"path" rule:"required max=4096" doc:"The file, relative to the workspace or absolute inside it. Missing directories are made."`
	Content string `json:"content" rule:"required empty max=16777216" doc:"All of its new content."`
}

// NewWrite returns what makes files and replaces them.
func NewWrite() Tool {
	return checked[writeInput]{define("write", "Makes a file, or replaces all of its content. A file that exists must have been read before, and not have changed since. To change a part of a file use edit.",
		func(env *Env, in *writeInput) (Plan, error) {
			rel, err := find(env, in.Path)
			if err != nil {
				return Plan{}, err
			}
			return changes(rel, fmt.Sprintf("write %s to", counted(len(in.Content), "byte"))), nil
		}, runWrite), func(env *Env, in *writeInput) error { return checkWrite(env, in.Path) }}
}

func runWrite(ctx context.Context, env *Env, in *writeInput) (Result, error) {
	rel, err := find(env, in.Path)
	if err != nil {
		return Result{}, err
	}
	done, err := env.State.change(ctx)
	if err != nil {
		return Result{}, err
	}
	defer done()
	_, err = fresh(env, rel)
	created := errors.Is(err, fs.ErrNotExist)
	if err != nil && !created {
		return Result{}, err
	}
	if err := save(env, rel, []byte(in.Content)); err != nil {
		return Result{}, err
	}
	how := "replaced"
	if created {
		how = "created"
	}
	lines := countLines([]byte(in.Content))
	return Result{Text: fmt.Sprintf("%s %s (%s, %s)", how, path.Clean(rel), counted(lines, "line"), counted(len(in.Content), "byte")), Data: data(describe(rel, []byte(in.Content), created))}, nil
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
