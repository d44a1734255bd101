// Package conscience sums up a turn: what was asked, what was known, under which
// rules, what was done and on what evidence, and which guardrails it touched.
//
// It is a pure function of the turn's events: the same log always gives the same
// summary. It states facts that the log holds, and guesses nothing.
package conscience

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"harness"
)

// Bounds of a summary: it is a panel beside a conversation, not a second log.
const (
	maxQuote = 200
	maxList  = 20
)

type (
	// Manas is what was asked, and which inputs there were.
	Manas struct {
		Asked  string   `json:"asked"`
		Steers int      `json:"steers,omitempty"` // how often people spoke to the turn
		Files  []string `json:"files,omitempty"`  // that came with the prompt
	}
	// Chitta is what was remembered and looked up, and where it came from.
	Chitta struct {
		Sources    []string `json:"sources,omitempty"` // of retrieved passages
		Memory     []string `json:"memory,omitempty"`  // what memories were used or proposed
		Compacted  int      `json:"compacted,omitempty"`
		ContextPct *float64 `json:"context_pct,omitempty"`
	}
	// Ahamkara is as whom the turn was run.
	Ahamkara struct {
		Engine         string       `json:"engine,omitempty"`
		Profile        string       `json:"profile,omitempty"`
		Model          string       `json:"model,omitempty"`
		PermissionMode harness.Mode `json:"permission_mode,omitempty"`
		Sandbox        string       `json:"sandbox"`          // where processes ran
		Policy         []string     `json:"policy,omitempty"` // rules that decided
	}
	// Buddhi is what was decided, and on what evidence.
	Buddhi struct {
		Status   string         `json:"status"`
		Calls    map[string]int `json:"calls,omitempty"` // by outcome
		Tools    []string       `json:"tools,omitempty"`
		Changed  []string       `json:"changed,omitempty"`  // files that calls meant to change
		Approved int            `json:"approved,omitempty"` // by people
		Denied   int            `json:"denied,omitempty"`
		Evidence []string       `json:"evidence,omitempty"` // event ids of what the answer rests on
		Answered bool           `json:"answered"`
	}
)

// turn is what the events of one turn say.
type turn struct {
	directory string
	manas     Manas
	chitta    Chitta
	ahamkara  Ahamkara
	buddhi    Buddhi

	calls    map[harness.CallID]*call
	order    []*call
	answer   string
	said     []byte         // what was said since the last whole answer
	item     harness.ItemID // in this message
	failures int
}

// call is a tool call, as far as it came.
type call struct {
	id     harness.CallID
	name   string
	args   json.RawMessage
	output string
	status string
	result string // the event that holds its result
}

// Of sums up the events of a turn, from its prompt to its end. directory is the
// session's workspace.
func Of(directory string, events []harness.Event) *harness.Antahkarana {
	t := &turn{directory: directory, calls: make(map[harness.CallID]*call)}
	t.buddhi.Calls = make(map[string]int)
	for _, e := range events {
		t.hear(e)
	}
	t.conclude()
	a := &harness.Antahkarana{Manas: encode(t.manas), Chitta: encode(t.chitta), Ahamkara: encode(t.ahamkara), Buddhi: encode(t.buddhi)}
	for _, g := range guardrails {
		if what := g.touched(t); what != "" {
			a.Guardrails = append(a.Guardrails, g.name+": "+quote(what))
		}
	}
	a.Confidence = new(t.confidence(len(a.Guardrails)))
	if len(events) > 0 {
		a.TraceID = harness.EventID(events[0].Session, events[0].Seq)
	}
	return a
}

