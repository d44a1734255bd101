package script

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"harness"
)

// player plays one attempt at a turn.
type player struct {
	engine *Engine
	host   harness.Host
	turn   harness.Turn
	can    harness.Abilities

	ops      []op
	at       position               // at.pc is the op that comes next
	saved    string                 // the last position recorded
	reopened map[harness.CallID]int // how often a call was opened again, under another id
	said     strings.Builder
	heard    bool // something was said to the turn, so its text is in several messages
}

func (p *player) start(ctx context.Context) error {
	t := p.turn
	if !p.can.Resume {
		t.Ref = ""
	}
	at, lost := p.engine.script.locate(t)
	p.at, p.ops = at, p.engine.script.part(at.number).ops
	if lost != nil {
		d := &harness.TransportDiagnostic{Status: "degraded", Kind: "resume_lost", Reason: lost.Error()}
		if err := p.host.Emit(ctx, d); err != nil {
			return err
		}
	} else if at.String() == t.Ref {
		p.saved = t.Ref
	}
	if len(p.engine.script.parts) > 1 {
		return p.save(ctx)
	}
	return nil
}

func (p *player) play(ctx context.Context) error {
	for p.at.pc < len(p.ops) {
		if err := ctx.Err(); err != nil {
			return err
		}
		o := &p.ops[p.at.pc]
		play := verbs[o.verb].play
		if play == nil {
			play = closers[o.verb]
		}
		if opens(o.verb) && p.can.Tools {
			if err := p.save(ctx); err != nil {
				return err
			}
		}
		p.at.pc++
		if err := play(p, ctx, o); err != nil {
			return err
		}
	}
	return p.listen(ctx, &op{})
}

// opens reports whether a command opens a call.
func opens(verb string) bool { return verb == "call" || verb == "tool" || verb == "ask" }

// save records the position, unless it is the one recorded last.
func (p *player) save(ctx context.Context) error {
	ref := p.at.String()
	if !p.can.Resume || ref == p.saved {
		return nil
	}
	if err := p.host.Checkpoint(ctx, ref); err != nil {
		return fmt.Errorf("checkpoint %s: %w", ref, err)
	}
	p.saved = ref
	return nil
}

func (p *player) checkpoint(ctx context.Context, _ *op) error { return p.save(ctx) }

func (p *player) nothing(context.Context, *op) error { return nil }

// pause waits.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *player) wait(ctx context.Context, o *op) error { return pause(ctx, o.wait) }

func (p *player) gate(ctx context.Context, o *op) error {
	select {
	case <-p.engine.gate(o.name):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *player) hang(ctx context.Context, _ *op) error {
	<-ctx.Done()
	return ctx.Err()
}

func (p *player) fail(_ context.Context, o *op) error { return fmt.Errorf("%s", o.text) }

func (p *player) retry(ctx context.Context, o *op) error {
	if err := p.save(ctx); err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", o.text, harness.ErrRetry)
}

func (p *player) repeat(_ context.Context, o *op) error {
	if o.n == 0 {
		p.at.pc = o.jump
		return nil
	}
	p.at.loops = append(p.at.loops, 0)
	return nil
}

func (p *player) end(_ context.Context, o *op) error {
	if o.jump < 0 {
		return nil
	}
	top := len(p.at.loops) - 1
	p.at.loops[top]++
	if p.at.loops[top] < p.ops[o.jump].n {
		p.at.pc = o.jump + 1
	} else {
		p.at.loops = p.at.loops[:top]
	}
	return nil
}

func (p *player) when(_ context.Context, o *op) error {
	words := strings.FieldsFunc(harness.PlainText(p.turn.Parts), notOfWord)
	if !slices.ContainsFunc(words, func(w string) bool {
		return slices.ContainsFunc(o.words, func(v string) bool { return strings.EqualFold(w, v) })
	}) {
		p.at.pc = o.jump
	}
	return nil
}

// orElse is reached from above only by a branch that was played.
func (p *player) orElse(_ context.Context, o *op) error {
	p.at.pc = o.jump
	return nil
}
