package native

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"harness"
	"harness/model"
	"harness/tool"
)

// turn is one attempt at a turn. Its fields belong to Run's goroutine; calls
// that run at once only read them.
type turn struct {
	e   *Engine
	t   harness.Turn
	h   harness.Host
	s   *session
	log *slog.Logger

	conv   *conversation
	env    *tool.Env // nil without a workspace
	tools  toolset
	system string
	gauge  gauge
	clock  *budget
	shown  strings.Builder // the text of this attempt

	planned atomic.Bool // it has a plan

	lengthened, paused, stopped int // how often the model was asked to go on
}

// Bounds of what a turn does by itself to get an answer to its end.
const (
	maxLengthened = 3 // answers that reached the limit of their length
	maxPaused     = 8 // answers that the server wanted back
	maxStopped    = 3 // ends that a hook refused
)

// run does the turn and closes its books.
func (r *turn) run(ctx context.Context) (err error) {
	if r.s, err = r.e.enter(r.t.Session); err != nil {
		return err
	}
	defer r.e.leave(r.t.Session, r.s)
	err = r.work(ctx)
	if closed := r.conclude(ctx, err); err == nil {
		err = closed
	}
	return err
}

// work is the turn itself, up to its result, or until its time is over.
func (r *turn) work(ctx context.Context) error {
	if err := r.load(ctx); err != nil {
		return err
	}
	began := r.conv.turn.began.Add(r.conv.turn.waited)
	r.clock = newBudget(began, r.e.opts.Limits.Turn)
	ctx, stop := r.clock.start(ctx)
	defer stop()
	return r.clock.explain(ctx, r.answer(ctx))
}

// answer gets the turn's result, unless a crash came right after it.
func (r *turn) answer(ctx context.Context) error {
	if r.conv.turn.done {
		return nil
	}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	if strings.TrimSpace(harness.PlainText(r.t.Parts)) == commandCompact {
		return r.compactNow(ctx)
	}
	return r.loop(ctx)
}

// prepare opens what the turn works with and says what it offers.
func (r *turn) prepare(ctx context.Context) (err error) {
	if r.env, err = r.s.workspace(ctx, r); err != nil {
		return err
	}
	if r.env != nil { // each turn's events say where its processes ran
		if err := r.emit(ctx, r.e.notice(r.env.Workspace)); err != nil {
			return err
		}
	}
	if err := r.begin(ctx); err != nil {
		return err
	}
	project := r.project()
	if err := r.choose(ctx, project); err != nil {
		return err
	}
	r.system = r.prompt(project)
	if err := r.assume(ctx); err != nil {
		return err
	}
	r.weigh()
	if err := r.beginTask(ctx); err != nil {
		return err
	}
	return r.recall(ctx)
}

// loop asks the model and runs its calls until it has no more to say.
func (r *turn) loop(ctx context.Context) error {
	if open := r.conv.pending(); len(open) > 0 { // they waited for an answer while nobody ran
		if err := r.carryOut(ctx, open); err != nil {
			return err
		}
	}
	if last := r.conv.last(); r.t.Attempt > 1 && last != nil && len(last.text) > 0 && len(last.calls) == 0 {
		if err := r.tell(ctx, "cut_off", toldCut); err != nil {
			return err
		}
	}
	for {
		if err := r.listen(ctx); err != nil {
			return err
		}
		if err := r.allowed(); err != nil {
			return err
		}
		a, err := r.ask(ctx)
		if err != nil {
			return err
		}
		calls, err := r.announce(ctx, a)
		if err != nil {
			return err
		}
		if len(calls) > 0 {
			if err := r.carryOut(ctx, calls); err != nil {
				return err
			}
			continue
		}
		again, err := r.goOn(ctx, a)
		if err != nil {
			return err
		}
		if !again {
			return r.finish(ctx, a)
		}
	}
}

// emit adds a fact to the log and to the conversation.
func (r *turn) emit(ctx context.Context, p harness.Payload) error {
	if err := r.h.Emit(ctx, p); err != nil {
		return err
	}
	r.conv.apply(harness.Event{Session: r.t.Session, Turn: r.t.ID, Time: time.Now(), Payload: p})
	return nil
}

// tell says something to the model that the log has as ours.
func (r *turn) tell(ctx context.Context, why, text string) error {
	return r.emit(ctx, &harness.HookEvent{Kind: hookTold, Status: why, Reason: text})
}

// listen takes what people have said to the turn, without waiting.
func (r *turn) listen(ctx context.Context) error {
	for heard := false; ; heard = true {
		select {
		case words := <-r.h.Steering():
			for _, w := range words {
				r.conv.apply(harness.Event{Payload: &harness.UserMessage{ItemID: w.Item, Source: harness.FromSteer, Parts: w.Parts}})
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		default:
			if !heard {
				return nil
			}
			return r.emit(ctx, &harness.HookEvent{Kind: hookSteered, Status: "applied"})
		}
	}
}

// allowed says whether the model may be asked once more.
func (r *turn) allowed() error {
	limit := r.h.Config().MaxTurns
	if limit == 0 {
		limit = r.e.opts.Limits.Rounds
	}
	if limit > 0 && r.conv.turn.answers >= limit {
		return fmt.Errorf("the turn has had its %d answers of the model and was not done", limit)
	}
	return nil
}

// goOn says whether the model is to be asked again after an answer without
// calls, and tells it why.
func (r *turn) goOn(ctx context.Context, a *model.Answer) (again bool, err error) {
	switch {
	case a.Stop == model.StopPause && r.paused < maxPaused:
		r.paused++
		return true, nil
	case a.Stop == model.StopMaxTokens && r.lengthened < maxLengthened:
		r.lengthened++
		return true, r.tell(ctx, "max_tokens", toldLength)
	}
	before := len(r.conv.rounds)
	if err := r.listen(ctx); err != nil {
		return false, err
	}
	if len(r.conv.rounds) > before {
		return true, nil
	}
	if r.stopped >= maxStopped {
		return false, nil
	}
	why, err := r.mayStop(ctx)
	if err != nil || why == "" {
		return false, err
	}
	r.stopped++
	return true, r.tell(ctx, string(HookStop), why)
}

// finish says what came of the turn.
func (r *turn) finish(ctx context.Context, a *model.Answer) error {
	if err := r.endTask(ctx); err != nil {
		return err
	}
	if r.shown.Len() > 0 {
		if err := r.h.Emit(ctx, &harness.Response{Text: r.shown.String(), StopReason: string(a.Stop)}); err != nil {
			return err
		}
	}
	return r.emit(ctx, &harness.Completed{Result: a.Text()})
}

// checkpoint makes everything so far durable, and says from where the log must
// be read to go on.
func (r *turn) checkpoint(ctx context.Context) error {
	return r.h.Checkpoint(ctx, refPrefix+strconv.FormatUint(uint64(r.conv.start()), 10))
}

// refPrefix begins our checkpoints: a session may have had another engine.
const refPrefix = "native:"
