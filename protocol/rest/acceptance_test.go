package rest_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"harness"
)

// S3's acceptance criteria that concern streams and branches, one test each, in
// S3's own words, over HTTP.

// streamed is a session's stream from its beginning up to the end of a turn.
func (s *server) streamed(id string) (events []sseEvent) {
	s.t.Helper()
	r := s.request("GET", "/chat/sessions/"+id+"/events/stream?after=0", "", "Accept", "text/event-stream")
	defer r.Body.Close()
	var e sseEvent
	for lines := bufio.NewScanner(r.Body); lines.Scan(); {
		switch name, value, _ := strings.Cut(lines.Text(), ": "); name {
		case "id":
			e.id = value
		case "event":
			e.event = value
		case "data":
			e.data = value
		case "":
			if e.data != "" {
				events = append(events, e)
			}
			if e.event == "turn_end" {
				return events
			}
			e = sseEvent{}
		}
	}
	s.t.Fatalf("the stream ended: %d, %d events", r.StatusCode, len(events))
	return nil
}

func payloadOf(t testing.TB, e sseEvent) map[string]any {
	t.Helper()
	var env struct{ Payload map[string]any }
	if err := json.Unmarshal([]byte(e.data), &env); err != nil {
		t.Fatal(err)
	}
	return env.Payload
}

// kinds counts the events of a stream by type.
func kinds(events []sseEvent) map[string]int {
	n := map[string]int{}
	for _, e := range events {
		n[e.event]++
	}
	return n
}

// shown is as much of a detail as these tests look at.
type shown struct {
	row
	ResumePoints []struct {
		Cursor, Kind, Label string
		EventID             string `json:"event_id"`
	} `json:"resume_points"`
	Subagents   []struct{ Status, Task string }
	Checkpoints []struct {
		CheckpointType string `json:"checkpoint_type"`
		SummaryText    string `json:"summary_text"`
		ResumeCursor   string `json:"resume_cursor"`
	}
	Channel struct {
		ChannelID string `json:"channel_id"`
		Envelopes []struct {
			EventType string `json:"event_type"`
			SenderID  string `json:"sender_id"`
		}
	}
}

func (s *server) shows(id string) (d shown) {
	s.t.Helper()
	s.must(200, &d, "GET", "/chat/sessions/"+id, "")
	return d
}

func (s *server) answer(request, decision string) {
	s.t.Helper()
	s.must(200, nil, "POST", "/approvals/"+request, fmt.Sprintf(`{"decision":%q}`, decision))
}

func TestDuplicateToolNamesResolveCorrectlyByToolCallID(t *testing.T) {
	t.Parallel()
	s := serve(t, `tool read call-1 {"path":"a"}
tool read call-2 {"path":"b"}
result content of b
outcome ok
result content of a
outcome ok`)
	id := s.chat()
	s.turn(id, "read both")
	calls, outputs := map[any]any{}, map[any]any{}
	for _, e := range s.streamed(id) {
		switch p := payloadOf(t, e); e.event {
		case "tool_call":
			calls[p["tool_call_id"]] = p["arguments"].(map[string]any)["path"]
		case "tool_result":
			outputs[p["tool_call_id"]] = p["output"]
		case "tool_outcome":
			if calls[p["tool_call_id"]] == nil || p["tool_name"] != "read" {
				t.Errorf("an outcome of nothing: %v", p)
			}
		}
	}
	if !maps.Equal(calls, map[any]any{"call-1": "a", "call-2": "b"}) || !maps.Equal(outputs, map[any]any{"call-1": "content of a", "call-2": "content of b"}) {
		t.Errorf("calls %v, outputs %v", calls, outputs)
	}
}

func TestChatTurnsEmitToolOutcomeForSuccessTimeoutDenialArtifactAndFailurePaths(t *testing.T) {
	t.Parallel()
	s := serve(t, `tool a call-ok
outcome ok 5ms {"n":1}
tool b call-timeout
outcome timeout 2s deadline
tool c call-artifact
outcome artifact 1ms art_1
tool d call-error
outcome error 1ms it broke
tool e call-denied
outcome denied 1ms by a hook
ask f call-asked => never`)
	id := s.chat()
	s.say(id, "everything")
	s.answer(s.asks(id), "deny")
	got := map[any][2]any{}
	for _, e := range s.streamed(id) {
		if p := payloadOf(t, e); e.event == "tool_outcome" {
			if _, again := got[p["tool_call_id"]]; again {
				t.Errorf("a second outcome: %v", p)
			}
			got[p["tool_call_id"]] = [2]any{p["status"], p["outcome_type"]}
		}
	}
	if want := map[any][2]any{
		"call-ok": {"ok", "ToolExecutionResult"}, "call-timeout": {"timeout", "ToolTimeout"}, "call-artifact": {"artifact", "ToolArtifactReference"},
		"call-error": {"error", "ToolFailure"}, "call-denied": {"denied", "ToolDenied"}, "call-asked": {"denied", "ToolDenied"},
	}; !maps.Equal(got, want) {
		t.Errorf("the outcomes are %v", got)
	}
}

