package runner_test

import (
	"os"
	"strings"
	"testing"

	"harness/protocol/runner"
)

// The page names every route and every kind of event.
func TestThePageDescribesTheProtocol(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../docs/protocols/runner.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for _, pattern := range runner.Patterns() {
		if pattern = strings.Replace(pattern, "{call...}", "{toolUseId}", 1); !strings.Contains(page, "| `"+pattern+"`") {
			t.Errorf("%s is missing", pattern)
		}
	}
	for _, kind := range []runner.Kind{
		runner.Started, runner.Delta, runner.ToolStart, runner.Completed, runner.Failed, runner.ToolOutput, runner.ToolDone, runner.Asked,
		runner.Reasoning, runner.UsageSoFar, runner.Checkpoint, runner.Content, runner.TaskAsked, runner.TaskDropped, runner.Other, runner.Cancelled,
	} {
		if !strings.Contains(page, "| `"+string(kind)+"`") {
			t.Errorf("%s is missing", kind)
		}
	}
}
