package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"harness"
	"harness/protocol/runner"
)

// words is what people say to the turn, on its way to the runner. The log has
// it under the ids of its messages; these are the keys.
type words struct {
	stop  context.CancelFunc // of the listener
	done  sync.WaitGroup
	rung  bool // something was said
	read  harness.Seq
	said  []runner.Words  // in the order of the log
	heard map[string]bool // by the runner
	known bool            // heard says all of it, also of attempts before this one
	last  harness.Config  // that the runner has
}

// configEvery is how often the configuration is looked at: nobody rings when it
// changes.
const configEvery = 500 * time.Millisecond

// listen passes on what people say and configure, until unlisten.
func (f *follower) listen() {
	w := &f.words
	if w.heard == nil {
		w.heard, w.known = f.engine.recall(f.turn)
		w.read, w.last, w.rung = f.turn.Began, f.turn.Config, f.turn.Attached
	}
	ctx, stop := context.WithCancel(f.wire)
	w.stop = stop
	if !f.ours {
		return
	}
	w.done.Go(func() {
		var bell <-chan []harness.Part
		if f.engine.Abilities().Steer {
			bell = f.host.Steering()
		}
		if f.turn.Attached {
			_ = f.at.client.Configure(ctx, f.order.run, f.host.Config()) // it may have changed meanwhile
			_ = f.pass(f.wire)                                           // late tries again
		}
		look := time.NewTicker(configEvery)
		defer look.Stop()
		for {
			select {
			case <-bell:
				w.rung = true
				_ = f.pass(f.wire) // not ctx: what is under way must have arrived before late asks
			case <-look.C:
				if c := f.host.Config(); c != w.last && f.at.client.Configure(ctx, f.order.run, c) == nil {
					w.last = c
				}
			case <-ctx.Done():
				return
			case <-f.turned.Done():
				return
			}
		}
	})
}

// unlisten returns when nothing is passed on any more.
func (f *follower) unlisten() {
	f.words.stop()
	f.words.done.Wait()
}

// late sees to words that the run had no time to hear: it may go on with them.
// If not, err is how it ended.
func (f *follower) late(last *runner.Frame) (again bool, err error) {
	err = f.end(last)
	if err != nil || !f.ours || f.turned.Err() != nil {
		return false, err
	}
	f.unlisten()
	if !f.words.rung {
		return false, nil
	}
	if err := f.pass(f.wire); err != nil {
		return false, err
	}
	st, err := f.at.client.Status(f.wire, f.order.run)
	if err != nil {
		return false, retryable("ask whether the run goes on", err)
	}
	if again = st.State == runner.Running || st.Frame > last.ID; again {
		f.listen()
	}
	return again, nil
}

// pass posts what the runner has not heard, each under its key.
func (f *follower) pass(ctx context.Context) error {
	w := &f.words
	for e, err := range f.host.History(ctx, w.read) {
		if err != nil {
			return fmt.Errorf("read what was said: %w", err)
		}
		w.read = e.Seq
		switch p := e.Payload.(type) {
		case *harness.TurnStart:
			if p.TurnID == f.turn.ID && !w.known { // what was said before was said to another attempt
				w.said = nil
			}
		case *harness.UserMessage:
			if p.Source == harness.FromSteer && e.Turn == f.turn.ID {
				w.said = append(w.said, runner.Words{Key: string(p.ItemID), Parts: p.Parts})
			}
		}
	}
	for _, s := range w.said {
		if w.heard[s.Key] {
			continue
		}
		_, err := f.at.client.Steer(ctx, f.order.run, s)
		if err != nil && !runner.Refused(err, http.StatusNotImplemented, http.StatusBadRequest, http.StatusTooManyRequests) {
			return fmt.Errorf("pass on what was said: %w", err)
		}
		w.heard[s.Key] = true // or it never will be
	}
	return nil
}

// recall is what earlier attempts at a turn have heard, if this process knows.
func (e *Engine) recall(t harness.Turn) (heard map[string]bool, known bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	heard, known = e.heard[t.ID]
	if heard == nil {
		heard = map[string]bool{}
	}
	return maps.Clone(heard), known || t.Attempt == 1
}

// remember keeps what was heard for the next attempt, if there may be one.
func (f *follower) remember(err error) {
	e := f.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if !errors.Is(err, harness.ErrRetry) || f.words.heard == nil {
		delete(e.heard, f.turn.ID)
		return
	}
	maps.DeleteFunc(f.words.heard, func(key string, _ bool) bool { return slices.Contains(f.unread, key) })
	e.heard[f.turn.ID] = f.words.heard
}
