package rest

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"harness"
)

// S3's acceptance criteria that concern streams and branches, one test each, in
// S3's own words. A stream sends the log's own bytes, so the log is looked at.

// accept plays a script in a bubble and hands over the stage.
func accept(t *testing.T, src string, check func(*stage)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { check(newStage(t, src)) })
}

func (s *stage) log() []harness.Event {
	s.t.Helper()
	var log []harness.Event
	for e, err := range s.k.Read(s.t.Context(), s.id, 0) {
		if err != nil {
			s.t.Fatal(err)
		}
		log = append(log, e)
	}
	return log
}

// timeline is the types of the session's channel, and how often each is there.
func (s *stage) timeline() map[harness.Type]int {
	s.t.Helper()
	d, err := describe(s.t.Context(), s.k, s.state(0))
	if err != nil {
		s.t.Fatal(err)
	}
	types := map[harness.Type]int{}
	for _, e := range d.Channel.Envelopes {
		types[e.EventType]++
	}
	return types
}

func TestDuplicateToolNamesResolveCorrectlyByToolCallID(t *testing.T) {
	accept(t, `tool read call-1 {"path":"a"}
tool read call-2 {"path":"b"}
result content of b
outcome ok
result content of a
outcome ok`, func(s *stage) {
		s.act("submit read both")
		names := map[harness.CallID]string{}
		outputs := map[harness.CallID]string{}
		for _, e := range s.log() {
			switch p := e.Payload.(type) {
			case *harness.ToolCall:
				names[p.ToolCallID] = p.Name + string(p.Arguments)
			case *harness.ToolResult:
				outputs[p.ToolCallID] = p.Output
			case *harness.ToolOutcome:
				if names[p.ToolCallID] == "" || outputs[p.ToolCallID] == "" || p.ToolName != "read" {
					s.t.Errorf("an outcome of nothing: %+v", p)
				}
			}
		}
		if outputs["call-1"] != "content of a" || outputs["call-2"] != "content of b" || len(outputs) != 2 {
			s.t.Errorf("calls %v, outputs %v", names, outputs)
		}
	})
}

func TestChatTurnsEmitToolOutcomeForSuccessTimeoutDenialArtifactAndFailurePaths(t *testing.T) {
	accept(t, `tool a call-ok
outcome ok 5ms {"n":1}
tool b call-timeout
outcome timeout 2s deadline
tool c call-artifact
outcome artifact 1ms art_1
tool d call-error
outcome error 1ms it broke
tool e call-denied
outcome denied 1ms by a hook
ask f call-asked => never`, func(s *stage) {
		s.act("submit everything")
		s.act("deny no")
		want := map[harness.CallID][2]string{
			"call-ok": {"ok", "ToolExecutionResult"}, "call-timeout": {"timeout", "ToolTimeout"}, "call-artifact": {"artifact", "ToolArtifactReference"},
			"call-error": {"error", "ToolFailure"}, "call-denied": {"denied", "ToolDenied"}, "call-asked": {"denied", "ToolDenied"},
		}
		got := map[harness.CallID][2]string{}
		for _, e := range s.log() {
			if p, ok := e.Payload.(*harness.ToolOutcome); ok {
				if _, again := got[p.ToolCallID]; again {
					s.t.Errorf("a second outcome of %s", p.ToolCallID)
				}
				got[p.ToolCallID] = [2]string{p.Status, p.OutcomeType}
			}
		}
		if !maps.Equal(got, want) {
			s.t.Errorf("the outcomes are %v", got)
		}
	})
}

func TestContextWarningsAndCompactionsAreBothPersistedAndVisibleInTheUITimeline(t *testing.T) {
	accept(t, `emit context_warning {"used_tokens":90,"limit_tokens":100,"pct":90}
emit context_compacted {"original_count":24,"compacted_count":10,"tokens_saved":4200,"summary":"less","preserved_messages":6,"resume_cursor":null}`,
		func(s *stage) {
			s.act("submit go")
			types := s.timeline()
			if types["context_warning"] != 1 || types["context_compacted"] != 1 {
				s.t.Errorf("the timeline has %v", types)
			}
			for _, kind := range []harness.Type{"context_warning", "context_compacted"} {
				if harness.TierOf(kind) != harness.Default {
					s.t.Errorf("%s is not for everybody", kind)
				}
			}
		})
}

