package transcript

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"harness"
)

// NoEnd is why a turn ended of which nobody wrote down how.
const NoEnd = "the transcript does not have its end"

// Prompt begins a turn with what a person said. One that is still open was left.
func (l *Log) Prompt(at time.Time, model string, parts []harness.Part) {
	l.End(time.Time{}, harness.TurnCancelled, NoEnd)
	l.add(at, &harness.UserMessage{ItemID: l.newItem(), Source: harness.FromTurn, Parts: l.parts(parts)})
	l.begin(at, model)
}

// Word is what a person said to the turn while it ran.
func (l *Log) Word(at time.Time, parts []harness.Part) {
	l.flush(at)
	l.add(at, &harness.UserMessage{ItemID: l.newItem(), Source: harness.FromSteer, Parts: l.parts(parts)})
	l.item = l.newItem() // what follows is another message
}

// begin begins a turn; its prompt, if it has one, was said.
func (l *Log) begin(at time.Time, model string) {
	l.turns++
	l.turn = harness.TurnID(fmt.Sprint(harness.TurnPrefix, l.key, l.turns))
	l.item = l.newItem()
	l.known = map[harness.CallID]bool{}
	l.add(at, &harness.TurnStart{TurnID: l.turn, ItemID: l.item, Attempt: 1, Model: model})
}

// within makes sure that there is a turn: a transcript may begin in one.
func (l *Log) within(at time.Time) {
	if l.turn == "" {
		l.begin(at, "")
	}
}

// Say is text of the assistant.
func (l *Log) Say(at time.Time, text string) {
	if text == "" {
		return
	}
	l.within(at)
	text = l.bounded("long text", text, MaxText)
	if len(l.said) > 0 {
		text = "\n\n" + text
	}
	l.said = append(l.said, text...)
	l.add(at, &harness.Token{ItemID: l.item, Text: text})
}

// Think is reasoning that the transcript has.
func (l *Log) Think(at time.Time, text string) {
	if strings.TrimSpace(text) == "" {
		l.Lose("hidden reasoning")
		return
	}
	l.within(at)
	l.add(at, &harness.Thinking{ItemID: l.item, Text: l.bounded("long text", text, MaxText)})
}

// Call is a call of a tool. An id that the turn has already is another call's.
func (l *Log) Call(at time.Time, id, name string, arguments json.RawMessage) {
	l.within(at)
	c := call{harness.CallID(id), name, at}
	if id == "" || len(id) > harness.MaxID || l.known[c.id] {
		l.Lose("call without an id of its own")
		return
	}
	if len(l.calls) >= MaxOpen {
		l.Lose("call among too many")
		return
	}
	l.known[c.id] = true
	l.calls = append(l.calls, c)
	if !json.Valid(arguments) || len(arguments) == 0 || arguments[0] != '{' {
		arguments = wrap(arguments)
	}
	l.add(at, &harness.ToolCall{Name: name, Arguments: l.arguments(arguments), ToolCallID: c.id, ItemID: l.newItem(), MessageID: l.item})
}

// wrap makes an object of an input that is none.
func wrap(raw json.RawMessage) json.RawMessage {
	b, err := json.Marshal(map[string]string{"input": string(raw)})
	if err != nil {
		return json.RawMessage("{}")
	}
	return b
}

// Result is how a call ended. One of a call that nobody made is lost.
func (l *Log) Result(at time.Time, id, output string, failed bool) {
	i := slices.IndexFunc(l.calls, func(c call) bool { return c.id == harness.CallID(id) })
	if i < 0 {
		l.Lose("result without a call")
		return
	}
	c := l.calls[i]
	l.calls = slices.Delete(l.calls, i, i+1)
	output = l.bounded("long output", output, MaxOutput)
	end := &harness.ToolOutcome{ToolCallID: c.id, ToolName: c.name, Status: harness.OutcomeOK, ElapsedMS: max(0, at.Sub(c.began).Milliseconds())}
	if failed {
		end.Status, end.Error = harness.OutcomeError, output
	} else {
		l.add(at, &harness.ToolResult{ToolCallID: c.id, ToolName: c.name, Output: output})
	}
	end.OutcomeType = harness.OutcomeType(end.Status)
	l.add(at, end)
}

// bounded keeps the beginning and the end of a text that is too long.
func (l *Log) bounded(kind, s string, most int) string {
	if len(s) <= most {
		return s
	}
	l.Lose(kind)
	return strings.ToValidUTF8(s[:most/2], "") + fmt.Sprintf("\n[… %d bytes were cut …]\n", len(s)-most) + strings.ToValidUTF8(s[len(s)-most/2:], "")
}

// parts are what a person said, within its bound.
func (l *Log) parts(parts []harness.Part) []harness.Part {
	parts = slices.Clone(parts)
	for i := range parts {
		parts[i].Text = l.bounded("long text", parts[i].Text, MaxText)
	}
	return parts
}

// Used is what the turn has used so far.
func (l *Log) Used(u harness.Usage) { l.used = &u }

// Compacted says that what was said before was shortened to a summary.
func (l *Log) Compacted(at time.Time, summary string) {
	l.flush(at)
	l.add(at, &harness.ContextCompacted{Summary: l.bounded("long text", summary, MaxText)})
}

// Failed says why the turn went wrong, and ends it.
func (l *Log) Failed(at time.Time, message string) {
	l.within(at)
	l.add(at, &harness.Failure{Message: message, Code: "provider"})
	l.End(at, harness.TurnError, message)
}

// flush says the whole of the message that is open.
func (l *Log) flush(at time.Time) {
	if l.turn != "" && len(l.said) > 0 {
		l.add(at, &harness.Response{ItemID: l.item, Text: string(l.said)})
	}
	l.said = l.said[:0]
}

// End ends the turn, if one is open: calls that nobody saw end were interrupted.
// The zero time is that of what came last.
func (l *Log) End(at time.Time, status, reason string) {
	if l.turn == "" {
		return
	}
	for _, c := range l.calls {
		l.add(at, &harness.ToolOutcome{
			ToolCallID: c.id, ToolName: c.name, OutcomeType: harness.OutcomeType(harness.OutcomeError), Status: harness.OutcomeError, Reason: "interrupted",
		})
	}
	l.calls = nil
	l.flush(at)
	if l.used != nil {
		l.add(at, l.used)
	}
	l.used = nil
	l.add(at, &harness.TurnEnd{TurnID: l.turn, Status: status, Reason: reason})
	l.turn = ""
}
