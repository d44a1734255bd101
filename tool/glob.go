package tool

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
)

const (
	defaultGlob = 200
	maxGlob     = 2000
)

type globInput struct {
	Pattern string `json:"pattern" rule:"required max=4096" doc:"What names look like, such as **/*.go or src/{a,b}/*.ts. One without a slash matches at any depth."`
	Path    string `json:"path" rule:"max=4096" doc:"The directory to look in. Default: the workspace."`
	Limit   int    `json:"limit" rule:"min=1 max=2000" doc:"How many names at most. Default 200."`
	Ignored bool   `json:"include_ignored" doc:"Show files that .gitignore names, too."`
}

// NewGlob returns what finds files by their names.
func NewGlob() Tool {
	return define("glob", "Finds files by their names, the one that was changed last first. What .gitignore and .ignore name is left out, as are directories.",
		func(env *Env, in *globInput) (Plan, error) {
			dir, err := searched(env, in.Path)
			if err != nil {
				return Plan{}, err
			}
			return reads(dir, "find files named "+oneLine(in.Pattern, 80)), nil
		}, runGlob)
}

// searched is the directory or file that a search is about.
func searched(env *Env, name string) (string, error) {
	if name == "" {
		return ".", nil
	}
	return find(env, name)
}

// match is a file that was found, and when it was changed.
type match struct {
	name    string
	changed time.Time
}

func runGlob(ctx context.Context, env *Env, in *globInput) (Result, error) {
	dir, err := searched(env, in.Path)
	if err != nil {
		return Result{}, err
	}
	fits, err := pattern(in.Pattern, env.Directory, dir)
	if err != nil {
		return Result{}, err
	}
	if info, err := fs.Stat(env.Workspace, dir); err != nil {
		return Result{}, plain(env, dir, err)
	} else if !info.IsDir() {
		return Result{}, fmt.Errorf("%s is not a directory", dir)
	}
	if in.Limit == 0 {
		in.Limit = defaultGlob
	}
	var found []match
	w := walker{fsys: env.Workspace, ignored: in.Ignored}
	w.visit = func(name string, _ fs.DirEntry) bool {
		if fits(name) {
			m := match{name: name}
			if info, err := fs.Stat(env.Workspace, name); err == nil {
				m.changed = info.ModTime()
			}
			found = append(found, m)
		}
		return true
	}
	if err := w.walk(ctx, dir); err != nil {
		return Result{}, err
	}
	slices.SortFunc(found, func(a, b match) int {
		if c := b.changed.Compare(a.changed); c != 0 {
			return c
		}
		return strings.Compare(a.name, b.name)
	})
	return globResult(found, in.Limit, w.note()), nil
}

func globResult(found []match, limit int, note string) Result {
	shown := found[:min(len(found), limit)]
	names := make([]string, len(shown))
	for i, m := range shown {
		names[i] = m.name
	}
	text := strings.Join(names, "\n") + "\n"
	switch {
	case len(found) == 0:
		text = "[no file has such a name]\n"
	case len(found) > len(shown):
		text += fmt.Sprintf("[%d more files]\n", len(found)-len(shown))
	}
	return Result{Text: text + note, Data: data(map[string]any{"files": names, "total": len(found)})}
}
