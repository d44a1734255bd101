package trace

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"harness"
)

// Span is a piece of work. Its parent is of the same trace; empty for the turn.
type Span struct {
	Trace      [16]byte
	ID, Parent [8]byte
	Name       string
	Client     bool // it is a request to somebody else
	Start, End time.Time
	Attributes []Attribute
	Moments    []Moment
	Error      string // what went wrong, in a word; empty: nothing
}

// Attribute is a fact about a span: a text, a whole number or a number.
type Attribute struct {
	Key   string
	Value any // string, int64 or float64
}

// Moment is something that happened during a span.
type Moment struct {
	Name       string
	Time       time.Time
	Attributes []Attribute
}

// MaxSpans bounds the spans of one turn; what is beyond is counted on the turn's.
const MaxSpans = 2000

// maxContent bounds a text on a span, if texts are wanted.
const maxContent = 16 << 10

// Of is the spans of a turn, from its events: those from turn_start to turn_end,
// of which there may be several attempts. The turn's own is the first. Without
// an end there are none.
func Of(events []harness.Event, content bool) []Span {
	b := &builder{content: content, calls: map[harness.CallID]int{}}
	for _, e := range events {
		b.take(e)
	}
	if !b.ended || len(b.spans) == 0 {
		return nil
	}
	return b.finish()
}

// builder makes the spans of one turn.
type builder struct {
	content bool
	spans   []Span                 // the turn's is the first
	calls   map[harness.CallID]int // which of them are open calls
	model   string
	engine  string
	prompt  string
	since   time.Time // when the model was last asked, as far as the log says
	spoke   time.Time // when it began to answer; zero: it has not
	said    string    // since then, if texts are wanted
	usage   harness.Usage
	over    int // spans that there was no room for
	ended   bool
}

func (b *builder) take(e harness.Event) {
	if m, ok := e.Payload.(*harness.UserMessage); ok && b.content && len(b.spans) == 0 {
		b.prompt = harness.PlainText(m.Parts)
	}
	if p, ok := e.Payload.(*harness.TurnStart); ok {
		b.start(e, p)
		return
	}
	if len(b.spans) == 0 {
		return
	}
	root := &b.spans[0]
	switch p := e.Payload.(type) {
	case *harness.Token:
		b.speaks(e, p.Text)
	case *harness.Thinking:
		b.speaks(e, "")
	case *harness.ToolCall:
		b.speaks(e, "")
		b.call(e, p)
	case *harness.ToolOutcome:
		b.outcome(e, p)
	case *harness.Usage:
		b.answer(e, p)
	case *harness.ApprovalRequired:
		b.moment(e, p.ToolCallID, "approval_required", p.ToolName)
	case *harness.ApprovalApplied:
		b.moment(e, p.ToolCallID, "approval_applied", string(p.Decision))
	case *harness.ContextCompacted:
		b.moment(e, "", "context_compacted", "")
	case *harness.TransportDiagnostic:
		b.moment(e, "", "transport_diagnostic", p.Kind)
	case *harness.Failure:
		b.moment(e, "", "error", p.Code)
		if root.Error == "" && p.Code != "" {
			root.Error = p.Code
		}
	case *harness.TurnEnd:
		b.end(e, p)
	}
}

func (b *builder) start(e harness.Event, p *harness.TurnStart) {
	b.since, b.spoke = e.Time, time.Time{}
	if len(b.spans) > 0 { // another attempt
		b.moment(e, "", "attempt", fmt.Sprint(p.Attempt))
		return
	}
	b.model, b.engine = p.Model, p.Engine
	s := Span{
		Trace: trace(e.Session, p.TurnID), ID: id(string(p.TurnID), "turn"), Name: "invoke_agent " + p.Engine, Start: e.Time,
		Attributes: []Attribute{
			{"gen_ai.operation.name", "invoke_agent"}, {"gen_ai.provider.name", provider(p.Engine, p.Model)}, {"gen_ai.agent.name", p.Engine},
			{"gen_ai.conversation.id", string(e.Session)}, {"harness.turn.id", string(p.TurnID)},
		},
	}
	if p.Model != "" {
		s.Attributes = append(s.Attributes, Attribute{"gen_ai.request.model", p.Model})
	}
	if b.content && b.prompt != "" {
		s.Attributes = append(s.Attributes, Attribute{"gen_ai.input.messages", messages("user", b.prompt)})
	}
	b.spans = []Span{s}
}

// speaks notes that the model answers.
func (b *builder) speaks(e harness.Event, text string) {
	if b.spoke.IsZero() {
		b.spoke = e.Time
	}
	if b.content && len(b.said) < maxContent {
		b.said += text
	}
}

