package script

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"harness"
)

// callID is the id of the call that o opens.
func (p *player) callID(o *op) harness.CallID {
	id := p.place(o)
	if n := p.reopened[id]; n > 0 {
		id += harness.CallID(":" + strconv.Itoa(n+1))
	}
	return id
}

// place is a call's first id. It follows from the turn and the place in the
// script, so that another attempt speaks of the same call.
func (p *player) place(o *op) harness.CallID {
	if o.id != "" {
		return o.id
	}
	id := "call_" + strings.TrimPrefix(string(p.turn.ID), harness.TurnPrefix) + "_" + strconv.Itoa(o.line)
	for _, n := range p.at.loops[:o.loops] {
		id += "_" + decimal(n+1)
	}
	return harness.CallID(id)
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// emitTool reports something about a call, if the engine reports calls.
func (p *player) emitTool(ctx context.Context, f harness.Payload) error {
	if !p.can.Tools {
		return nil
	}
	return p.host.Emit(ctx, f)
}

func (p *player) tool(ctx context.Context, o *op) error {
	return p.emitTool(ctx, &harness.ToolCall{Name: o.name, Arguments: bytes.Clone(o.json), ToolCallID: p.callID(o)})
}

func (p *player) log(ctx context.Context, o *op) error {
	return p.emitTool(ctx, &harness.ToolLog{ToolCallID: p.callID(&p.ops[o.call]), Stream: "stdout", Text: o.text})
}

func (p *player) result(ctx context.Context, o *op) error {
	return p.output(ctx, &p.ops[o.call], o.text)
}

func (p *player) output(ctx context.Context, call *op, text string) error {
	return p.emitTool(ctx, &harness.ToolResult{ToolCallID: p.callID(call), ToolName: call.name, Output: text})
}

func (p *player) outcome(ctx context.Context, o *op) error {
	call := &p.ops[o.call]
	f := p.ending(call, o.name)
	f.ElapsedMS = o.wait.Milliseconds()
	switch {
	case !o.given:
	case o.name == harness.OutcomeOK:
		if f.Result = json.RawMessage(o.text); !json.Valid(f.Result) {
			quoted, err := json.Marshal(o.text)
			if err != nil {
				return fmt.Errorf("outcome of %s: %w", f.ToolCallID, err)
			}
			f.Result = quoted
		}
	case o.name == harness.OutcomeDenied:
		f.Reason = o.text
	case o.name == harness.OutcomeArtifact:
		f.ArtifactID = o.text
	default:
		f.Error = o.text
	}
	return p.emitTool(ctx, f)
}

func (p *player) ending(call *op, status string) *harness.ToolOutcome {
	return &harness.ToolOutcome{
		ToolCallID: p.callID(call), ToolName: call.name, OutcomeType: harness.OutcomeType(status), Status: status,
	}
}

func (p *player) wholeCall(ctx context.Context, o *op) error {
	if err := p.tool(ctx, o); err != nil {
		return err
	}
	return p.succeed(ctx, o)
}

// succeed gives the result of a call written on its own line, and closes it.
func (p *player) succeed(ctx context.Context, o *op) error {
	if err := p.output(ctx, o, o.text); err != nil {
		return err
	}
	return p.emitTool(ctx, p.ending(o, harness.OutcomeOK))
}

func (p *player) ask(ctx context.Context, o *op) error {
	d, err := p.mayRun(ctx, o)
	switch {
	case err != nil:
		return err
	case d.Verdict != harness.Allow:
		if !o.given {
			p.at.pc = o.jump
		}
		f := p.ending(o, harness.OutcomeDenied)
		f.Reason = d.Reason
		return p.emitTool(ctx, f)
	case o.given:
		return p.succeed(ctx, o)
	default: // the block follows
		return nil
	}
}

// mayRun opens a call and asks about it. A call that was closed when an earlier
// attempt was interrupted cannot be asked about any more: it is opened again
// under another id, the first that is free or still waits for an answer.
func (p *player) mayRun(ctx context.Context, o *op) (harness.Decision, error) {
	for try := 1; ; try++ {
		if err := p.tool(ctx, o); err != nil {
			return harness.Decision{}, err
		}
		if !p.can.Approve {
			return harness.Decision{Verdict: harness.Allow}, nil
		}
		use := harness.ToolUse{
			Call: p.callID(o), Tool: o.name, Access: cmp.Or(o.access, harness.AccessExecute),
			Input: bytes.Clone(o.json), Description: o.about, Reason: o.reason,
		}
		d, err := p.host.Ask(ctx, use)
		if err == nil {
			return d, nil
		}
		if !errors.Is(err, harness.ErrInvalid) || try >= p.turn.Attempt {
			return d, fmt.Errorf("ask about %s: %w", use.Call, err)
		}
		p.reopened[p.place(o)] = try
	}
}
