package acp_test

import (
	"strings"
	"testing"

	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
)

// everyKind of update is told.
func everyKind(t *testing.T, b *bridgetest.Bridge) {
	s := b.As(t, "fault", program.Options{})
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
