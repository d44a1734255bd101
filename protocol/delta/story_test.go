package delta

import (
	"strings"
	"testing"

	"harness"
	"harness/internal/object"
)

// told is what a projector says about events, one operation a line.
type told struct {
	t   *testing.T
	p   *projector
	seq harness.Seq
}

func tell(t *testing.T) *told { return &told{t: t, p: newProjector(new(harness.State), 0)} }

func (s *told) of(payloads ...harness.Payload) string {
	var out object.Pending
	for _, pl := range payloads {
		s.seq++
		s.p.project(harness.Event{Seq: s.seq, Session: "ses_1", Time: beginning, Payload: pl}, &out)
	}
	text := strings.TrimSuffix(strings.TrimPrefix(string(out.AppendJSON(nil)), "["), "]")
	return strings.ReplaceAll(text, `},{"type":`, "}\n{\"type\":")
}

func (s *told) want(want string, payloads ...harness.Payload) {
	s.t.Helper()
	if got := s.of(payloads...); got != want {
		s.t.Errorf("%s: got\n%s\nwant\n%s", payloads[len(payloads)-1].Type(), got, want)
	}
}

func (s *told) view(want string) {
	s.t.Helper()
	if got := string(appendView(nil, s.p.st, nil, 0)); got != want {
		s.t.Errorf("view: got\n%s\nwant\n%s", got, want)
	}
}

// The three operations that S0 prints, less its white space.
func TestTheExamplesOfTheSpecification(t *testing.T) {
	t.Parallel()
	s := tell(t)
	s.of(&harness.SessionState{Status: harness.Idle})
	s.want(`{"type":"set","path":["status"],"value":"running"}
{"type":"set","path":["messages","0"],"value":{"id":"itm_1","role":"assistant","content":"","status":"pending"}}`,
		&harness.TurnStart{TurnID: "trn_1", ItemID: "itm_1"})
	s.of(&harness.Token{Text: "hello"})
	s.want(`{"type":"append-text","path":["messages","0","content"],"value":" world"}`, &harness.Token{Text: " world"})
	s.want(`{"type":"set","path":["messages","0","status"],"value":"complete"}
{"type":"set","path":["status"],"value":"idle"}`, &harness.TurnEnd{TurnID: "trn_1", Status: harness.TurnCompleted})
}

