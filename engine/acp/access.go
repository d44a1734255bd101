package acp

import (
	"encoding/json"
	"path/filepath"

	"harness"
)

// accessOf says what calls of the protocol's kinds touch. Those that are not
// here may do anything.
func accessOf(kind string) harness.Access {
	switch kind {
	case "read", "search", "think":
		return harness.AccessRead
	case "edit", "delete", "move":
		return harness.AccessEdit
	case "execute":
		return harness.AccessExecute
	case "fetch":
		return harness.AccessNetwork
	}
	return ""
}

// access classes a call. An edit of files that are not known, leave the
// workspace, or are the agent's own, is more than an edit.
func (r *run) access(k *update) harness.Access {
	a := accessOf(k.Tool)
	switch a {
	case "":
		return harness.AccessExecute
	case harness.AccessEdit:
		paths := k.paths()
		for _, p := range paths {
			if _, ok := inside(r.turn.Directory, p); !ok {
				return harness.AccessExecute
			}
			if _, own := inside(r.kept.home, absolute(r.turn.Directory, p)); own {
				return harness.AccessExecute
			}
		}
		if len(paths) == 0 {
			return harness.AccessExecute
		}
	}
	return a
}

// paths are the files that a call says it is about.
func (u *update) paths() (all []string) {
	for _, l := range u.Locations {
		all = append(all, l.Path)
	}
	for _, p := range outputs(u.Content) {
		if p.Type == "diff" {
			all = append(all, p.Path)
		}
	}
	var in struct {
		A string `json:"file_path"`
		B string `json:"filepath"`
		C string `json:"filePath"`
		D string `json:"path"`
	}
	_ = json.Unmarshal(u.Input, &in) // one that names nothing
	for _, p := range []string{in.A, in.B, in.C, in.D} {
		if p != "" {
			all = append(all, p)
		}
	}
	return all
}

func absolute(directory, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(directory, path)
}

// inside is a path's name below a directory; false if it is not there.
func inside(directory, path string) (string, bool) {
	rel, err := filepath.Rel(directory, absolute(directory, path))
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}
