package acp_test

import (
	"os"
	"strings"
	"testing"

	"harness/engine/enginetest"
	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
)

// everyKind of update is told.
func everyKind(t *testing.T, told *enginetest.Ledger) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := bridgetest.Open(t, t.TempDir(), program.Options{Env: []string{"HARNESS_TEST_ACP=agent"}}, bridgetest.Watched(t, told, opener(self)))
	s.Ask("kinds")
	log := bridgetest.Tell(s.Events())
	for _, want := range []string{
		"transport_diagnostic degraded low_fidelity", "step_progress 0/2 completed one", "step_progress 1/2 in_progress two", "tool_call k execute",
		"tool_outcome k ok", "context_compacted", "transport_diagnostic degraded agent_warning", "turn_end completed",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not say %s:\n%s", want, log)
		}
	}
}
