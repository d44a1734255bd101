package codex

import (
	"strconv"
	"strings"

	"harness"
	"harness/engine/internal/talk"
)

// translator turns what the program tells into facts about a turn.
type translator struct {
	directory string
	calls     talk.Calls
	speech    talk.Speech
	strange   talk.Strange
	model     string

	sent     map[string]*strings.Builder // of messages that stream, by item
	changes  map[string][]change         // of files, by item
	used     harness.Usage
	answers  int  // of the model
	fresh    bool // it has begun another one since
	commands bool // it has run some
}

func newTranslator(directory string) *translator {
	return &translator{directory: directory, strange: make(talk.Strange), sent: make(map[string]*strings.Builder), changes: make(map[string][]change)}
}

// take is what a notification tells. main says that it is about the session's
// own thread; of others, only the calls are told that somebody was asked about.
func (t *translator) take(m *talk.Message, main bool) ([]harness.Payload, error) {
	switch m.Method {
	case "item/started", "item/completed":
		var n itemNotice
		if err := m.Read(&n); err != nil {
			return nil, err
		}
		return t.item(&n.Item, m.Method == "item/completed", main), nil
	case "item/agentMessage/delta", "item/plan/delta", "item/reasoning/summaryPartAdded", "item/reasoning/summaryTextDelta", "item/reasoning/textDelta",
		"item/commandExecution/outputDelta", "item/fileChange/outputDelta", "item/mcpToolCall/progress":
		var d delta
		if err := m.Read(&d); err != nil {
			return nil, err
		}
		return t.delta(m.Method, &d, main), nil
	}
	if !main {
		return nil, nil
	}
	switch m.Method {
	case "thread/tokenUsage/updated":
		var n usageNotice
		if err := m.Read(&n); err != nil {
			return nil, err
		}
		return t.count(&n), nil
	case "turn/plan/updated":
		var n planNotice
		if err := m.Read(&n); err != nil {
			return nil, err
		}
		return n.steps(), nil
	case "error":
		var n errorNotice
		if err := m.Read(&n); err != nil {
			return nil, err
		}
		return n.diagnose(), nil
	case "model/rerouted":
		var n rerouted
		if err := m.Read(&n); err != nil {
			return nil, err
		}
		return []harness.Payload{&harness.TransportDiagnostic{Status: "degraded", Kind: "model_rerouted", ProviderRequested: n.From, ProviderActual: n.To, Reason: n.Reason}}, nil
	}
	t.strange.Count(m.Method)
	return nil, nil
}

// delta is a piece of an item.
func (t *translator) delta(method string, d *delta, main bool) []harness.Payload {
	switch method {
	case "item/commandExecution/outputDelta", "item/fileChange/outputDelta", "item/mcpToolCall/progress":
		c := t.calls.Find(d.Item)
		text := d.Delta + d.Message
		if c == nil || !c.Told() || text == "" {
			return nil
		}
		return []harness.Payload{&harness.ToolLog{ToolCallID: c.ID, Text: text}}
	}
	if !main {
		return nil
	}
	t.fresh = true
	switch method {
	case "item/reasoning/summaryPartAdded":
		if d.Index > 0 {
			return talk.Think("\n\n")
		}
		return nil
	case "item/reasoning/summaryTextDelta", "item/reasoning/textDelta":
		t.streamed(d.Item).WriteString(d.Delta)
		return talk.Think(d.Delta)
	}
	t.streamed(d.Item).WriteString(d.Delta)
	return t.speech.Say(d.Delta)
}

// streamed is what has been told of an item.
func (t *translator) streamed(item string) *strings.Builder {
	b := t.sent[item]
	if b == nil {
		b = new(strings.Builder)
		t.sent[item] = b
	}
	return b
}

// count adds what an answer of the model used to the turn's.
func (t *translator) count(n *usageNotice) []harness.Payload {
	t.answers++
	t.fresh = false
	last := n.Usage.Last
	t.used.InputTokens += last.Input
	t.used.OutputTokens += last.Output
	t.used.CachedTokens += last.Cached
	if n.Usage.Window > 0 {
		t.used.ContextPct = new(100 * float64(last.Total) / float64(n.Usage.Window))
	}
	return t.usage()
}

// usage is what the turn used so far; nothing if the program did not say. What
// it costs is not known.
func (t *translator) usage() []harness.Payload {
	if t.answers == 0 {
		return nil
	}
	u := t.used
	u.Model = t.model
	return []harness.Payload{&u}
}

// steps are those of a plan.
func (n *planNotice) steps() (facts []harness.Payload) {
	for i, s := range n.Plan {
		facts = append(facts, &harness.StepProgress{StepID: strconv.Itoa(i + 1), Index: i, Total: len(n.Plan), Title: s.Step, Status: stepStatus(s.Status)})
	}
	return facts
}

// stepStatus is S3's spelling.
func stepStatus(s string) string {
	if s == "inProgress" {
		return "in_progress"
	}
	return s
}
