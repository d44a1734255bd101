package delta

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"harness"
)

// author writes logs: most events fit the state that they meet, some fit
// nothing, because the fold is total and so must the projection be.
type author struct {
	pick func(n int) int // 0 … n-1
	odd  int             // one event in odd fits nothing; 0: none
	st   harness.State   // what the log adds up to so far
	made int             // ids
}

func newAuthor(seed, stream uint64, odd int) *author {
	return &author{pick: rand.New(rand.NewPCG(seed, stream)).IntN, odd: odd}
}

var beginning = time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)

// next writes one more event.
func (a *author) next() harness.Event {
	p := a.payload()
	seq := a.st.Seq + 1
	e := harness.Event{Seq: seq, Session: "ses_a", Time: beginning.Add(time.Duration(seq) * time.Second), Payload: p}
	if a.st.Turn != nil {
		e.Turn = a.st.Turn.ID
	}
	if a.odd > 0 && a.pick(50) == 0 {
		e.Session = "ses_b"
	}
	a.st.Apply(e)
	return e
}

func (a *author) payload() harness.Payload {
	t := a.st.Turn
	switch {
	case a.st.Seq == 0:
		return &harness.SessionState{SessionID: "ses_a", Status: harness.Idle, Kind: harness.Chat}
	case a.odd > 0 && a.pick(a.odd) == 0:
		return a.nonsense()
	case t == nil && len(a.st.Queue) > 0:
		return &harness.TurnStart{TurnID: harness.TurnID(a.id("trn")), ItemID: a.item(), Attempt: 1}
	case t == nil && a.pick(4) == 0:
		return &harness.SessionState{Status: oneOf(a, harness.Statuses())}
	case t == nil:
		return &harness.UserMessage{ItemID: a.item(), Source: harness.FromSubmit, Parts: harness.TextPart(a.text())}
	}
	return a.within(t)
}

// within writes an event of a running turn.
func (a *author) within(t *harness.ActiveTurn) harness.Payload {
	if n := len(a.st.Pending); n > 0 && a.pick(3) == 0 {
		p := a.st.Pending[a.pick(n)]
		return &harness.ApprovalApplied{RequestID: p.ID, ToolCallID: p.Call, Decision: oneOf(a, []harness.Verdict{harness.Allow, harness.Deny}), Scope: harness.Once}
	}
	if n := len(t.Open); n > 0 && a.pick(3) > 0 {
		return a.about(t.Open[a.pick(n)])
	}
	switch n := a.pick(20); {
	case n < 9:
		return &harness.Token{ItemID: t.Item, Text: a.text()}
	case n < 11:
		return &harness.Thinking{ItemID: t.Item, Text: a.text()}
	case n < 14:
		return &harness.ToolCall{ToolCallID: harness.CallID(a.id("call")), Name: "bash", Arguments: a.input(), MessageID: t.Item}
	case n < 15:
		return &harness.UserMessage{ItemID: a.item(), Source: harness.FromSteer, Parts: harness.TextPart(a.text())}
	case n < 16 && t.Steered:
		return &harness.Token{ItemID: a.item(), Text: a.text()}
	case n < 17:
		return &harness.Response{ItemID: t.Item, Text: a.st.Said(t.Item) + oneOf(a, []string{"", "", "more"})}
	case n < 18 && a.pick(2) == 0:
		return &harness.TurnStart{TurnID: t.ID, ItemID: a.item(), Attempt: t.Attempt + 1}
	case n < 19:
		return &harness.Failure{Message: a.text()}
	}
	return &harness.TurnEnd{TurnID: t.ID, Status: oneOf(a, []string{harness.TurnCompleted, harness.TurnCancelled, harness.TurnError})}
}

// about writes an event of an open call.
func (a *author) about(o harness.OpenCall) harness.Payload {
	switch a.pick(6) {
	case 0:
		d := beginning.Add(time.Hour)
		return &harness.ApprovalRequired{
			RequestID: harness.ApprovalID(a.id("apr")), ToolCallID: o.ID, ToolName: o.Name, Description: a.text(),
			Input: a.input(), Reason: a.text(), Deadline: oneOf(a, []*time.Time{nil, &d}),
		}
	case 1, 2:
		return &harness.ToolLog{ToolCallID: o.ID, Text: a.text()}
	case 3:
		return &harness.ToolResult{ToolCallID: o.ID, Output: a.text()}
	}
	return a.outcome(o.ID)
}