// timelineHas checks that each kind was streamed once, and is in the channel.
func (s *server) timelineHas(id string, want ...string) {
	s.t.Helper()
	stream, channel := kinds(s.streamed(id)), map[string]int{}
	d := s.shows(id)
	for _, e := range d.Channel.Envelopes {
		channel[e.EventType]++
	}
	for _, kind := range want {
		if info, ok := harness.Lookup(harness.Type(kind)); stream[kind] != 1 || channel[kind] != 1 || !ok || !info.Persisted || info.Role == "" {
			s.t.Errorf("%s: %d streamed, %d in the channel, %+v", kind, stream[kind], channel[kind], info)
		}
	}
	if d.Channel.ChannelID != "session:"+id {
		s.t.Errorf("the channel is %s", d.Channel.ChannelID)
	}
}

func TestContextWarningsAndCompactionsAreBothPersistedAndVisibleInTheUITimeline(t *testing.T) {
	t.Parallel()
	s := serve(t, `emit context_warning {"used_tokens":90,"limit_tokens":100,"pct":90}
emit context_compacted {"original_count":24,"compacted_count":10,"tokens_saved":4200,"summary":"less","preserved_messages":6,"resume_cursor":null}`)
	id := s.chat()
	if n := kinds(s.turn(id, "go")); n["context_warning"] != 1 || n["context_compacted"] != 1 {
		t.Errorf("the turn's stream has %v", n)
	}
	s.timelineHas(id, "context_warning", "context_compacted")
}

func TestPolicyHookSandboxTransportAndSubagentDiagnosticsArePersistedAndReducerHandled(t *testing.T) {
	t.Parallel()
	s := serve(t, `emit policy_decision {"subject":"turn_runtime","outcome":"configured"}
emit hook_event {"kind":"pre_tool","status":"ok"}
emit sandbox_notice {"requested_backend":"a","resolved_backend":"b","isolation":"workspace"}
emit transport_diagnostic {"status":"degraded","kind":"provider_fallback"}
emit subagent_event {"agent_id":"subagent_1","status":"completed"}`)
	id := s.chat()
	s.turn(id, "go")
	s.timelineHas(id, "policy_decision", "hook_event", "sandbox_notice", "transport_diagnostic", "subagent_event")
}

func TestSessionDetailExposesResumePointsAndPersistedDelegatedWorkState(t *testing.T) {
	t.Parallel()
	s := serve(t, `emit subagent_event {"agent_id":"subagent_1","status":"running","task":"look"}
emit session_checkpoint {"session_id":"x","sequence":1,"checkpoint_type":"step","status":"completed","summary_text":"looked","resume_cursor":null}
ask bash call-1 => ok
emit subagent_event {"agent_id":"subagent_1","status":"completed"}`)
	id := s.chat()
	s.say(id, "go")
	s.answer(s.asks(id), "allow")
	s.idle(id)
	d := s.shows(id)
	found := ""
	for _, p := range d.ResumePoints { // newest first
		found += p.Kind + " "
		s.must(201, nil, "POST", "/chat/sessions/"+id+"/branch", fmt.Sprintf(`{"resume_cursor":%q}`, p.Cursor))
	}
	if found != "turn approval step " {
		t.Errorf("the resume points are %s", found)
	}
	if len(d.Subagents) != 1 || d.Subagents[0].Status != "completed" || d.Subagents[0].Task != "look" {
		t.Errorf("the delegated work is %+v", d.Subagents)
	}
	for _, e := range d.Channel.Envelopes {
		if e.EventType == "approval_applied" && e.SenderID != "operator:local" {
			t.Errorf("the answer came from %s", e.SenderID)
		}
	}
}

