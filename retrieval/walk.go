package retrieval

import (
	"context"
	"io"
	"io/fs"
	"path"
	"time"

	"harness/workspace/ignore"
)

// found is a file that may be indexed.
type found struct {
	path string
	size int64
	time time.Time
}

// walk looks at a tree, without reading its files, in the order of its names.
type walk struct {
	root fs.FS
	opts *Options

	files   []found
	bytes   int64
	entries int
	skipped Skipped
}

// dir lists a directory and what is below it. A directory that cannot be read
// is as if it were empty.
func (w *walk) dir(ctx context.Context, name string, depth int, rules *ignore.Rules) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if depth > maxDepth {
		w.skipped.Limit++
		return nil
	}
	at := name
	if at == "" {
		at = "."
	}
	entries, err := fs.ReadDir(w.root, at)
	if err != nil {
		if name == "" {
			return err
		}
		w.skipped.Unreadable++
		return nil
	}
	if text := w.text(path.Join(at, ".git/info/exclude")); text != nil {
		rules = rules.Add(name, text)
	}
	if text := w.text(path.Join(at, ".gitignore")); text != nil {
		rules = rules.Add(name, text)
	}
	for _, e := range entries {
		if w.entries++; w.entries > maxEntries {
			w.skipped.Limit++
			return nil
		}
		below := path.Join(name, e.Name())
		switch {
		case e.Name() == ".git", rules.Match(name, e.Name(), e.IsDir()):
			w.skipped.Ignored++
		case e.IsDir():
			if err := w.dir(ctx, below, depth+1, rules); err != nil {
				return err
			}
		case e.Type().IsRegular():
			w.file(below, e)
		}
	}
	return nil
}

func (w *walk) file(name string, e fs.DirEntry) {
	info, err := e.Info()
	switch {
	case err != nil:
		w.skipped.Unreadable++
	case info.Size() == 0:
	case info.Size() > w.opts.MaxFileBytes:
		w.skipped.Large++
	case len(w.files) >= w.opts.MaxFiles || w.bytes+info.Size() > w.opts.MaxBytes:
		w.skipped.Limit++
	default:
		w.files = append(w.files, found{name, info.Size(), info.ModTime()})
		w.bytes += info.Size()
	}
}

// text is the beginning of a file of rules, nil if there is none.
func (w *walk) text(name string) []byte {
	f, err := w.root.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, ignore.MaxText))
	if err != nil {
		return nil
	}
	return text
}
