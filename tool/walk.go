package tool

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"harness/workspace/ignore"
)

// maxVisited bounds the entries that one search looks at.
const maxVisited = 500_000

// walker goes through the files below a directory in the order of their names.
// It follows no links, and leaves out .git and what ignore files name.
type walker struct {
	fsys    fs.FS
	ignored bool // show ignored files, too
	visit   func(name string, entry fs.DirEntry) (more bool)

	visited int
	full    bool // there was more than it may look at
}

// walk visits everything below dir, which may be ignored itself.
func (w *walker) walk(ctx context.Context, dir string) error {
	var rules *ignore.Rules
	if dir != "." {
		rules = w.rules(nil, "")
		parts := strings.Split(dir, "/")
		for i := 1; i < len(parts); i++ {
			rules = w.rules(rules, strings.Join(parts[:i], "/"))
		}
	}
	_, err := w.dir(ctx, dir, rules)
	return err
}

func (w *walker) dir(ctx context.Context, dir string, rules *ignore.Rules) (more bool, err error) {
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	entries, err := fs.ReadDir(w.fsys, dir)
	if err != nil && len(entries) == 0 {
		if w.visited == 0 {
			return false, err
		}
		return true, nil // gone meanwhile, or not ours to read
	}
	base := dir
	if dir == "." {
		base = ""
	}
	for _, e := range entries {
		if name := e.Name(); name == ".gitignore" || name == ".ignore" {
			rules = w.rules(rules, base)
			break
		}
	}
	for _, e := range entries {
		if w.visited++; w.visited > maxVisited {
			w.full = true
			return false, nil
		}
		if e.Name() == ".git" || !w.ignored && rules.Match(base, e.Name(), e.IsDir()) {
			continue
		}
		name := path.Join(base, e.Name())
		if !fs.ValidPath(name) {
			continue // not UTF-8: the workspace cannot open it
		}
		if e.IsDir() {
			if more, err := w.dir(ctx, name, rules); err != nil || !more {
				return false, err
			}
		} else if !w.visit(name, e) {
			return false, nil
		}
	}
	return true, nil
}

// rules adds those of one directory.
func (w *walker) rules(above *ignore.Rules, base string) *ignore.Rules {
	for _, name := range []string{".gitignore", ".ignore"} {
		f, err := w.fsys.Open(path.Join(base, name))
		if err != nil {
			continue
		}
		text, _ := io.ReadAll(io.LimitReader(f, ignore.MaxText))
		f.Close()
		above = above.Add(base, text)
	}
	return above
}

// note says that a search has not looked at everything, or nothing.
func (w *walker) note() string {
	if !w.full {
		return ""
	}
	return fmt.Sprintf("[there are more than %d files; search in a directory]\n", maxVisited)
}
