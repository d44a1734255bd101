package script_test

import (
	"testing"

	"harness"
	"harness/engine/enginetest"
)

// allTold is a script that tells of all that there is.
const allTold = `
say hello
think hm
reflect so
tool bash {"command":"ls"}
log a
result a
outcome ok
ask edit {"path":"a"} access=edit => changed
usage 1 2
step 1/1 Look completed
emit sandbox_notice {"isolation":"none"}
emit transport_diagnostic {"status":"degraded","kind":"slow"}
emit subagent_event {"agent_id":"a","status":"running"}
emit turn_start_tools {"tools":[]}
emit tool_batch {"waves":[]}
emit tool_selected {"tools":[]}
emit tool_validation_error {"tool_call_id":"x","tool_name":"bash","errors":[],"repaired":false}
emit context_warning {"pct":90}
emit context_compacted {"summary":"short"}
emit retrieval {"query":"q","chunks":[]}
emit antahkarana {}
emit artifact {"artifact_id":"art_1","artifact_type":"diff"}
emit completed {"result":"done"}
checkpoint
`

// TestAScriptTellsOfAllThatTheEngineClaims and of nothing else.
func TestAScriptTellsOfAllThatTheEngineClaims(t *testing.T) {
	t.Parallel()
	told := enginetest.NewLedger(t)
	e := engine(t, allTold, nil)
	h := enginetest.NewHost("ses_1")
	if err := told.Watch(t, e).Run(t.Context(), h.Begin("go"), h); err != nil {
		t.Fatal(err)
	}
	told.SettleEvents(e.Abilities(), 1)
}

// TestAnEngineThatLacksNothingSaysNothing of it in the log.
func TestAnEngineThatLacksNothingSaysNothing(t *testing.T) {
	t.Parallel()
	if lacks := engine(t, "say a", nil).Abilities().Lacks(); lacks != nil {
		t.Errorf("it lacks %+v", lacks)
	}
	var none harness.Abilities
	if lacks := none.Lacks(); len(lacks.Commands) != 4 || len(lacks.Events)+len(none.Events())+6 != len(harness.Inventory()) { // six the server sees to
		t.Errorf("an engine that can do nothing lacks %+v", lacks)
	}
}
