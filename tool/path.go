package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// ErrOutside is a path that is not the workspace's.
var ErrOutside = errors.New("outside the workspace")

// locate turns what a model calls a path into a name of the workspace. It looks
// at the text only: links are the workspace's business, which does not let them
// out either.
func locate(env *Env, name string) (string, error) {
	outside := fmt.Errorf("%q is %w; the workspace is %s", name, ErrOutside, env.Directory)
	rel := name
	switch {
	case name == "":
		return "", errors.New("the path is empty")
	case name == "~" || strings.HasPrefix(name, "~/"):
		return "", outside
	case path.IsAbs(name):
		var inside bool
		if rel, inside = strings.CutPrefix(path.Clean(name)+"/", path.Clean(env.Directory)+"/"); !inside {
			return "", outside
		}
	}
	rel = path.Clean(rel)
	if rel == ".." || strings.HasPrefix(rel, "../") {
		return "", outside
	}
	if !fs.ValidPath(rel) || strings.ContainsRune(rel, 0) {
		return "", fmt.Errorf("%q is not a path", name)
	}
	return rel, nil
}

// find is locate for what should exist: if it does not, and there is a name of
// the same characters in another Unicode form, it is that.
func find(env *Env, name string) (string, error) {
	rel, err := locate(env, name)
	if err != nil || isASCII(rel) {
		return rel, err
	}
	if _, err := fs.Stat(env.Workspace, rel); !errors.Is(err, fs.ErrNotExist) {
		return rel, nil
	}
	at := "."
	for part := range strings.SplitSeq(rel, "/") {
		at = path.Join(at, sameName(env.Workspace, at, part))
	}
	return at, nil
}

// sameName is the entry of a directory that is written like name, or name.
func sameName(fsys fs.FS, dir, name string) string {
	entries, _ := fs.ReadDir(fsys, dir)
	other := name
	for _, e := range entries {
		if e.Name() == name {
			return name
		}
		if norm.NFC.String(e.Name()) == norm.NFC.String(name) {
			other = e.Name()
		}
	}
	return other
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// workingDirectory is the directory that a process starts in.
func workingDirectory(env *Env, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	rel, err := find(env, name)
	if err != nil {
		return "", err
	}
	info, err := fs.Stat(env.Workspace, rel)
	if err != nil {
		return "", plain(env, rel, err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory", rel)
	}
	return rel, nil
}

// plain says in the model's words why a file cannot be used, with names that
// could be meant if it is not there.
func plain(env *Env, rel string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if near := similar(env.Workspace, rel); near != "" {
			return fmt.Errorf("%s does not exist; did you mean %s? (%w)", rel, near, fs.ErrNotExist)
		}
		return fmt.Errorf("%s does not exist (%w)", rel, fs.ErrNotExist)
	case strings.Contains(err.Error(), "path escapes"):
		return fmt.Errorf("%s is a link that leads %w", rel, ErrOutside)
	default:
		return err
	}
}

// similar finds a name in the same directory that differs in case, in its
// ending, or in few characters; or "".
func similar(fsys fs.FS, rel string) string {
	dir, base := path.Split(rel)
	dir = path.Clean(dir)
	entries, _ := fs.ReadDir(fsys, dir)
	best, nearest := 0.5, ""
	for _, e := range entries[:min(len(entries), 1000)] {
		if near := likeness(strings.ToLower(e.Name()), strings.ToLower(base)); near > best {
			best, nearest = near, path.Join(dir, e.Name())
		}
	}
	return nearest
}

// likeness says how many pairs of neighbouring bytes two texts have in common,
// from 0 to 1. It costs as much as the texts are long.
func likeness(a, b string) float64 {
	if a == b {
		return 1
	}
	if len(a) < 2 || len(b) < 2 {
		return 0
	}
	pairs := make(map[[2]byte]int, len(a))
	for i := range len(a) - 1 {
		pairs[[2]byte{a[i], a[i+1]}]++
	}
	common := 0
	for i := range len(b) - 1 {
		if p := [2]byte{b[i], b[i+1]}; pairs[p] > 0 {
			pairs[p]--
			common++
		}
	}
	return 2 * float64(common) / float64(len(a)+len(b)-2)
}
