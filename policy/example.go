package policy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"harness"
)

// accesses say what the tools that we know touch; others may touch anything.
var accesses = map[string]harness.Access{
	"read": harness.AccessRead, "glob": harness.AccessRead, "grep": harness.AccessRead, "ls": harness.AccessRead,
	"write": harness.AccessEdit, "edit": harness.AccessEdit, "multi_edit": harness.AccessEdit, "multiedit": harness.AccessEdit, "patch": harness.AccessEdit, "notebookedit": harness.AccessEdit,
	"fetch": harness.AccessNetwork, "webfetch": harness.AccessNetwork, "websearch": harness.AccessNetwork,
}

// Use is a call of a tool with these arguments, to try rules with. What it
// touches is told from its name, and a file outside of the directory is no edit
// of the workspace.
func Use(directory, tool string, input json.RawMessage) harness.ToolUse {
	access, known := accesses[strings.ToLower(tool)]
	if !known {
		access = harness.AccessExecute
	}
	outside := func(f place) bool { return !f.sure || !f.inside || f.up }
	if access == harness.AccessEdit && slices.ContainsFunc(look(directory, tool, input).paths, outside) {
		access = harness.AccessExecute
	}
	return harness.ToolUse{Tool: tool, Access: access, Input: input}
}

// Example reads a call as people write one: the tool, and its arguments as JSON
// or, of a shell, a file or a network tool, the line, the path or the address.
func Example(directory, text string) (harness.ToolUse, error) {
	tool, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	rest = strings.TrimSpace(rest)
	member := ""
	switch access := accesses[strings.ToLower(tool)]; {
	case tool == "":
		return harness.ToolUse{}, fmt.Errorf("a tool and its arguments are missing: %w", harness.ErrInvalid)
	case strings.HasPrefix(rest, "{"):
		if !json.Valid([]byte(rest)) {
			return harness.ToolUse{}, fmt.Errorf("the arguments of %s are not JSON: %w", tool, harness.ErrInvalid)
		}
		return Use(directory, tool, json.RawMessage(rest)), nil
	case rest == "":
		return Use(directory, tool, nil), nil
	case slices.Contains(shells, tool):
		member = "command"
	case access == harness.AccessRead, access == harness.AccessEdit:
		member = "path"
	case access == harness.AccessNetwork:
		member = "url"
	default:
		return harness.ToolUse{}, fmt.Errorf("it is not known how %s has its arguments; write them as JSON: %w", tool, harness.ErrInvalid)
	}
	input, err := json.Marshal(map[string]string{member: rest})
	return Use(directory, tool, input), err
}
