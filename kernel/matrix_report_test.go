package kernel

import (
	"errors"
	"strings"
	"testing"

	"harness"
)

// places are where a report of an engine may arrive. The call "open" has no
// outcome yet, "closed" has one.
var places = []struct {
	name  string
	reach func() (*scene, harness.TurnID)
}{
	{"live", func() (*scene, harness.TurnID) { s := inTool(); return s, s.turn() }},
	{"cancelling", func() (*scene, harness.TurnID) {
		s := inTool()
		s.do(commanded{nil, harness.Cancel{}})
		return s, s.turn()
	}},
	{"late", func() (*scene, harness.TurnID) { // the next turn runs already
		s := inTool()
		old := s.turn()
		s.do(ended{turn: old})
		s.submit("next")
		return s, old
	}},
	{"abandoned", func() (*scene, harness.TurnID) { // cancelled, and given up
		s := inTool()
		old := s.turn()
		s.do(commanded{nil, harness.Cancel{}})
		s.now = s.now.Add(s.m.cancelGrace)
		s.do(ticked{})
		return s, old
	}},
	{"idle", func() (*scene, harness.TurnID) {
		s := inTool()
		old := s.turn()
		s.do(ended{turn: old})
		return s, old
	}},
}

func inTool() *scene {
	s := running()
	s.do(emitted{s.turn(), report{payload: &harness.ToolCall{ToolCallID: "closed", Name: "bash"}}})
	s.do(emitted{s.turn(), report{payload: &harness.ToolOutcome{ToolCallID: "closed", Status: harness.OutcomeOK}}})
	s.do(emitted{s.turn(), report{payload: &harness.ToolCall{ToolCallID: "open", Name: "bash"}}})
	return s
}

// reports are payloads beyond an empty one of each kind.
var reports = map[string]harness.Payload{
	"token":                        &harness.Token{Text: "x"},
	"token/new item":               &harness.Token{ItemID: "itm_own", Text: "x"},
	"thinking":                     &harness.Thinking{Text: "x"},
	"tool_call":                    &harness.ToolCall{ToolCallID: "new", Name: "bash"},
	"tool_call/again":              &harness.ToolCall{ToolCallID: "closed", Name: "bash"},
	"tool_call/no id":              &harness.ToolCall{Name: "bash"},
	"tool_log":                     &harness.ToolLog{ToolCallID: "open", Text: "x"},
	"tool_log/closed":              &harness.ToolLog{ToolCallID: "closed", Text: "x"},
	"tool_result":                  &harness.ToolResult{ToolCallID: "open", Output: "x"},
	"tool_result/closed":           &harness.ToolResult{ToolCallID: "closed", Output: "x"},
	"tool_outcome":                 &harness.ToolOutcome{ToolCallID: "open", Status: harness.OutcomeOK},
	"tool_outcome/closed":          &harness.ToolOutcome{ToolCallID: "closed", Status: harness.OutcomeError},
	"tool_outcome/none":            &harness.ToolOutcome{ToolCallID: "never", Status: harness.OutcomeOK},
	"session_checkpoint/workspace": &harness.SessionCheckpoint{CheckpointType: harness.WorkspaceCheckpoint},
	"hook_event/cancel":            &harness.HookEvent{Kind: harness.HookCancel},
	"unknown":                      &harness.Unknown{Name: "from_the_future", Raw: []byte(`{"x":1}`)},
	"unknown/forged":               &harness.Unknown{Name: "turn_end", Raw: []byte(`5`)},
}

// Every kind of report is taken, dropped or refused, wherever it arrives.
func TestEveryReportEverywhere(t *testing.T) {
	t.Parallel()
	all := map[string]harness.Payload{}
	for _, info := range harness.Inventory() {
		all[string(info.Type)] = info.New()
	}
	for name, p := range reports {
		all[name] = p
	}
	got := map[string]string{}
	for name, p := range all {
		for _, pl := range places {
			s, turn := pl.reach()
			from, before := len(s.log), len(s.m.asks)
			name := strings.ReplaceAll(name, " ", "-")
			switch {
			case harness.Reserved(p):
				got[name+" "+pl.name] = "refused"
				continue
			case len(s.do(emitted{turn, report{payload: p}})) > 0 || len(s.m.asks) != before:
				t.Errorf("%s %s: a report had an effect", name, pl.name)
			}
			got[name+" "+pl.name] = strings.Join(append([]string{"taken"}, kinds(s.log[from:])...), " ")
			if len(s.log) == from {
				got[name+" "+pl.name] = "dropped"
			}
		}
	}
	compareTable(t, reportTable, got)
}

// The engine's questions and its end are answered wherever they arrive.
func TestEveryQuestionEverywhere(t *testing.T) {
	t.Parallel()
	questions := map[string]func(harness.TurnID) input{
		"ask": func(id harness.TurnID) input {
			return asked{"engine", id, harness.ToolUse{Call: "open", Tool: "bash", Access: harness.AccessExecute}, nil}
		},
		"ask/read": func(id harness.TurnID) input {
			return asked{"engine", id, harness.ToolUse{Call: "open", Tool: "cat", Access: harness.AccessRead}, nil}
		},
		"ask/closed": func(id harness.TurnID) input {
			return asked{"engine", id, harness.ToolUse{Call: "closed", Tool: "bash"}, nil}
		},
		"delegate":   func(id harness.TurnID) input { return delegated{"engine", id} },
		"checkpoint": func(id harness.TurnID) input { return checkpointed{"engine", id, "ref"} },
		"end":        func(id harness.TurnID) input { return ended{turn: id} },
		"end/error":  func(id harness.TurnID) input { return ended{turn: id, err: errors.New("broken")} },
		"end/retry":  func(id harness.TurnID) input { return ended{turn: id, err: errors.New("broken"), retry: true} },
		"end/leave":  func(id harness.TurnID) input { return ended{turn: id, err: errors.New("stopped"), leave: true} },
	}
	got := map[string]string{}
	for name, q := range questions {
		for _, pl := range places {
			s, turn := pl.reach()
			from := len(s.log)
			answer := "silence"
			for _, e := range s.do(q(turn)) {
				var to ticket
				var err error
				switch e := e.(type) {
				case reply:
					to, err = e.to, e.err
				case decide:
					to, err = e.to, e.err
				}
				if to == "engine" {
					answer = "ok"
					if err != nil {
						answer = harness.AsError(err).Code
					}
				}
			}
			got[name+" "+pl.name] = strings.Join(append([]string{answer}, kinds(s.log[from:])...), " ")
		}
	}
	compareTable(t, questionTable, got)
}