func TestChatAndBackgroundSessionsCanBranchFromAnEventIDOrResumeCursor(t *testing.T) {
	t.Parallel()
	s := serve(t, "echo")
	chat, background := s.chat(), s.background()
	for id, path := range map[string]string{chat: "/chat/sessions/" + chat + "/branch", background: "/sessions/" + background + "/resume"} {
		if _, err := s.k.Do(t.Context(), harness.SessionID(id), harness.Submit{Parts: harness.TextPart("hello"), Source: harness.FromTurn}); err != nil {
			t.Fatal(err)
		}
		source := s.idle(id)
		point := source.Trail().Points[0]
		event := harness.EventID(point.Session, point.Seq)
		cursor := harness.Cursor{Kind: point.Kind, Session: point.Session, Seq: point.Seq}.String()
		for _, body := range []string{fmt.Sprintf(`{"from_event_id":%q}`, event), fmt.Sprintf(`{"resume_cursor":%q}`, cursor)} {
			var b row
			s.must(201, &b, "POST", path, body)
			if b.Kind != string(source.Kind) || b.Parent != id || b.Source != event || !strings.HasSuffix(b.Cursor, fmt.Sprintf(":%s:%d", id, point.Seq)) || b.Count != 2 {
				t.Errorf("a %s session's branch by %s is %+v", source.Kind, body, b)
			}
			st, err := s.k.At(t.Context(), harness.SessionID(b.SessionID), 0)
			if err != nil {
				t.Fatal(err)
			}
			if seed := st.Trail().Checkpoints[0].Payload; seed.CheckpointType != "resume_seed" || !strings.Contains(seed.SummaryText, "hello") || *seed.ResumeCursor != b.Cursor {
				t.Errorf("a %s session's branch is seeded with %+v", source.Kind, seed)
			}
		}
		for _, body := range []string{
			`{"resume_cursor":"turn:ses_other:1"}`, `{"resume_cursor":"7"}`, `{"from_event_id":"7"}`,
			fmt.Sprintf(`{"from_event_id":"%s.99999"}`, id), fmt.Sprintf(`{"from_event_id":%q,"resume_cursor":"event:%s:1"}`, event, id),
		} {
			if a := s.do("POST", path, body); a.StatusCode != 400 {
				t.Errorf("%s: %d %s", body, a.StatusCode, a.body)
			}
		}
	}
}

func TestTheStreamOfABackgroundRunHasItsStepsAndEndsWithIt(t *testing.T) {
	t.Parallel()
	s := serve(t, `step 1/1 "Inspect files" running
emit session_checkpoint {"session_id":"bg_123","sequence":4,"checkpoint_type":"step","status":"completed","summary_text":"step-1 completed: Inspect files","resume_cursor":null}
step 1/1 "Inspect files" completed`)
	id := s.starts(`{"prompt":"work"}`).SessionID
	r := s.request("GET", "/sessions/"+id+"/events/stream?after=0&until=terminal", "")
	defer r.Body.Close()
	n := map[string]int{}
	for lines := bufio.NewScanner(r.Body); lines.Scan(); { // it ends with the session
		if kind, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			n[kind]++
		}
	}
	if n["session_state"] == 0 || n["session_checkpoint"] == 0 || n["step_progress"] != 2 || n["turn_end"] != 1 {
		t.Errorf("the stream has %v", n)
	}
}

// S3's payload examples, verbatim, come out of the stream. Fields that we add
// are not in the examples, and an approval's id is ours: it says where it was
// asked.
func TestS3sPayloadExamplesComeOutOfTheStream(t *testing.T) {
	t.Parallel()
	var examples []struct {
		Type    string
		Payload map[string]any
	}
	data, err := os.ReadFile("../protocoltest/testdata/s3/examples.json")
	if err != nil || json.Unmarshal(data, &examples) != nil || len(examples) != 10 {
		t.Fatal(err, len(examples))
	}
	story, err := txtar.ParseFile("../protocoltest/testdata/s3-examples.txtar")
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, string(story.Files[0].Data))
	id := s.chat()
	s.say(id, "demo")
	s.answer(s.asks(id), "allow")
	stream := s.streamed(id)
	for _, x := range examples {
		found := false
		for _, e := range stream {
			got := map[string]any{}
			for name, value := range payloadOf(t, e) {
				if _, ok := x.Payload[name]; ok {
					got[name] = value
				}
			}
			if ask, ok := got["request_id"].(string); ok {
				if at, _, err := harness.ApprovalID(ask).Place(); err == nil && string(at) == id {
					got["request_id"] = "apr_123"
				}
			}
			found = found || e.event == x.Type && reflect.DeepEqual(got, x.Payload)
		}
		if !found {
			t.Errorf("nothing of the stream is %s %v", x.Type, x.Payload)
		}
	}
}

// A parent cannot be removed while others read through to it, and says who.
func TestASessionWithBranchesIsNotRemoved(t *testing.T) {
	t.Parallel()
	s := serve(t, "echo")
	id := s.chat()
	s.turn(id, "hello")
	var b row
	s.must(201, &b, "POST", "/chat/sessions/"+id+"/branch", `{}`)
	a := s.refused(409, "has_branches", "", "DELETE", "/sessions/"+id, "")
	if !strings.Contains(string(a.body), b.SessionID) {
		t.Errorf("the refusal is %s", a.body)
	}
	s.must(204, nil, "DELETE", "/sessions/"+b.SessionID, "")
	s.must(204, nil, "DELETE", "/sessions/"+id, "")
}
