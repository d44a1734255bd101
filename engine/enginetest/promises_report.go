package enginetest

import (
	"context"
	"slices"
	"sync/atomic"

	"harness"
)

func oneOutcome(c *check) {
	e := c.open(c)
	can := e.Abilities()
	if !can.Tools {
		c.Skip("the engine does not report tools")
	}
	c.need("Tool", c.s.Tool)
	for _, prompt := range []string{c.s.Tool, c.s.Ask} {
		if prompt == "" || prompt == c.s.Ask && !can.Approve {
			continue
		}
		h := NewHost("ses_outcome")
		if err := c.complete(e, h, prompt); err != nil {
			c.Fatalf("%q: Run returned %v", prompt, err)
		}
		for _, open := range h.State().Turn.Open {
			c.Errorf("%q: call %s of %s has no outcome", prompt, open.ID, open.Name)
		}
		for _, complaint := range h.Complaints() {
			c.Errorf("%q: %s", prompt, complaint)
		}
	}
}

func nothingRunsUnasked(c *check) {
	if !c.open(c).Abilities().Approve {
		c.Skip("the engine does not ask")
	}
	c.need("Ask", c.s.Ask)
	for _, v := range []harness.Verdict{harness.Allow, harness.Deny} {
		e := c.open(c)
		h := NewHost("ses_ask")
		var asked atomic.Int64
		h.Answer = func(_ context.Context, u harness.ToolUse) (harness.Decision, error) {
			asked.Add(1)
			c.notRun(h, u.Call, "before it was allowed")
			return harness.Decision{Verdict: v, Scope: harness.Once, Reason: "because", Source: harness.ByUser}, nil
		}
		if err := c.complete(e, h, c.s.Ask); err != nil {
			c.Errorf("%q answered with %s: Run returned %v, want nil", c.s.Ask, v, err)
		}
		if asked.Load() == 0 {
			return // ReportsWhatItsAbilitiesSay says so
		}
		for _, d := range h.State().Decided {
			if v == harness.Deny {
				c.notRun(h, d.Call, "although it was denied")
				if got := outcome(h, d.Call); got != "" && got != harness.OutcomeDenied {
					c.Errorf("%q: the denied call %s has the outcome %q", c.s.Ask, d.Call, got)
				}
			} else if got := outcome(h, d.Call); got == harness.OutcomeDenied {
				c.Errorf("%q: the allowed call %s was denied", c.s.Ask, d.Call)
			}
		}
		if v == harness.Allow && c.s.Ran != nil && !c.s.Ran() {
			c.Errorf("%q: the call did not run although it was allowed", c.s.Ask)
		}
	}
}

// notRun checks that a call shows no sign of having run.
func (c *check) notRun(h *Host, id harness.CallID, when string) {
	for _, e := range h.Events() {
		ran := false
		switch p := e.Payload.(type) {
		case *harness.ToolLog:
			ran = p.ToolCallID == id
		case *harness.ToolResult:
			ran = p.ToolCallID == id
		case *harness.ToolOutcome:
			ran = p.ToolCallID == id && (p.Status == harness.OutcomeOK || p.Status == harness.OutcomeArtifact)
		}
		if ran {
			c.Errorf("%q: call %s has a %s %s", c.s.Ask, id, e.Type(), when)
		}
	}
	if c.s.Ran != nil && c.s.Ran() {
		c.Errorf("%q: call %s ran %s", c.s.Ask, id, when)
	}
}

// outcome is the status with which a call was closed.
func outcome(h *Host, id harness.CallID) string {
	for _, e := range h.Events() {
		if p, ok := e.Payload.(*harness.ToolOutcome); ok && p.ToolCallID == id {
			return p.Status
		}
	}
	return ""
}

// ability is one of an engine's abilities, and the facts that show it.
type ability struct {
	name   string
	can    bool
	prompt string
	facts  []harness.Type
}

func abilities(e harness.Engine, s Situations) []ability {
	can := e.Abilities()
	return []ability{
		{"Tools", can.Tools, s.Tool, []harness.Type{"tool_call", "tool_outcome"}},
		{"Thinks", can.Thinks, s.Think, []harness.Type{"thinking"}},
		{"Approve", can.Approve, s.Ask, []harness.Type{"approval_required"}},
		{"Resume", can.Resume, s.Resume, []harness.Type{"session_checkpoint"}},
	}
}

func keepsToAbilities(c *check) {
	e := c.open(c)
	for _, a := range abilities(e, c.s) {
		if a.can {
			c.need(a.name, a.prompt)
		}
	}
	for _, prompt := range []string{c.s.Say, c.s.Think, c.s.Tool, c.s.Ask, c.s.Resume} {
		if prompt == "" {
			continue
		}
		h := NewHost("ses_able")
		l := NewLedger(c)
		_ = c.complete(l.Watch(c, e), h, prompt) // what it returns is another promise
		for _, a := range abilities(e, c.s) {
			if a.can && a.prompt == prompt && !slices.ContainsFunc(a.facts, func(kind harness.Type) bool { return l.saw(string(kind)) }) {
				c.Errorf("%q: the engine claims the ability %s and shows nothing of it", prompt, a.name)
			}
		}
	}
}
