package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"harness"
	"harness/archive/claude"
	"harness/archive/codex"
	written "harness/archive/transcript"
)

// foreign is a program whose transcripts can be read.
type foreign struct {
	read func(io.Reader, *written.Options) (*written.Session, error)
	home func(getenv func(string) string) string // where it keeps them
	name string                                  // of a file of them, as a pattern
}

var transcripts = map[string]foreign{
	"claude": {claude.Read, func(getenv func(string) string) string {
		return filepath.Join(cmp.Or(getenv("CLAUDE_CONFIG_DIR"), filepath.Join(getenv("HOME"), ".claude")), "projects")
	}, "*.jsonl"},
	"codex": {codex.Read, func(getenv func(string) string) string {
		return filepath.Join(cmp.Or(getenv("CODEX_HOME"), filepath.Join(getenv("HOME"), ".codex")), "sessions")
	}, "rollout-*.jsonl"},
}

// transcriptsOf are the readers for whoever sends one.
func transcriptsOf(hidden secrets) map[string]func(io.Reader, string, string) (*written.Session, error) {
	all := map[string]func(io.Reader, string, string) (*written.Session, error){}
	for name, f := range transcripts {
		all[name] = func(r io.Reader, user, directory string) (*written.Session, error) {
			return f.read(r, &written.Options{Redact: hidden, User: user, Directory: directory})
		}
	}
	return all
}

// maxTranscript bounds a file: a session of it is held in memory.
const maxTranscript = 256 << 20

// find is a file, or the transcripts below a directory in the order of their
// names. What subagents wrote is not one of its own.
func (f foreign) find(path string) (files []string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "subagents":
			return filepath.SkipDir
		}
		if ok, _ := filepath.Match(f.name, d.Name()); ok && d.Type().IsRegular() {
			files = append(files, name)
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: there are no transcripts: %w", path, harness.ErrNotFound)
	}
	slices.Sort(files)
	return files, err
}

// readTranscript reads all of one before anything is done with it.
func (p *program) readTranscript(from foreign, path string, o *written.Options) (*written.Session, error) {
	in := p.stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, errors.Unwrap(err)
		}
		defer file.Close()
		in = file
	}
	bounded := &io.LimitedReader{R: in, N: maxTranscript + 1}
	s, err := from.read(bounded, o)
	if bounded.N == 0 {
		return nil, fmt.Errorf("it has more than %d bytes: %w", maxTranscript, harness.ErrInvalid)
	}
	return s, err
}
