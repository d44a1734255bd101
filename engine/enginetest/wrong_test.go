package enginetest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"harness"
)

// wrong is an engine that breaks one promise.
type wrong struct {
	name   string // completes "the engine …"
	breaks string
	engine func(testing.TB, harness.Engine) harness.Engine
}

// bent is an engine with another Run, and other abilities.
type bent struct {
	harness.Engine
	run       func(ctx context.Context, t harness.Turn, h harness.Host) error
	abilities func(*harness.Abilities)
}

func (b bent) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	if b.run == nil {
		return b.Engine.Run(ctx, t, h)
	}
	return b.run(ctx, t, h)
}

func (b bent) Abilities() harness.Abilities {
	a := b.Engine.Abilities()
	if b.abilities != nil {
		b.abilities(&a)
	}
	return a
}

// crooked is a host through which an engine does something else than it meant.
type crooked struct {
	harness.Host
	emit     func(ctx context.Context, p harness.Payload) error
	ask      func(ctx context.Context, u harness.ToolUse) (harness.Decision, error)
	steering func() <-chan []harness.Word
}

func (c crooked) Emit(ctx context.Context, p harness.Payload) error {
	if c.emit == nil {
		return c.Host.Emit(ctx, p)
	}
	return c.emit(ctx, p)
}

func (c crooked) Ask(ctx context.Context, u harness.ToolUse) (harness.Decision, error) {
	if c.ask == nil {
		return c.Host.Ask(ctx, u)
	}
	return c.ask(ctx, u)
}

func (c crooked) Steering() <-chan []harness.Word {
	if c.steering == nil {
		return c.Host.Steering()
	}
	return c.steering()
}

// prompted is the prompt of a turn.
func prompted(t harness.Turn) string { return harness.PlainText(t.Parts) }

type runFunc = func(context.Context, harness.Turn, harness.Host) error

// bend makes an engine with another Run.
func bend(f func(tb testing.TB, run runFunc) runFunc) func(testing.TB, harness.Engine) harness.Engine {
	return func(tb testing.TB, e harness.Engine) harness.Engine { return bent{Engine: e, run: f(tb, e.Run)} }
}

// through makes an engine whose host is crooked.
func through(f func(h harness.Host, t harness.Turn) crooked) func(testing.TB, harness.Engine) harness.Engine {
	return bend(func(_ testing.TB, run runFunc) runFunc {
		return func(ctx context.Context, t harness.Turn, h harness.Host) error { return run(ctx, t, f(h, t)) }
	})
}

// claiming makes an engine with other abilities.
func claiming(f func(*harness.Abilities)) func(testing.TB, harness.Engine) harness.Engine {
	return func(_ testing.TB, e harness.Engine) harness.Engine { return bent{Engine: e, abilities: f} }
}

