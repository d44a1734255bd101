package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

type patchInput struct {
	Path string `json:"path" rule:"max=4096" doc:"The file. Default: the one that the diff's header names."`
	Diff string `json:"diff" rule:"required max=4194304" doc:"A unified diff of one file. Lines around a change must be exactly as they are in the file; numbers of lines are hints."`
}

// NewPatch returns what applies diffs.
func NewPatch() Tool {
	return checked[patchInput]{define("patch", "Applies a unified diff to one file that was read before and has not changed since, or makes a file from a diff against /dev/null. All hunks are applied, or none if one does not fit.", planPatch, runPatch), checkPatch}
}

// target is the file that a patch changes.
func (in *patchInput) target() (string, diff, error) {
	d, err := parseDiff(in.Diff)
	if err != nil {
		return "", d, err
	}
	if in.Path != "" {
		return in.Path, d, nil
	}
	if d.path == "" {
		return "", d, errors.New("the diff names no file, and path is not given")
	}
	return d.path, d, nil
}

func planPatch(env *Env, in *patchInput) (Plan, error) {
	name, d, err := in.target()
	if err != nil {
		return Plan{}, err
	}
	rel, err := find(env, name)
	if err != nil {
		return Plan{}, err
	}
	return changes(rel, fmt.Sprintf("apply %d changes to", len(d.hunks))), nil
}

// makes reports whether a diff makes a file that is not there.
func makes(env *Env, rel string, d diff) bool {
	_, err := fs.Stat(env.Workspace, rel)
	return errors.Is(err, fs.ErrNotExist) && len(d.hunks) == 1 && len(d.hunks[0].old) == 0
}

func checkPatch(env *Env, in *patchInput) error {
	name, d, err := in.target()
	if err != nil {
		return err
	}
	rel, err := find(env, name)
	if err != nil || makes(env, rel, d) {
		return err
	}
	return checkChange(env, name, func(text string) error {
		_, err := d.apply(text)
		return err
	})
}

func runPatch(ctx context.Context, env *Env, in *patchInput) (Result, error) {
	name, d, err := in.target()
	if err != nil {
		return Result{}, err
	}
	rel, err := find(env, name)
	if err != nil {
		return Result{}, err
	}
	if makes(env, rel, d) {
		d.hunks[0].at = 0
		text, err := d.apply("")
		if err != nil {
			return Result{}, err
		}
		return runWrite(ctx, env, &writeInput{Path: name, Content: text})
	}
	return transform(ctx, env, name, func(text string) (string, string, error) {
		changed, err := d.apply(text)
		return changed, fmt.Sprintf("%d hunks", len(d.hunks)), err
	})
}
