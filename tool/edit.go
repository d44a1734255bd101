package tool

import (
	"context"
	"fmt"
)

type editInput struct {
	Path string `json:"path" rule:"required max=4096" doc:"The file, relative to the workspace or absolute inside it. It must have been read before."`
	Edit
}

// NewEdit returns what changes one place of a file.
func NewEdit() Tool {
	return checked[editInput]{define("edit", "Replaces a piece of text in a file that was read before and has not changed since.",
		func(env *Env, in *editInput) (Plan, error) { return planEdit(env, in.Path) },
		func(ctx context.Context, env *Env, in *editInput) (Result, error) {
			return runEdits(ctx, env, in.Path, []Edit{in.Edit})
		}), func(env *Env, in *editInput) error { return checkEdits(env, in.Path, []Edit{in.Edit}) }}
}

type multiEditInput struct {
	Path  string `json:"path" rule:"required max=4096" doc:"The file, relative to the workspace or absolute inside it. It must have been read before."`
	Edits []Edit `json:"edits" rule:"required max=100" doc:"What to replace, in this order, each in what the former ones made."`
}

// NewMultiEdit returns what changes several places of a file, all or none.
func NewMultiEdit() Tool {
	return checked[multiEditInput]{define("multi_edit", "Replaces several pieces of text in one file that was read before and has not changed since. All of them are replaced, or none if one does not fit.",
		func(env *Env, in *multiEditInput) (Plan, error) { return planEdit(env, in.Path) },
		func(ctx context.Context, env *Env, in *multiEditInput) (Result, error) {
			return runEdits(ctx, env, in.Path, in.Edits)
		}), func(env *Env, in *multiEditInput) error { return checkEdits(env, in.Path, in.Edits) }}
}

func planEdit(env *Env, name string) (Plan, error) {
	rel, err := find(env, name)
	if err != nil {
		return Plan{}, err
	}
	return changes(rel, "edit"), nil
}

func runEdits(ctx context.Context, env *Env, name string, edits []Edit) (Result, error) {
	return transform(ctx, env, name, func(text string) (string, string, error) {
		changed, places, err := replaceAll(text, edits)
		return changed, counted(places, "place"), err
	})
}

// transform changes a file that the model knows, at once or not at all.
func transform(ctx context.Context, env *Env, name string, change func(text string) (changed, what string, err error)) (Result, error) {
	rel, err := find(env, name)
	if err != nil {
		return Result{}, err
	}
	done, err := env.State.change(ctx)
	if err != nil {
		return Result{}, err
	}
	defer done()
	text, err := fresh(env, rel)
	if err != nil {
		return Result{}, err
	}
	changed, what, err := change(string(text))
	if err != nil {
		return Result{}, at(rel, err)
	}
	if err := save(env, rel, []byte(changed)); err != nil {
		return Result{}, err
	}
	from, excerpt := difference(string(text), changed)
	return Result{Text: fmt.Sprintf("changed %s (%s); it now reads from line %d:\n%s", rel, what, from, excerpt), Data: data(describe(rel, []byte(changed), false))}, nil
}

// at says where something is wrong.
func at(rel string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", rel, err)
}