var wrongs = []wrong{
	{"says nothing", "ReturnsNilWhenTheTurnCompletes", through(func(h harness.Host, t harness.Turn) crooked {
		return crooked{Host: h, emit: func(ctx context.Context, p harness.Payload) error {
			if _, ok := p.(*harness.Token); ok && prompted(t) == "say" {
				p = &harness.Token{}
			}
			return h.Emit(ctx, p)
		}}
	})},
	{"fails silently", "ReturnsAnErrorWhenTheTurnFails", bend(func(_ testing.TB, run runFunc) runFunc {
		return func(ctx context.Context, t harness.Turn, h harness.Host) error {
			if err := run(ctx, t, h); ctx.Err() != nil {
				return err
			}
			return nil
		}
	})},
	{"forgets that a failure is temporary", "ReturnsAnErrorWhenTheTurnFails", bend(func(_ testing.TB, run runFunc) runFunc {
		return func(ctx context.Context, t harness.Turn, h harness.Host) error {
			err := run(ctx, t, h)
			if errors.Is(err, harness.ErrRetry) {
				return errors.New(err.Error())
			}
			return err
		}
	})},
	{"is deaf to cancel", "StopsWithTheCauseAtAnyStep", bend(func(tb testing.TB, run runFunc) runFunc {
		released := make(chan struct{})
		tb.Cleanup(func() { close(released) })
		return func(ctx context.Context, t harness.Turn, h harness.Host) error {
			err := run(ctx, t, h)
			if prompted(t) == "long" {
				<-released
			}
			return err
		}
	})},
	{"calls a cancel a failure", "StopsWithTheCauseAtAnyStep", bend(func(_ testing.TB, run runFunc) runFunc {
		return func(ctx context.Context, t harness.Turn, h harness.Host) error {
			err := run(ctx, t, h)
			if ctx.Err() != nil {
				return errors.New("stopped")
			}
			return err
		}
	})},
	{"calls a cancelled turn complete", "StopsWithTheCauseAtAnyStep", bend(func(_ testing.TB, run runFunc) runFunc {
		return func(ctx context.Context, t harness.Turn, h harness.Host) error {
			err := run(ctx, t, h)
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	})},
	{"leaves a goroutine behind", "LeavesNothingRunning", bend(func(tb testing.TB, run runFunc) runFunc {
		released := make(chan struct{})
		tb.Cleanup(func() { close(released) })
		return func(ctx context.Context, t harness.Turn, h harness.Host) error {
			go func() { <-released }()
			return run(ctx, t, h)
		}
	})},
	{"forgets outcomes", "EveryCallHasExactlyOneOutcome", through(func(h harness.Host, t harness.Turn) crooked {
		return crooked{Host: h, emit: func(ctx context.Context, p harness.Payload) error {
			if _, ok := p.(*harness.ToolOutcome); ok && prompted(t) == "tool" {
				return nil
			}
			return h.Emit(ctx, p)
		}}
	})},
	{"gives two outcomes", "EveryCallHasExactlyOneOutcome", through(func(h harness.Host, t harness.Turn) crooked {
		return crooked{Host: h, emit: func(ctx context.Context, p harness.Payload) error {
			if _, ok := p.(*harness.ToolOutcome); ok && prompted(t) == "tool" {
				if err := h.Emit(ctx, p); err != nil {
					return err
				}
			}
			return h.Emit(ctx, p)
		}}
	})},
	{"runs before it may", "NothingRunsUnlessAskSaidYes", through(func(h harness.Host, _ harness.Turn) crooked {
		return crooked{Host: h, ask: func(ctx context.Context, u harness.ToolUse) (harness.Decision, error) {
			if err := h.Emit(ctx, &harness.ToolLog{ToolCallID: u.Call, Text: "running"}); err != nil {
				return harness.Decision{}, err
			}
			return h.Ask(ctx, u)
		}}
	})},
	{"runs although it may not", "NothingRunsUnlessAskSaidYes", through(func(h harness.Host, _ harness.Turn) crooked {
		return crooked{Host: h, ask: func(ctx context.Context, u harness.ToolUse) (harness.Decision, error) {
			d, err := h.Ask(ctx, u)
			d.Verdict = harness.Allow
			return d, err
		}}
	})},
	{"is impatient with its session", "ABlockedEmitOnlyDelays", through(func(h harness.Host, _ harness.Turn) crooked {
		return crooked{Host: h, emit: func(ctx context.Context, p harness.Payload) error {
			ctx, cancel := context.WithTimeout(ctx, slowness/2)
			defer cancel()
			return h.Emit(ctx, p)
		}}
	})},
	{"claims to think", "ReportsWhatItsAbilitiesSay", through(func(h harness.Host, _ harness.Turn) crooked {
		return crooked{Host: h, emit: func(ctx context.Context, p harness.Payload) error {
			if _, ok := p.(*harness.Thinking); ok {
				return nil
			}
			return h.Emit(ctx, p)
		}}
	})},
	{"thinks in secret", "ReportsWhatItsAbilitiesSay", claiming(func(a *harness.Abilities) { a.Thinks = false })},
	{"claims to ask", "ReportsWhatItsAbilitiesSay", through(func(h harness.Host, _ harness.Turn) crooked {
		return crooked{Host: h, ask: func(context.Context, harness.ToolUse) (harness.Decision, error) {
			return harness.Decision{Verdict: harness.Allow}, nil
		}}
	})},
	{"starts again from the beginning", "ResumeContinuesFromTheLastCheckpoint", bend(func(_ testing.TB, run runFunc) runFunc {
		return func(ctx context.Context, t harness.Turn, h harness.Host) error {
			t.Ref = ""
			return run(ctx, t, h)
		}
	})},
	{"takes the turn for done", "ResumeContinuesFromTheLastCheckpoint", bend(func(_ testing.TB, run runFunc) runFunc {
		return func(ctx context.Context, t harness.Turn, h harness.Host) error {
			if t.Attempt > 1 {
				return nil
			}
			return run(ctx, t, h)
		}
	})},
	{"does not listen", "SteeringIsConsumedOrRefused", through(func(h harness.Host, _ harness.Turn) crooked {
		return crooked{Host: h, steering: func() <-chan []harness.Word { return nil }}
	})},
	{"listens in secret", "SteeringIsConsumedOrRefused", func(tb testing.TB, e harness.Engine) harness.Engine {
		listening := bend(func(_ testing.TB, run runFunc) runFunc {
			return func(ctx context.Context, t harness.Turn, h harness.Host) error {
				wait := time.NewTimer(time.Millisecond)
				defer wait.Stop()
				select {
				case <-h.Steering():
				case <-wait.C:
				}
				return run(ctx, t, h)
			}
		})(tb, e)
		return bent{Engine: listening, abilities: func(a *harness.Abilities) { a.Steer = false }}
	}},
	{"runs one turn at a time", "RunsManyTurnsAtOnce", bend(func(_ testing.TB, run runFunc) runFunc {
		var busy atomic.Bool
		return func(ctx context.Context, t harness.Turn, h harness.Host) error {
			if !busy.CompareAndSwap(false, true) {
				return harness.ErrBusy
			}
			defer busy.Store(false)
			wait := time.NewTimer(time.Millisecond)
			defer wait.Stop()
			<-wait.C
			return run(ctx, t, h)
		}
	})},
}
