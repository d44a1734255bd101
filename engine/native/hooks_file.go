package native

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"time"

	"harness"
)

// points are the points that a hook may name.
var points = []HookPoint{HookTurnStart, HookBeforeTool, HookAfterTool, HookStop, HookTurnEnd}

// ParseHooks reads a file of hooks: {"hooks": [{"on": "before_tool", "tools":
// "bash", "command": "…", "timeout": "10s"}]}. Unknown fields and points are
// refused, so that a hook that was misspelt is not silently left out.
func ParseHooks(text []byte) ([]Hook, error) {
	var file struct {
		Hooks []struct {
			On, Tools, Command, Timeout string
		}
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("hooks: %w: %w", err, harness.ErrInvalid)
	}
	var list []Hook
	for i, h := range file.Hooks {
		hook := Hook{On: HookPoint(h.On), Tools: h.Tools, Command: h.Command}
		var err error
		if h.Timeout != "" {
			hook.Timeout, err = time.ParseDuration(h.Timeout)
		}
		_, pattern := path.Match(h.Tools, "")
		switch {
		case !slices.Contains(points, hook.On):
			err = fmt.Errorf("on is %q, want one of %q", h.On, points)
		case h.Command == "":
			err = fmt.Errorf("the command is missing")
		case pattern != nil:
			err = fmt.Errorf("tools: %w", pattern)
		case err == nil && hook.Timeout < 0:
			err = fmt.Errorf("the timeout is negative")
		}
		if err != nil {
			return nil, fmt.Errorf("hook %d: %w: %w", i+1, err, harness.ErrInvalid)
		}
		list = append(list, hook)
	}
	return list, nil
}