func (t *turn) hear(e harness.Event) {
	switch p := e.Payload.(type) {
	case *harness.UserMessage:
		t.heard(p)
	case *harness.TurnStart:
		t.ahamkara.Engine, t.ahamkara.Model = p.Engine, p.Model
	case *harness.SessionState:
		if p.PermissionMode != nil {
			t.ahamkara.PermissionMode = *p.PermissionMode
		}
	case *harness.TurnStartTools:
		t.ahamkara.Profile = p.Agent
		t.ahamkara.PermissionMode = cmp.Or(p.PermissionMode, t.ahamkara.PermissionMode)
	case *harness.SandboxNotice:
		t.ahamkara.Sandbox = p.Isolation
	case *harness.PolicyDecision:
		t.ahamkara.PermissionMode = p.PermissionMode
		note(&t.ahamkara.Policy, p.PolicyPath)
	case *harness.Retrieval:
		for _, c := range p.Chunks {
			note(&t.chitta.Sources, strings.TrimSuffix(c.Source+":"+c.Lines, ":"))
		}
	case *harness.ContextCompacted:
		t.chitta.Compacted++
	case *harness.Usage:
		t.chitta.ContextPct = p.ContextPct
		if p.Model != "" {
			t.ahamkara.Model = p.Model
		}
	case *harness.ToolCall:
		c := &call{id: p.ToolCallID, name: p.Name, args: p.Arguments}
		t.calls[c.id] = c
		t.order = append(t.order, c)
	case *harness.ToolResult:
		if c := t.calls[p.ToolCallID]; c != nil {
			c.output, c.result = p.Output, harness.EventID(e.Session, e.Seq)
		}
	case *harness.ToolOutcome:
		if c := t.calls[p.ToolCallID]; c != nil {
			c.status = p.Status
			if p.Status == harness.OutcomeError && p.Reason == harness.TurnCancelled {
				c.status = p.Reason
			}
		}
	case *harness.ApprovalApplied:
		t.decided(p)
	case *harness.Token:
		if p.ItemID != t.item {
			t.item, t.said = p.ItemID, nil
		}
		t.said = append(t.said, p.Text...)
	case *harness.Response:
		t.answer, t.said = p.Text, nil
	case *harness.Failure:
		t.failures++
	case *harness.TurnEnd:
		t.buddhi.Status = p.Status
	}
}

func (t *turn) heard(p *harness.UserMessage) {
	if p.Source == harness.FromSteer {
		t.manas.Steers++
		return
	}
	t.manas.Asked = quote(harness.PlainText(p.Parts))
	for _, part := range p.Parts {
		if part.Path != "" {
			note(&t.manas.Files, part.Path)
		}
	}
}

func (t *turn) decided(p *harness.ApprovalApplied) {
	if p.Source != harness.ByUser {
		return
	}
	if p.Decision == harness.Allow {
		t.buddhi.Approved++
		return
	}
	t.buddhi.Denied++
}

// noSandbox is said of a turn that opened no workspace: nothing could run.
const noSandbox = "no workspace"

// left is how calls end that were open when the turn ended so.
func left(status string) string {
	switch status {
	case harness.TurnCompleted:
		return harness.OutcomeOK
	case harness.TurnCancelled:
		return harness.TurnCancelled
	case harness.TurnError:
		return harness.OutcomeError
	}
	return "open"
}

// conclude adds up the calls.
func (t *turn) conclude() {
	for _, c := range t.order {
		status := cmp.Or(c.status, left(t.buddhi.Status))
		t.buddhi.Calls[status]++
		note(&t.buddhi.Tools, c.name)
		if status == harness.OutcomeOK || status == harness.OutcomeArtifact {
			note(&t.buddhi.Evidence, c.result)
			for _, p := range c.writes() {
				note(&t.buddhi.Changed, p)
			}
			if c.name == "memory" {
				note(&t.chitta.Memory, quote(c.argument("text", "query", "id")))
			}
		}
	}
	if t.buddhi.Status == "" {
		t.buddhi.Status = "running"
	}
	t.ahamkara.Sandbox = cmp.Or(t.ahamkara.Sandbox, noSandbox)
	if len(t.said) > 0 { // nobody has made a whole answer of it yet
		t.answer = string(t.said)
	}
	t.buddhi.Answered = t.answer != ""
}

// confidence is how much of what was tried went well, and how much of the answer
// rests on something: 1 if all did. A guardrail that was touched takes a
// quarter, down to nothing.
func (t *turn) confidence(touched int) float64 {
	good, all := 1.0, 1.0
	for status, n := range t.buddhi.Calls {
		all += float64(n)
		if status == harness.OutcomeOK || status == harness.OutcomeArtifact {
			good += float64(n)
		}
	}
	c := good/all - 0.25*float64(touched) - 0.25*float64(t.failures)
	return float64(int(max(0, c)*100)) / 100
}

func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil { // plain structs of strings and numbers
		panic(err)
	}
	return raw
}

// note adds what is new to a list, while there is room.
func note(list *[]string, s string) {
	if s != "" && len(*list) < maxList && !slices.Contains(*list, s) {
		*list = append(*list, quote(s))
	}
}

// quote is the beginning of a text, on one line.
func quote(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxQuote {
		s = strings.ToValidUTF8(s[:maxQuote], "") + "…"
	}
	return s
}