// S0's typical flow: each delta of its list, in its order.
func TestTheOperationsOfTheTypicalFlow(t *testing.T) {
	t.Parallel()
	s := tell(t)
	s.view(`{"status":"idle","messages":[]}`)
	s.want(`{"type":"set","path":["sessionId"],"value":"ses_1"}`, &harness.SessionState{Status: harness.Idle})
	s.want(`{"type":"set","path":["messages","0"],"value":{"id":"itm_1","role":"user","content":"list the files","status":"complete"}}`,
		&harness.UserMessage{ItemID: "itm_1", Source: harness.FromSubmit, Parts: harness.TextPart("list the files")})
	s.want(`{"type":"set","path":["status"],"value":"running"}
{"type":"set","path":["messages","1"],"value":{"id":"itm_2","role":"assistant","content":"","status":"pending"}}`,
		&harness.TurnStart{TurnID: "trn_1", ItemID: "itm_2"})
	s.want(`{"type":"set","path":["messages","1","reasoning"],"value":"hm"}`, &harness.Thinking{Text: "hm"})
	s.want(`{"type":"append-text","path":["messages","1","reasoning"],"value":", ls"}`, &harness.Thinking{Text: ", ls"})
	s.want(`{"type":"set","path":["messages","1","status"],"value":"streaming"}
{"type":"append-text","path":["messages","1","content"],"value":"Look 😀"}`, &harness.Token{Text: "Look"}, &harness.Token{Text: " 😀"})
	s.want(`{"type":"set","path":["messages","1","toolCalls"],"value":[]}
{"type":"set","path":["messages","1","toolCalls","0"],"value":{"id":"c1","name":"bash","status":"running","input":{"command":"ls"},"at":7}}`,
		&harness.ToolCall{ToolCallID: "c1", Name: "bash", Arguments: []byte(`{"command": "ls"}`)})
	s.want(`{"type":"set","path":["messages","1","toolCalls","1"],"value":{"id":"c2","name":"read","status":"running","at":7}}`,
		&harness.ToolCall{ToolCallID: "c2", Name: "read"})
	s.want(`{"type":"set","path":["messages","1","toolCalls","0","output"],"value":"a.go\n"}`, &harness.ToolLog{ToolCallID: "c1", Text: "a.go\n"})
	s.want(`{"type":"append-text","path":["messages","1","toolCalls","0","output"],"value":"b.go\n"}`, &harness.ToolLog{ToolCallID: "c1", Text: "b.go\n"})
	s.want(`{"type":"set","path":["messages","1","toolCalls","0","output"],"value":"2 files"}`, &harness.ToolResult{ToolCallID: "c1", Output: "2 files"})
	s.want(`{"type":"set","path":["messages","1","toolCalls","0","status"],"value":"complete"}`, &harness.ToolOutcome{ToolCallID: "c1", Status: harness.OutcomeOK})
	s.want(`{"type":"set","path":["messages","1","toolCalls","1","output"],"value":"no such file"}
{"type":"set","path":["messages","1","toolCalls","1","status"],"value":"error"}`,
		&harness.ToolOutcome{ToolCallID: "c2", Status: harness.OutcomeTimeout, Error: "no such file"})
	s.want(``, &harness.Response{Text: "Look 😀"}, &harness.Usage{})
	s.want(`{"type":"set","path":["messages","1","status"],"value":"complete"}
{"type":"set","path":["status"],"value":"idle"}`, &harness.TurnEnd{TurnID: "trn_1", Status: harness.TurnCompleted})
	s.view(`{"status":"idle","messages":[{"id":"itm_1","role":"user","content":"list the files","status":"complete"},` +
		`{"id":"itm_2","role":"assistant","content":"Look 😀","status":"complete","toolCalls":[` +
		`{"id":"c1","name":"bash","status":"complete","input":{"command":"ls"},"output":"2 files","at":7},` +
		`{"id":"c2","name":"read","status":"error","output":"no such file","at":7}],"reasoning":"hm, ls"}],"sessionId":"ses_1"}`)
}

// S1's approvals, and how deltas clear what snapshots leave out.
func TestApprovalsComeAndGo(t *testing.T) {
	t.Parallel()
	s := tell(t)
	s.of(&harness.TurnStart{TurnID: "trn_1", ItemID: "itm_1"}, &harness.ToolCall{ToolCallID: "c1", Name: "bash"})
	s.want(`{"type":"set","path":["pendingApprovals"],"value":[{"toolCallId":"c1","toolName":"bash","description":"Run ls","requestId":"apr_1","input":{"command":"ls"},"reason":"shell","deadline":"2026-01-02T03:04:05.678Z"}]}
{"type":"set","path":["messages","0","toolCalls","0","status"],"value":"awaiting-approval"}
{"type":"set","path":["status"],"value":"awaiting-approval"}`,
		&harness.ApprovalRequired{
			RequestID: "apr_1", ToolCallID: "c1", ToolName: "bash", Description: "Run ls", Reason: "shell",
			Input: []byte(`{"command": "ls"}`), Deadline: new(beginning),
		})
	s.want(`{"type":"set","path":["pendingApprovals"],"value":[]}
{"type":"set","path":["messages","0","toolCalls","0","status"],"value":"running"}
{"type":"set","path":["status"],"value":"running"}`,
		&harness.ApprovalApplied{RequestID: "apr_1", ToolCallID: "c1", Decision: harness.Deny, Scope: harness.Once})
	s.want(`{"type":"set","path":["messages","0","toolCalls","0","output"],"value":"not now"}
{"type":"set","path":["messages","0","toolCalls","0","status"],"value":"denied"}`,
		&harness.ToolOutcome{ToolCallID: "c1", Status: harness.OutcomeDenied, Error: "not now"})
}

