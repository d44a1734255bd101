package tool

import (
	"encoding/json"
	"errors"
	"io/fs"
)

// Checker is an optional power of a tool: it knows before a call runs, and before
// anybody is asked whether it may, that it would fail.
type Checker interface {
	Tool
	// Check says why the call would fail as things are. It changes nothing; a
	// call that passes may still fail.
	Check(env *Env, input json.RawMessage) error
}

// checked is a tool that is a Checker.
type checked[T any] struct {
	*defined[T]
	check func(env *Env, in *T) error
}

func (c checked[T]) Check(env *Env, input json.RawMessage) error {
	in, err := decode[T](input)
	if err != nil {
		return err
	}
	return c.check(env, in)
}

// checkEdits says why edits would not be made.
func checkEdits(env *Env, name string, edits []Edit) error {
	return checkChange(env, name, func(text string) error {
		_, _, err := replaceAll(text, edits)
		return err
	})
}

// checkChange says why a file would not be changed.
func checkChange(env *Env, name string, change func(text string) error) error {
	rel, err := find(env, name)
	if err != nil {
		return err
	}
	text, err := fresh(env, rel)
	if err != nil {
		return err
	}
	return at(rel, change(string(text)))
}

// checkWrite says why a file would not be made or replaced.
func checkWrite(env *Env, name string) error {
	rel, err := find(env, name)
	if err != nil {
		return err
	}
	if _, err := fresh(env, rel); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
