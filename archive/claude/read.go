// Package claude reads the transcripts of Claude Code, as it keeps them in
// ~/.claude/projects. Their form is its own and changes: what this build does
// not know is counted as lost.
package claude

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"harness"
	"harness/archive/transcript"
)

// lacks is what a transcript of the program never has.
const lacks = "no approvals, no live output of tools, and nothing of what its subagents said"

// Read reads a transcript. One that is damaged is ErrCorrupt, one that holds no
// conversation ErrInvalid.
func Read(r io.Reader, o *transcript.Options) (*transcript.Session, error) {
	t := &reader{log: transcript.New(o)}
	err := t.log.Lines(r, func(raw []byte) error {
		var l line
		if err := json.Unmarshal(raw, &l); err != nil {
			return fmt.Errorf("%w: %w", err, harness.ErrCorrupt)
		}
		if l.Type == "" {
			return fmt.Errorf("it has no type: %w", harness.ErrInvalid)
		}
		if !l.spoken() {
			t.log.Lose(l.Type)
			return nil
		}
		t.all = append(t.all, &l)
		return nil
	})
	if err != nil {
		return nil, err
	}
	in := chain(t.all)
	for _, l := range t.all {
		if err := t.take(l, in[l]); err != nil {
			return nil, err
		}
	}
	t.end()
	return t.log.Session()
}

type reader struct {
	log  *transcript.Log
	all  []*line
	used map[string]usage // of the turn, by message
	sum  harness.Usage    // of all of them
	stop string           // why the last message ended
}

// take tells the log of a line.
func (t *reader) take(l *line, in bool) error {
	switch {
	case l.Side:
		t.log.Lose("message of a subagent")
		return nil
	case l.Type == "attachment", l.Type == "system":
		t.log.Lose(l.Type) // what was compacted, its summary says
		return nil
	case !in:
		t.log.Lose("message that was taken back")
		return nil
	}
	if !t.log.Opened() {
		o := transcript.Origin{Kind: "claude", Program: "Claude Code " + cmp.Or(l.Version, "of some version"), ID: l.Session, Directory: l.Directory, Lacks: lacks}
		if err := t.log.Open(l.Time, o); err != nil {
			return err
		}
	}
	if l.Type == "assistant" {
		t.answer(l)
	} else {
		t.hear(l)
	}
	return nil
}

// answer is a line of the assistant.
func (t *reader) answer(l *line) {
	if l.Failed {
		said, _ := l.Message.Content.text()
		t.log.Failed(l.Time, said)
		return
	}
	for _, b := range l.Message.Content {
		switch b.Type {
		case "text":
			t.log.Say(l.Time, b.Text)
		case "thinking":
			t.log.Think(l.Time, b.Thinking)
		case "tool_use":
			t.log.Call(l.Time, b.ID, b.Name, b.Input)
		default:
			t.log.Lose(b.Type)
		}
	}
	t.stop = cmp.Or(l.Message.Stop, t.stop)
	if l.Message.Usage != nil {
		if t.used == nil {
			t.used = map[string]usage{}
		}
		was, is := t.used[l.Message.ID], *l.Message.Usage // every line of a message has all of it
		t.used[l.Message.ID] = is
		t.sum.InputTokens += is.In + is.Written - was.In - was.Written
		t.sum.OutputTokens += is.Out - was.Out
		t.sum.CachedTokens += is.Cached - was.Cached
		t.sum.Model = l.Message.Model
		t.log.Used(t.sum)
	}
}

// interrupted is how the program writes down that a person stopped a turn.
const interrupted = "[Request interrupted by user"

// hear is a line of the user, which may be results.
func (t *reader) hear(l *line) {
	var said blocks
	for _, b := range l.Message.Content {
		if b.Type != "tool_result" {
			said = append(said, b)
			continue
		}
		output, rest := b.Content.text()
		for _, kind := range rest {
			t.log.Lose(kind + " of a tool")
		}
		t.log.Result(l.Time, b.Call, output, b.IsError)
	}
	if len(said) == 0 {
		return
	}
	text, rest := said.text()
	for _, kind := range rest {
		t.log.Lose(kind)
	}
	switch {
	case l.Summary:
		if t.done() {
			t.end()
		}
		t.log.Compacted(l.Time, text)
	case l.Meta:
		t.log.Lose("note of the program")
	case strings.HasPrefix(text, "<command-name>"), strings.HasPrefix(text, "<command-message>"), strings.HasPrefix(text, "<local-command-"):
		t.log.Lose("command to the program")
	case strings.HasPrefix(text, interrupted):
		t.forget()
		t.log.End(l.Time, harness.TurnCancelled, "user")
	case text == "":
	default:
		t.end()
		t.log.Prompt(l.Time, "", harness.TextPart(text))
	}
}

// end ends the turn that is open, if one is. The model has come to its end only
// if it said so.
func (t *reader) end() {
	status, why := harness.TurnCompleted, ""
	if !t.done() {
		status, why = harness.TurnCancelled, transcript.NoEnd
	}
	t.log.End(time.Time{}, status, why)
	t.forget()
}

// forget begins another turn.
func (t *reader) forget() { t.stop, t.used, t.sum = "", nil, harness.Usage{} }

// done reports whether the model has come to an end of its turn.
func (t *reader) done() bool { return t.stop != "" && t.stop != "tool_use" }