// A question shows its call's input only if clients can take it as an object.
func TestApprovalsLeaveOutInputThatClientsCannotTake(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		``: ``, `null`: ``, `"text"`: ``, `[1]`: ``, `{"__proto__":1}`: ``, `{"a":{"constructor":{"prototype":1}}}`: ``, `{`: ``,
		`{ "a" : "\ud83d" }`: `,"input":{"a":"` + "\ufffd" + `"}`,
	} {
		got := string(appendApproval(nil, &harness.Approval{ID: "apr_1", Call: "c1", Tool: "bash", Input: []byte(in)}))
		if want := `{"toolCallId":"c1","toolName":"bash","description":"","requestId":"apr_1"` + want + `}`; got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

// A turn that fails sets the error and then the status; the next one clears it.
// A failure is shown only once the session has failed.
func TestErrorsAreSetAndCleared(t *testing.T) {
	t.Parallel()
	s := tell(t)
	s.of(&harness.TurnStart{TurnID: "trn_1", ItemID: "itm_1"})
	s.want(``, &harness.Failure{Message: "the model is gone"})
	s.want(`{"type":"set","path":["messages","0","status"],"value":"error"}
{"type":"set","path":["error"],"value":"the model is gone"}
{"type":"set","path":["status"],"value":"error"}`, &harness.TurnEnd{TurnID: "trn_1", Status: harness.TurnError})
	s.view(`{"status":"error","messages":[{"id":"itm_1","role":"assistant","content":"","status":"error"}],"sessionId":"ses_1","error":"the model is gone"}`)
	s.want(`{"type":"set","path":["status"],"value":"running"}
{"type":"set","path":["error"],"value":null}
{"type":"set","path":["messages","1"],"value":{"id":"itm_2","role":"assistant","content":"","status":"pending"}}`,
		&harness.TurnStart{TurnID: "trn_2", ItemID: "itm_2"})
	s.want(`{"type":"set","path":["messages","1","status"],"value":"error"}
{"type":"set","path":["status"],"value":"idle"}`, &harness.TurnEnd{TurnID: "trn_2", Status: harness.TurnCancelled})
}

// After a steer the answer goes on in a message of its own, and the one before
// it is complete.
func TestASteeredTurnGoesOnInANewMessage(t *testing.T) {
	t.Parallel()
	s := tell(t)
	s.of(&harness.TurnStart{TurnID: "trn_1", ItemID: "itm_1"}, &harness.Token{ItemID: "itm_1", Text: "one"})
	s.want(`{"type":"set","path":["messages","1"],"value":{"id":"itm_2","role":"user","content":"in Go","status":"complete"}}`,
		&harness.UserMessage{ItemID: "itm_2", Source: harness.FromSteer, Parts: harness.TextPart("in Go")})
	s.want(`{"type":"set","path":["messages","0","status"],"value":"complete"}
{"type":"set","path":["messages","2"],"value":{"id":"itm_3","role":"assistant","content":"two","status":"streaming"}}`,
		&harness.Token{ItemID: "itm_3", Text: "two"})
}

// Output beyond the preview is counted, not sent; a result that fits takes the
// count away again, which only a new object can.
func TestLongOutputIsAPreview(t *testing.T) {
	t.Parallel()
	s := tell(t)
	s.of(&harness.TurnStart{TurnID: "trn_1", ItemID: "itm_1"}, &harness.ToolCall{ToolCallID: "c1", Name: "bash"},
		&harness.ToolLog{ToolCallID: "c1", Text: strings.Repeat("x", harness.MaxPreview-1)})
	s.want(`{"type":"append-text","path":["messages","0","toolCalls","0","output"],"value":"y"}
{"type":"set","path":["messages","0","toolCalls","0","outputBytes"],"value":8195}`,
		&harness.ToolLog{ToolCallID: "c1", Text: "yé"}, &harness.ToolLog{ToolCallID: "c1", Text: "z"})
	s.want(`{"type":"set","path":["messages","0","toolCalls","0"],"value":{"id":"c1","name":"bash","status":"running","output":"short","at":0}}`,
		&harness.ToolResult{ToolCallID: "c1", Output: "short"})
}

// Every status has a word of S1.
func TestEveryStatusHasAWord(t *testing.T) {
	t.Parallel()
	want := map[harness.Status]string{
		harness.Idle: "idle", harness.Queued: "running", harness.Running: "running", harness.AwaitingApproval: "awaiting-approval",
		harness.Paused: "idle", harness.Recovering: "running", harness.StatusCompleted: "idle", harness.StatusFailed: "error",
		harness.StatusCancelled: "idle",
	}
	for _, s := range harness.Statuses() {
		if got := word(s); got != want[s] || want[s] == "" {
			t.Errorf("%s: got %q, want %q", s, got, want[s])
		}
	}
}
