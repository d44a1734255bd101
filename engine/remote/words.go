package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"harness"
	"harness/protocol/runner"
)

// words is what people say to the turn, on its way to the runner. The ids of
// their messages in the log are the keys: said again, they change nothing.
type words struct {
	stop context.CancelFunc // of the listener
	done sync.WaitGroup
	said []runner.Words // and not passed on yet
	told []runner.Words // that the runner has
	last harness.Config // that the runner has
}

// configEvery is how often the configuration is looked at: nobody rings when it
// changes.
const configEvery = 500 * time.Millisecond

// catchUp finds what was said before this process listened.
func (f *follower) catchUp(ctx context.Context) (err error) {
	f.words.last = f.turn.Config
	f.words.said = f.engine.recall(f.turn.ID)
	if f.turn.Attached > 0 {
		f.words.said, err = f.before(ctx)
	}
	return err
}

// before is what the log has of words to the run that outlived the server; later
// ones come by themselves.
func (f *follower) before(ctx context.Context) (said []runner.Words, err error) {
	for e, err := range f.host.History(ctx, f.turn.Began) {
		switch {
		case err != nil:
			return nil, fmt.Errorf("read what was said: %w", err)
		case e.Seq > f.turn.Attached:
			return said, nil
		}
		switch p := e.Payload.(type) {
		case *harness.TurnStart: // what was said before was said to another attempt
			said = nil
		case *harness.UserMessage:
			if p.Source == harness.FromSteer && e.Turn == f.turn.ID {
				said = append(said, runner.Words{Key: string(p.ItemID), Parts: p.Parts})
			}
		}
	}
	return said, nil
}

// listen passes on what people say and configure, until unlisten.
func (f *follower) listen() {
	ctx, stop := context.WithCancel(f.wire)
	f.words.stop = stop
	if f.ours {
		f.words.done.Go(func() { f.relay(ctx) })
	}
}

// relay passes on what comes.
func (f *follower) relay(ctx context.Context) {
	w := &f.words
	if f.turn.Attached > 0 {
		_ = f.at.client.Configure(ctx, f.order.run, f.host.Config()) // it may have changed meanwhile
	}
	look := time.NewTicker(configEvery)
	defer look.Stop()
	for {
		_ = f.pass() // late tries again
		select {
		case said := <-f.bell():
			f.hear(said)
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
}

// unlisten returns when nothing is passed on any more.
func (f *follower) unlisten() {
	f.words.stop()
	f.words.done.Wait()
}

// bell yields what people say, if the agent can be told.
func (f *follower) bell() <-chan []harness.Word {
	if f.engine.Abilities().Steer {
		return f.host.Steering()
	}
	return nil
}

func (f *follower) hear(said []harness.Word) {
	for _, w := range said {
		f.words.said = append(f.words.said, runner.Words{Key: string(w.Item), Parts: w.Parts})
	}
}

// late sees to words that the run had no time to hear: it may go on with them.
// If not, err is how it ended.
func (f *follower) late(last *runner.Frame) (again bool, err error) {
	err = f.end(last)
	if err != nil || !f.ours || f.turned.Err() != nil {
		return false, err
	}
	f.unlisten()
	select {
	case said := <-f.bell():
		f.hear(said)
	default:
	}
	if len(f.words.said)+len(f.words.told) == 0 {
		return false, nil
	}
	if err := f.pass(); err != nil {
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

// pass posts what the runner has not been told. What is under way when the
// listener is stopped must have arrived before late asks.
func (f *follower) pass() error {
	for w := &f.words; len(w.said) > 0; w.said = w.said[1:] {
		_, err := f.at.client.Steer(f.wire, f.order.run, w.said[0])
		if err != nil && !runner.Refused(err, http.StatusNotImplemented, http.StatusBadRequest, http.StatusTooManyRequests) {
			return fmt.Errorf("pass on what was said: %w", err)
		}
		w.told = append(w.told, w.said[0]) // or it never will be
	}
	return nil
}

// recall takes what an earlier attempt at a turn did not hear.
func (e *Engine) recall(t harness.TurnID) []runner.Words {
	e.mu.Lock()
	defer e.mu.Unlock()
	owed := e.owed[t]
	delete(e.owed, t)
	return owed
}

// remember keeps what was not heard for the next attempt, if there may be one.
func (f *follower) remember(err error) {
	owed := slices.DeleteFunc(f.words.told, func(w runner.Words) bool { return !slices.Contains(f.unread, w.Key) })
	owed = append(owed, f.words.said...)
	if !errors.Is(err, harness.ErrRetry) || len(owed) == 0 {
		return
	}
	f.engine.mu.Lock()
	defer f.engine.mu.Unlock()
	f.engine.owed[f.turn.ID] = owed
}
