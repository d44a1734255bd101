package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"harness"
)

// view is S1's state, as far as it is shown.
type view struct {
	Status, SessionID, Error string
	FirstMessage             int
	Messages                 []viewMessage
	PendingApprovals         []struct {
		RequestID, ToolCallID, ToolName, Description, Reason string
		Input                                                json.RawMessage
	}
}

type viewMessage struct {
	ID, Role, Content, Reasoning string
	ToolCalls                    []viewCall
}

type viewCall struct {
	ID, Name, Status, Output string
	Input                    json.RawMessage
	At                       int // in UTF-16 units of the content
}

// mirror takes one state after the other to a transcript, which can only grow:
// what is new in each is added.
type mirror struct {
	t     *transcript
	now   view
	known map[string]*shown // message → how much of it was shown
	mine  map[string]string // question → what we answered
	live  bool              // a state was shown before
	stop  bool              // we cancelled the turn
}

type shown struct {
	text, thoughts int
	calls          map[string]int // → length of the output, or -1 for one that has ended
}

func newMirror(t *transcript) *mirror {
	return &mirror{t: t, known: map[string]*shown{}, mine: map[string]string{}}
}

func (m *mirror) ready() bool { return m.live }

func (m *mirror) running() bool {
	return m.now.Status == "running" || m.now.Status == "awaiting-approval"
}

// show adds what is new in v.
func (m *mirror) show(v view, now time.Time) {
	before := m.now
	m.now = v
	if !m.live && v.FirstMessage > 0 {
		m.t.remark(dim, fmt.Sprintf("… %d earlier messages", v.FirstMessage))
	}
	m.settled(v, now)
	known := make(map[string]*shown, len(v.Messages))
	for i := range v.Messages {
		msg := &v.Messages[i]
		s := m.known[msg.ID]
		if s == nil {
			s = &shown{calls: map[string]int{}}
			if msg.Role == "user" {
				m.t.prompt(msg.Content)
			}
		}
		known[msg.ID] = s // those that left the window are forgotten
		if msg.Role == "assistant" {
			m.message(msg, s, now)
		}
	}
	m.known = known
	for _, a := range v.PendingApprovals {
		m.t.ask(question{id: a.RequestID, call: a.ToolCallID, tool: a.ToolName, text: a.Description, reason: a.Reason, input: a.Input})
	}
	switch was := before.Status; {
	case m.running():
		m.t.begin(now)
	default:
		m.t.end()
		if m.stop {
			m.t.ended(harness.TurnCancelled, "")
		}
		m.stop = false
		if v.Status == "error" && was != "error" {
			m.t.ended("error", v.Error)
		}
	}
	m.live = true
}

// settled says what became of questions that are no longer asked. A state tells
// of a denial only when the engine has heard of it, so nothing is called allowed
// that we did not allow.
func (m *mirror) settled(v view, now time.Time) {
	for _, q := range slices.Clone(m.t.asked) {
		open := false
		for _, a := range v.PendingApprovals {
			open = open || a.RequestID == q.id
		}
		if open {
			continue
		}
		reply, by := m.mine[q.id], ""
		switch {
		case reply != "":
		case m.stop:
			reply = "withdrawn"
		default:
			reply = "elsewhere"
		}
		for _, msg := range v.Messages {
			for _, c := range msg.ToolCalls {
				if c.ID == q.call && c.Status == "denied" {
					if reply != "reject" {
						by = "by another client"
					}
					reply = "reject"
				}
			}
		}
		delete(m.mine, q.id)
		m.t.answered(q.id, reply, by, now)
	}
}

func (m *mirror) message(msg *viewMessage, s *shown, now time.Time) {
	if n := len(msg.Reasoning); n > s.thoughts {
		m.t.say(msg.Reasoning[s.thoughts:], true)
		s.thoughts = n
	}
	for i := range msg.ToolCalls {
		c := &msg.ToolCalls[i]
		m.text(msg.Content, units(msg.Content, c.At), s)
		m.callState(c, s, now)
	}
	m.text(msg.Content, len(msg.Content), s)
}

func (m *mirror) text(content string, to int, s *shown) {
	if to > s.text {
		m.t.say(content[s.text:to], false)
		s.text = to
	}
}

func (m *mirror) callState(c *viewCall, s *shown, now time.Time) {
	n, begun := s.calls[c.ID]
	if n < 0 {
		return
	}
	if !begun {
		m.t.toolBegins(c.ID, c.Name, c.Input, now)
	}
	switch c.Status {
	case "complete", "error", "denied":
		took := time.Duration(-1)
		if r := m.t.tool(c.ID); r != nil && m.live {
			took = now.Sub(r.began)
		}
		m.t.toolEnds(c.ID, c.Status, c.Output, "", took)
		s.calls[c.ID] = -1
	default:
		if len(c.Output) > n {
			m.t.toolSays(c.ID, c.Output[n:])
			n = len(c.Output)
		}
		s.calls[c.ID] = n
	}
}

// units is where in s so many UTF-16 units end.
func units(s string, n int) int {
	for i, r := range s {
		if n <= 0 {
			return i
		}
		n--
		if r > 0xffff && utf8.ValidRune(r) {
			n--
		}
	}
	return len(s)
}