func (a *author) outcome(id harness.CallID) harness.Payload {
	status := oneOf(a, []string{harness.OutcomeOK, harness.OutcomeError, harness.OutcomeTimeout, harness.OutcomeDenied, harness.OutcomeArtifact})
	return &harness.ToolOutcome{ToolCallID: id, Status: status, Error: a.text()}
}

// nonsense writes an event with ids from a few that meet by chance, or an
// empty one of any kind.
func (a *author) nonsense() harness.Payload {
	item := harness.ItemID(fmt.Sprintf("itm_%d", a.pick(max(1, a.made+2))))
	call := harness.CallID(fmt.Sprintf("call_%d", a.pick(max(1, a.made+2))))
	turn := harness.TurnID(fmt.Sprintf("trn_%d", a.pick(max(1, a.made+2))))
	ask := harness.ApprovalID(fmt.Sprintf("apr_%d", a.pick(max(1, a.made+2))))
	switch a.pick(16) {
	case 0:
		return &harness.Token{ItemID: item, Text: a.text()}
	case 1:
		return &harness.Response{ItemID: item, Text: a.text()}
	case 2:
		return &harness.Reflection{ItemID: item, Text: a.text()}
	case 3:
		return &harness.ToolCall{ToolCallID: call, MessageID: item, Name: a.text(), Arguments: a.input()}
	case 4:
		return &harness.ToolLog{ToolCallID: call, Text: a.text()}
	case 5:
		return &harness.ToolResult{ToolCallID: call, Output: a.text()}
	case 6:
		return a.outcome(call)
	case 7:
		return &harness.ApprovalRequired{RequestID: ask, ToolCallID: call, ToolName: a.text(), Input: a.input()}
	case 8:
		return &harness.ApprovalApplied{RequestID: ask, ToolCallID: call, Decision: harness.Allow}
	case 9:
		return &harness.TurnStart{TurnID: turn, ItemID: item}
	case 10:
		return &harness.TurnEnd{TurnID: turn, Status: a.text()}
	case 11:
		return &harness.UserMessage{ItemID: item, Source: oneOf(a, []harness.Source{harness.FromSteer, harness.FromTurn}), Parts: harness.TextPart(a.text())}
	case 12:
		return &harness.SessionState{Status: oneOf(a, append(harness.Statuses(), "", "dreaming")), Kind: harness.Background}
	case 13:
		return &harness.SessionState{ParentSessionID: "ses_p", BranchSourceEventID: "ses_p.3"}
	case 14:
		return &harness.Unknown{Name: "from_the_future", Raw: json.RawMessage("null")}
	}
	return oneOf(a, harness.Inventory()).New()
}

func (a *author) id(kind string) string {
	a.made++
	return fmt.Sprintf("%s_%d", kind, a.made)
}

func (a *author) item() harness.ItemID { return harness.ItemID(a.id("itm")) }

var pieces = []string{
	"", "a", "The quick brown fox ", "\"quoted\" \\ / \b\f\n\r\t", "é", "e\u0301", "😀", "👩‍👩‍👧‍👦", "日本語", "\u2028\u2029\u0000\u007f",
	"__proto__", "half \xf0\x9f", "\xed\xa0\xbd", "\ufffd", "<b>&amp;</b>", "constructor",
}

// text is short, sometimes longer than a preview, sometimes not Unicode.
func (a *author) text() string {
	s := oneOf(a, pieces) + oneOf(a, pieces)
	if a.pick(150) == 0 {
		return strings.Repeat(s+"0123456789", 1+a.pick(600))
	}
	return s
}

// inputs are what engines give to tools.
var inputs = []string{
	``, `null`, `{}`, `{"command":"ls -la","n":[1,2.50,1e400,{"deep":null}]}`, `"text"`, `[1, 2]`, `12345678901234567890`,
	`{"__proto__":{"polluted":true}}`, `{"a":{"constructor":{"prototype":1}}}`, `{"a":1,"a":2}`, ` { "spaced" : "out" } `,
	`{"half":"\ud83d","whole":"\ud83d\ude00"}`, "{\"bytes\":\"\xff\"}", `{"toString":1,"":"empty","10":1,"2":2}`,
}

func (a *author) input() json.RawMessage {
	if a.odd > 0 && a.pick(20) == 0 {
		return json.RawMessage("not JSON")
	}
	return json.RawMessage(oneOf(a, inputs))
}

func oneOf[T any](a *author, from []T) T { return from[a.pick(len(from))] }