func TestPolicyHookSandboxTransportAndSubagentDiagnosticsArePersistedAndReducerHandled(t *testing.T) {
	accept(t, `emit policy_decision {"subject":"turn_runtime","outcome":"configured"}
emit hook_event {"kind":"pre_tool","status":"ok"}
emit sandbox_notice {"requested_backend":"a","resolved_backend":"b","isolation":"workspace"}
emit transport_diagnostic {"status":"degraded","kind":"provider_fallback"}
emit subagent_event {"agent_id":"subagent_1","status":"completed"}`, func(s *stage) {
		s.act("submit go")
		types := s.timeline()
		for _, kind := range []harness.Type{"policy_decision", "hook_event", "sandbox_notice", "transport_diagnostic", "subagent_event"} {
			if info, ok := harness.Lookup(kind); types[kind] != 1 || !ok || !info.Persisted || info.Role == "" {
				s.t.Errorf("%s: %d in the timeline, %+v", kind, types[kind], info)
			}
		}
	})
}

func TestSessionDetailExposesResumePointsAndPersistedDelegatedWorkState(t *testing.T) {
	accept(t, `emit subagent_event {"agent_id":"subagent_1","status":"running","task":"look"}
emit session_checkpoint {"session_id":"x","sequence":1,"checkpoint_type":"step","status":"completed","summary_text":"looked","resume_cursor":null}
ask bash call-1 => ok
emit subagent_event {"agent_id":"subagent_1","status":"completed"}`, func(s *stage) {
		s.act("submit go")
		s.act("allow")
		d, err := describe(s.t.Context(), s.k, s.state(0))
		if err != nil {
			s.t.Fatal(err)
		}
		var found []string
		for _, p := range slices.Backward(d.ResumePoints) {
			found = append(found, string(p.Kind))
		}
		if got := strings.Join(found, " "); got != "step approval turn" {
			s.t.Errorf("the resume points are %s", got)
		}
		if len(d.Subagents) != 1 || d.Subagents[0].Status != "completed" || d.Subagents[0].Task != "look" {
			s.t.Errorf("the delegated work is %+v", d.Subagents)
		}
	})
}

func TestChatAndBackgroundSessionsCanBranchFromAnEventIDOrResumeCursor(t *testing.T) {
	accept(t, "echo", func(s *stage) {
		for _, kind := range []harness.Kind{harness.Chat, harness.Background} {
			s.create(harness.NewSession{Kind: kind})
			source := s.id
			s.act("submit hello")
			d, err := describe(s.t.Context(), s.k, s.state(0))
			if err != nil || len(d.ResumePoints) != 1 {
				s.t.Fatal(d.ResumePoints, err)
			}
			point := d.ResumePoints[0]
			for _, by := range [][2]string{{point.EventID, ""}, {"", point.Cursor}} {
				from, err := harness.BranchAt(source, by[0], by[1])
				if err != nil {
					s.t.Fatal(err)
				}
				s.create(harness.NewSession{From: from})
				s.act("submit again")
				st := s.state(0)
				row := st.Summary()
				if row.Kind != kind || row.Parent != source || row.Branched != point.EventID || row.Cursor == "" || row.Messages != 4 {
					s.t.Errorf("a %s session's branch by %v is %+v", kind, by, row)
				}
				if seed := st.Trail().Checkpoints[0].Payload; seed.CheckpointType != "resume_seed" || seed.SummaryText == "" || *seed.ResumeCursor != row.Cursor {
					s.t.Errorf("a %s session's branch is seeded with %+v", kind, seed)
				}
			}
		}
	})
}

func TestNativeBackgroundAgenticRunsEmitSessionStateSessionCheckpointAndStepProgress(t *testing.T) {
	accept(t, `step 1/1 "Inspect files" running
emit session_checkpoint {"session_id":"bg_123","sequence":4,"checkpoint_type":"step","status":"completed","summary_text":"step-1 completed: Inspect files","resume_cursor":null}
step 1/1 "Inspect files" completed`, func(s *stage) {
		s.create(harness.NewSession{ID: "bg_123", Kind: harness.Background})
		s.act("submit work")
		types := s.timeline()
		if types["session_state"] == 0 || types["session_checkpoint"] == 0 || types["step_progress"] != 2 {
			s.t.Errorf("the timeline has %v", types)
		}
		if st := s.state(0); st.Status != harness.StatusCompleted {
			s.t.Errorf("the session is %s", st.Status)
		}
	})
}