// answer is a model's answer: from when it was asked to when it was counted.
// What the log counts is the turn so far, so an answer's own is the difference.
func (b *builder) answer(e harness.Event, p *harness.Usage) {
	if p.Model != "" {
		b.model = p.Model
	}
	s := b.below(e, "chat "+b.model, fmt.Sprint("usage ", e.Seq), b.since)
	s.Client, s.End = true, e.Time
	s.Attributes = []Attribute{
		{"gen_ai.operation.name", "chat"}, {"gen_ai.provider.name", provider(b.engine, b.model)}, {"gen_ai.request.model", b.model}, {"gen_ai.response.model", b.model},
		{"gen_ai.conversation.id", string(e.Session)},
		{"gen_ai.usage.input_tokens", max(0, p.InputTokens-b.usage.InputTokens)}, {"gen_ai.usage.output_tokens", max(0, p.OutputTokens-b.usage.OutputTokens)},
	}
	if cached := p.CachedTokens - b.usage.CachedTokens; cached > 0 {
		s.Attributes = append(s.Attributes, Attribute{"gen_ai.usage.cache_read.input_tokens", cached})
	}
	if !b.spoke.IsZero() {
		s.Moments = append(s.Moments, Moment{Name: "first_token", Time: b.spoke})
	}
	if b.content && b.said != "" {
		s.Attributes = append(s.Attributes, Attribute{"gen_ai.output.messages", messages("assistant", b.said)})
	}
	b.usage, b.since, b.spoke, b.said = *p, e.Time, time.Time{}, ""
	b.add(s)
}

func (b *builder) call(e harness.Event, p *harness.ToolCall) {
	s := b.below(e, "execute_tool "+p.Name, "call "+string(p.ToolCallID), e.Time)
	s.Attributes = []Attribute{
		{"gen_ai.operation.name", "execute_tool"}, {"gen_ai.tool.name", p.Name}, {"gen_ai.tool.call.id", string(p.ToolCallID)}, {"gen_ai.tool.type", "function"},
	}
	if b.content {
		s.Attributes = append(s.Attributes, Attribute{"gen_ai.tool.call.arguments", cut(string(p.Arguments))})
	}
	if b.add(s) {
		b.calls[p.ToolCallID] = len(b.spans) - 1
	}
}

func (b *builder) outcome(e harness.Event, p *harness.ToolOutcome) {
	b.since = e.Time // the model is asked again, when the last call is done
	i, open := b.calls[p.ToolCallID]
	if !open {
		return
	}
	delete(b.calls, p.ToolCallID)
	s := &b.spans[i]
	s.End = e.Time
	s.Attributes = append(s.Attributes, Attribute{"harness.tool.outcome", p.Status})
	if p.Status != harness.OutcomeOK && p.Status != harness.OutcomeArtifact {
		s.Error = p.Status
	}
	if b.content && len(p.Result) > 0 {
		s.Attributes = append(s.Attributes, Attribute{"gen_ai.tool.call.result", cut(string(p.Result))})
	}
}

// moment is told with the call that it is about, or with the turn.
func (b *builder) moment(e harness.Event, call harness.CallID, name, word string) {
	s := &b.spans[0]
	if i, open := b.calls[call]; open {
		s = &b.spans[i]
	}
	if len(s.Moments) >= MaxSpans {
		return
	}
	m := Moment{Name: name, Time: e.Time}
	if word != "" {
		m.Attributes = []Attribute{{"harness.detail", word}}
	}
	s.Moments = append(s.Moments, m)
}

func (b *builder) end(e harness.Event, p *harness.TurnEnd) {
	b.ended = true
	root := &b.spans[0]
	root.End = e.Time
	root.Attributes = append(root.Attributes, Attribute{"harness.turn.status", p.Status})
	switch {
	case p.Status != harness.TurnError:
		root.Error = ""
	case root.Error == "":
		root.Error = "error"
	}
	for _, i := range b.calls { // a turn's end closes them, or nothing does
		b.spans[i].End, b.spans[i].Error = e.Time, "interrupted"
	}
}

func (b *builder) finish() []Span {
	root := &b.spans[0]
	root.Attributes = append(root.Attributes, Attribute{"gen_ai.usage.input_tokens", b.usage.InputTokens}, Attribute{"gen_ai.usage.output_tokens", b.usage.OutputTokens})
	if b.usage.CostUSD != nil {
		root.Attributes = append(root.Attributes, Attribute{"harness.cost_usd", *b.usage.CostUSD})
	}
	if b.over > 0 {
		root.Attributes = append(root.Attributes, Attribute{"harness.spans_dropped", int64(b.over)})
	}
	return b.spans
}

// below is a span under the turn's.
func (b *builder) below(e harness.Event, name, what string, start time.Time) Span {
	root := &b.spans[0]
	return Span{Trace: root.Trace, ID: id(string(e.Turn), what), Parent: root.ID, Name: name, Start: start}
}

func (b *builder) add(s Span) bool {
	if len(b.spans) >= MaxSpans {
		b.over++
		return false
	}
	b.spans = append(b.spans, s)
	return true
}

// trace and id are functions of what they name.
func trace(s harness.SessionID, t harness.TurnID) [16]byte {
	sum := sha256.Sum256([]byte("trace of " + string(s) + " " + string(t)))
	return [16]byte(sum[:16])
}

func id(turn, what string) [8]byte {
	sum := sha256.Sum256([]byte("span of " + turn + " " + what))
	return [8]byte(sum[:8])
}

// messages is a text in the form that the conventions have for messages.
func messages(role, text string) string {
	type part struct {
		Type    string `json:"type"`
		Content string `json:"content"`
	}
	b, err := json.Marshal([]struct {
		Role  string `json:"role"`
		Parts []part `json:"parts"`
	}{{role, []part{{"text", cut(text)}}}})
	if err != nil {
		return "" // of strings: it cannot be
	}
	return string(b)
}

func cut(s string) string {
	if len(s) <= maxContent {
		return s
	}
	return s[:maxContent] + "…"
}
