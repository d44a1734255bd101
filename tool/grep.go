package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync"
)

const (
	defaultMatches = 200
	// maxPrinted bounds the text of one search, whatever was asked for.
	maxPrinted = 512 << 10
)

type grepInput struct {
	Pattern string `json:"pattern" rule:"required max=4096" doc:"A regular expression (RE2: no back references, no look-around), matched with each line."`
	Path    string `json:"path" rule:"max=4096" doc:"The directory or file to search. Default: the workspace."`
	Glob    string `json:"glob" rule:"max=4096" doc:"Only files with such names, such as *.go."`
	Mode    string `json:"output" rule:"words=content|files|count" doc:"content: the matching lines (default). files: the files that have one. count: how many each file has."`
	Before  int    `json:"before" rule:"max=50" doc:"Lines to show before each match."`
	After   int    `json:"after" rule:"max=50" doc:"Lines to show after each match."`
	Context int    `json:"context" rule:"max=50" doc:"Lines to show before and after each match."`
	NoCase  bool   `json:"ignore_case" doc:"Letters match in either case."`
	Literal bool   `json:"literal" doc:"The pattern is plain text."`
	Limit   int    `json:"limit" rule:"min=1 max=5000" doc:"How many matching lines, or files, at most. Default 200."`
	Ignored bool   `json:"include_ignored" doc:"Search files that .gitignore names, too."`
}

// NewGrep returns what searches in files.
func NewGrep() Tool {
	return define("grep", "Searches the lines of files. What .gitignore and .ignore name is left out, as are binary files.",
		func(env *Env, in *grepInput) (Plan, error) {
			dir, err := searched(env, in.Path)
			if err != nil {
				return Plan{}, err
			}
			if _, err := compile(in); err != nil {
				return Plan{}, err
			}
			return reads(dir, "search for "+oneLine(in.Pattern, 80)), nil
		}, runGrep)
}

func runGrep(ctx context.Context, env *Env, in *grepInput) (Result, error) {
	lines, err := compile(in)
	if err != nil {
		return Result{}, err
	}
	dir, err := searched(env, in.Path)
	if err != nil {
		return Result{}, err
	}
	info, err := fs.Stat(env.Workspace, dir)
	if err != nil {
		return Result{}, plain(env, dir, err)
	}
	fits := func(string) bool { return true }
	if in.Glob != "" {
		under := dir
		if !info.IsDir() {
			under = "."
		}
		if fits, err = pattern(in.Glob, env.Directory, under); err != nil {
			return Result{}, err
		}
	}
	if in.Limit == 0 {
		in.Limit = defaultMatches
	}
	in.Before, in.After = max(in.Before, in.Context), max(in.After, in.Context)
	s := &search{in: in, lines: lines, fsys: env.Workspace}
	s.found.limit, s.found.mode = in.Limit, in.Mode
	if !info.IsDir() {
		s.all(ctx, func(put func(string) bool) error { put(dir); return nil })
		return s.result(""), context.Cause(ctx)
	}
	w := walker{fsys: env.Workspace, ignored: in.Ignored}
	err = s.all(ctx, func(put func(string) bool) error {
		w.visit = func(name string, e fs.DirEntry) bool { return !e.Type().IsRegular() || !fits(name) || put(name) }
		return w.walk(ctx, dir)
	})
	return s.result(w.note()), errors.Join(err, context.Cause(ctx))
}

// search looks into many files at once.
type search struct {
	in    *grepInput
	lines *lineMatcher
	fsys  fs.FS
	found findings
}

// all searches what names puts, and returns when it has ended or enough was
// found.
func (s *search) all(ctx context.Context, names func(put func(string) bool) error) error {
	type task struct {
		at   int
		name string
	}
	tasks := make(chan task, 64) // the walk is ahead of the reading
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			var r reader
			for t := range tasks {
				if s.found.enough() || ctx.Err() != nil {
					continue
				}
				s.found.add(t.at, s.file(t.name, &r))
			}
		})
	}
	n := 0
	err := names(func(name string) bool {
		tasks <- task{n, name}
		n++
		return !s.found.enough() && ctx.Err() == nil
	})
	close(tasks)
	workers.Wait()
	return err
}

// finding is what one file has.
type finding struct {
	name    string
	count   int
	text    string
	cuts    []int  // where in text each match ends
	skipped string // why it was not searched
}

// result is what was found, in the order of names.
func (s *search) result(note string) Result {
	found, more := s.found.ordered()
	var b strings.Builder
	files, matches := 0, 0
	var skipped []string
	for _, f := range found {
		if f.skipped != "" {
			skipped = append(skipped, f.name+": "+f.skipped)
			continue
		}
		files, matches = files+1, matches+f.count
		switch s.in.Mode {
		case "files":
			fmt.Fprintln(&b, f.name)
		case "count":
			fmt.Fprintf(&b, "%s:%d\n", f.name, f.count)
		default:
			b.WriteString(f.text)
		}
	}
	if files == 0 {
		b.WriteString("[nothing was found]\n")
	}
	if more {
		b.WriteString("[there are more; narrow the search, or raise limit]\n")
	}
	for _, line := range skipped[:min(len(skipped), 5)] {
		fmt.Fprintf(&b, "[not searched: %s]\n", line)
	}
	return Result{Text: b.String() + note, Data: data(map[string]any{"files": files, "matches": matches, "more": more})}
}
