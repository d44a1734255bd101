package remote

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"harness"
	"harness/protocol/runner"
)

// Bounds on one run, beside those on each event. A run that goes beyond is
// ended: its runner has lost its mind, or wants to fill the log.
const (
	maxFrames    = 8 << 20 // a day of a hundred a second
	maxBytes     = runner.MaxSpool
	maxCalls     = 10_000
	maxQuestions = 64 // at a time
	maxName      = 256
	maxMessage   = 4 << 10
)

// order is the rules of a run, and how far it got in them.
type order struct {
	run      string // its requestId, if the runner numbers its events
	last     uint64 // the last event; 0 before the first
	count    uint64
	bytes    int64
	numbered bool
	begun    bool
	calls    map[harness.CallID]bool // true while open
}

func (o *order) fault(format string, args ...any) error {
	return &runner.FaultError{What: fmt.Sprintf(format, args...)}
}

// check returns nil if an event may come now.
func (o *order) check(f *runner.Frame) error {
	if o.count++; o.count > maxFrames {
		return o.fault("a run has more than %d events", maxFrames)
	}
	if f.Task != nil {
		o.bytes += int64(len(f.Task.Prompt))
	}
	if o.bytes += int64(len(f.Text) + len(f.Input) + len(f.Output) + len(f.Payload) + len(f.Result) + len(f.Content)); o.bytes > maxBytes {
		return o.fault("a run says more than %d bytes", maxBytes)
	}
	if !o.begun {
		if f.Type != runner.Started {
			return o.fault("a run begins with %.100q", f.Type)
		}
		o.begun, o.numbered = true, f.ID > 0
	} else if f.Type == runner.Started {
		return o.fault("a run begins twice")
	}
	if o.numbered != (f.ID > 0) || o.numbered && f.ID != o.last+1 {
		return o.fault("event %d comes after event %d", f.ID, o.last)
	}
	o.last = f.ID
	switch f.Type {
	case runner.Started:
		if o.numbered && f.RequestID != o.run {
			return o.fault("it tells of run %.100q, asked for %s", f.RequestID, o.run)
		}
	case runner.ToolStart:
		if o.calls == nil {
			o.calls = map[harness.CallID]bool{}
		}
		switch {
		case !name(string(f.ToolUseID), harness.MaxID) || !name(f.ToolName, maxName):
			return o.fault("a call is named %.100q and its tool %.100q", f.ToolUseID, f.ToolName)
		case len(o.calls) >= maxCalls:
			return o.fault("a run makes more than %d calls", maxCalls)
		}
		if _, known := o.calls[f.ToolUseID]; !known {
			o.calls[f.ToolUseID] = true
		}
	case runner.ToolDone:
		delete(o.calls, f.ToolUseID)
	case runner.Asked:
		if !o.calls[f.ToolUseID] {
			return o.fault("it asks about call %.100q, which is not open", f.ToolUseID)
		}
	case runner.Other:
		if f.Name == "" || len(f.Payload) == 0 {
			return o.fault("an event of the inventory has no name or no payload")
		}
	}
	return nil
}

// name reports whether s is text that can name something.
func name(s string, most int) bool {
	return s != "" && len(s) <= most && utf8.ValidString(s) && strings.IndexFunc(s, unicode.IsControl) < 0
}

// message is what a runner says about a failure, as far as people can read it.
func message(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > maxMessage {
		s = strings.ToValidUTF8(s[:maxMessage], "") + " …"
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
	if strings.TrimSpace(s) == "" {
		return "the run failed"
	}
	return s
}
