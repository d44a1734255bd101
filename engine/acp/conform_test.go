package acp_test

import (
	"testing"

	"harness/engine/enginetest"
)

func TestEngineKeepsThePromisesOfEngines(t *testing.T) {
	t.Parallel()
	bridge.Promises(t, enginetest.Situations{
		Say: "say", Fail: "fail", Long: "long", Think: "think", Tool: "tool", Ask: "ask", Resume: "resume",
	})
}
