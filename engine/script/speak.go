package script

import (
	"context"
	"strings"
	"time"

	"harness"
)

func (p *player) say(ctx context.Context, o *op) error { return p.token(ctx, o.text) }

func (p *player) token(ctx context.Context, text string) error {
	p.said.WriteString(text)
	return p.host.Emit(ctx, &harness.Token{Text: text})
}

func (p *player) typeText(ctx context.Context, o *op) error { return p.words(ctx, o.text, o.wait) }

func (p *player) echo(ctx context.Context, o *op) error {
	return p.words(ctx, harness.PlainText(p.turn.Parts), o.wait)
}

// words says text word by word.
func (p *player) words(ctx context.Context, text string, pace time.Duration) error {
	first := true
	for w := range strings.SplitAfterSeq(text, " ") {
		if !first {
			if err := pause(ctx, pace); err != nil {
				return err
			}
		}
		first = false
		if err := p.token(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) stream(ctx context.Context, o *op) error {
	for i := range o.n {
		if i > 0 {
			if err := pause(ctx, o.wait); err != nil {
				return err
			}
		}
		if err := p.token(ctx, o.text); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) think(ctx context.Context, o *op) error {
	if !p.can.Thinks {
		return nil
	}
	return p.host.Emit(ctx, &harness.Thinking{Text: o.text})
}

func (p *player) reflect(ctx context.Context, o *op) error {
	if !p.can.Thinks {
		return nil
	}
	return p.host.Emit(ctx, &harness.Reflection{Text: o.text})
}

func (p *player) response(ctx context.Context, o *op) error {
	text := o.text
	if !o.given {
		if p.heard {
			return nil
		}
		text = p.said.String()
	}
	return p.host.Emit(ctx, &harness.Response{Text: text, StopReason: "end_turn"})
}

func (p *player) steer(ctx context.Context, o *op) error {
	if !p.can.Steer {
		return nil
	}
	select {
	case words := <-p.host.Steering():
		return p.steered(ctx, o, harness.Spoken(words))
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *player) listen(ctx context.Context, o *op) error {
	for p.can.Steer {
		select {
		case words := <-p.host.Steering():
			if err := p.steered(ctx, o, harness.Spoken(words)); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

// steered answers what was said to the turn.
func (p *player) steered(ctx context.Context, o *op, parts []harness.Part) error {
	p.heard = true
	prefix := "steered: "
	if o.given {
		prefix = o.text
	}
	return p.token(ctx, prefix+harness.PlainText(parts))
}

func (p *player) usage(ctx context.Context, o *op) error {
	return p.host.Emit(ctx, &harness.Usage{InputTokens: o.n, OutputTokens: o.m, CostUSD: o.cost})
}

func (p *player) step(ctx context.Context, o *op) error {
	id := "step_" + decimal(o.n)
	return p.host.Emit(ctx, &harness.StepProgress{StepID: id, Index: int(o.n), Total: int(o.m), Title: o.text, Status: o.name})
}

func (p *player) emitAny(ctx context.Context, o *op) error {
	payload, err := o.payload()
	if err != nil {
		return err
	}
	return p.host.Emit(ctx, payload)
}
