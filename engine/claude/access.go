package claude

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"harness"
)

// accesses says what the program's tools touch. A tool that is not here is
// asked about whenever the mode asks for anything.
var accesses = map[string]harness.Access{
	"Read": harness.AccessRead, "Glob": harness.AccessRead, "Grep": harness.AccessRead, "LS": harness.AccessRead, "NotebookRead": harness.AccessRead,
	"ToolSearch": harness.AccessRead, "TodoWrite": harness.AccessRead, "Skill": harness.AccessRead, "EnterPlanMode": harness.AccessRead,
	"Edit": harness.AccessEdit, "MultiEdit": harness.AccessEdit, "Write": harness.AccessEdit, "NotebookEdit": harness.AccessEdit,
	"Bash": harness.AccessExecute, "PowerShell": harness.AccessExecute, "KillShell": harness.AccessExecute, "Task": harness.AccessExecute, "Agent": harness.AccessExecute,
	"WebFetch": harness.AccessNetwork, "WebSearch": harness.AccessNetwork,
	question: harness.AccessExecute, plan: harness.AccessExecute, // somebody has to answer
}

// Tools that are not calls but questions.
const (
	question = "AskUserQuestion"
	plan     = "ExitPlanMode"
)

// access classes a call. outside says that it reaches beyond the workspace.
func access(tool string, outside bool) harness.Access {
	a := accesses[tool]
	switch {
	case strings.HasPrefix(tool, "mcp__"):
		return harness.AccessNetwork
	case a == "", a == harness.AccessEdit && outside:
		return harness.AccessExecute
	}
	return a
}

// outside reports whether a call names a file that is not below directory.
func outside(directory, blocked string, input json.RawMessage) bool {
	var named struct {
		File     string `json:"file_path"`
		Notebook string `json:"notebook_path"`
	}
	_ = json.Unmarshal(input, &named) // one that names nothing
	for _, path := range []string{blocked, named.File, named.Notebook} {
		if path == "" {
			continue
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(directory, path)
		}
		if rel, err := filepath.Rel(directory, path); err != nil || !filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}
