package talk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"harness"
	"harness/engine/internal/program"
)

// Talk is a conversation. The exported fields are set before it is used.
type Talk struct {
	Host    harness.Host
	Process *program.Process
	Ear     *program.Listener // of the process
	Version string            // of JSON-RPC, if messages say so
	Silence time.Duration     // that is too long
	Warm    bool              // the process is one that was kept

	Request func(context.Context, *Message) error // the program wants something
	Notice  func(context.Context, *Message) error // the program tells something
	Steer   func([]harness.Part) error            // people say something; nil if nobody is heard now
	Slow    func(context.Context) error           // an answer takes its time

	heard   bool
	pending map[string]func(*Message) error // what waits for a response, by its id
	owed    map[string]*Message             // requests that wait for an answer, by the program's id
	asks    map[string]*question            // those about which the session is asked
	work    sync.WaitGroup
	ctx     context.Context // of the work
	cancel  context.CancelFunc
	back    chan func(context.Context) error // what came of it
	busy    int                              // how much work there is; asks included
}

// ErrStale says that a process that was kept ended before it took anything up.
var ErrStale = errors.New("the process had ended")

// Open begins the conversation. Close must follow.
func (t *Talk) Open(ctx context.Context) {
	t.pending, t.owed, t.asks = make(map[string]func(*Message) error), make(map[string]*Message), make(map[string]*question)
	t.back = make(chan func(context.Context) error)
	t.ctx, t.cancel = context.WithCancel(ctx)
}

// Close ends all work and waits for it.
func (t *Talk) Close() {
	t.cancel()
	t.work.Wait()
	t.Process.Listen(nil)
}

// Hear listens until over, and returns why that did not come: the context's
// cause, a callback's error, or the end of the program.
func (t *Talk) Hear(ctx context.Context, over func() bool) error {
	var steering <-chan []harness.Word
	if t.Steer != nil {
		steering = t.Host.Steering()
	}
	silence := time.NewTimer(t.Silence)
	defer silence.Stop()
	for !over() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var err error
		select {
		case <-ctx.Done():
		case l := <-t.Ear.Lines:
			err = t.line(ctx, l)
			silence.Reset(t.Silence)
		case words := <-steering:
			err = t.Steer(harness.Spoken(words))
		case then := <-t.back:
			err = then(ctx)
			silence.Reset(t.Silence)
		case <-t.Process.Dead:
			return t.failed(nil)
		case <-silence.C:
			select {
			case l := <-t.Ear.Lines: // it is the session that was slow
				err = t.line(ctx, l)
			default:
				if t.busy == 0 {
					return fmt.Errorf("the program has said nothing for %s: %w", t.Silence, harness.ErrRetry)
				}
			}
			silence.Reset(t.Silence)
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

func (t *Talk) line(ctx context.Context, l program.Line) error {
	if l.Err != nil {
		return l.Err
	}
	m, err := Decode(l.Bytes)
	if err != nil {
		return err
	}
	t.heard = true
	switch {
	case m.Method == "":
		then := t.pending[string(m.ID)]
		if then == nil {
			return nil // one that nobody waits for any more
		}
		delete(t.pending, string(m.ID))
		return then(m)
	case len(m.ID) > 0:
		t.owed[string(m.ID)] = m
		return t.Request(ctx, m)
	}
	return t.Notice(ctx, m)
}

// Send asks the program for something. then hears the response.
func (t *Talk) Send(method string, params any, then func(*Message) error) error {
	t.Process.Serial++
	id := json.RawMessage(strconv.Itoa(t.Process.Serial))
	t.pending[string(id)] = then
	return t.tell(&Message{ID: id, Method: method}, params, nil)
}

// Call asks the program for something and hears what comes until it answers.
// result may be nil. A refusal is an [*Error].
func (t *Talk) Call(ctx context.Context, method string, params, result any) error {
	var got *Message
	if err := t.Send(method, params, func(m *Message) error { got = m; return nil }); err != nil {
		return err
	}
	if err := t.Hear(ctx, func() bool { return got != nil }); err != nil {
		return err
	}
	if got.Error != nil {
		return fmt.Errorf("%s: %w", method, got.Error)
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(got.Result, result); err != nil {
		return fmt.Errorf("%s: an answer that cannot be read: %w", method, err)
	}
	return nil
}

// Notify tells the program something.
func (t *Talk) Notify(method string, params any) error {
	return t.tell(&Message{Method: method}, params, nil)
}

// Reply answers a request of the program.
func (t *Talk) Reply(id json.RawMessage, result any) error {
	delete(t.owed, string(id))
	return t.tell(&Message{ID: id}, nil, result)
}

// Refuse answers a request of the program with an error.
func (t *Talk) Refuse(id json.RawMessage, code int, why string) error {
	delete(t.owed, string(id))
	return t.tell(&Message{ID: id, Error: &Error{Code: code, Message: why}}, nil, nil)
}

func (t *Talk) tell(m *Message, params, result any) (err error) {
	m.Version = t.Version
	if params != nil {
		if m.Params, err = json.Marshal(params); err != nil {
			return err
		}
	}
	if result != nil {
		if m.Result, err = json.Marshal(result); err != nil {
			return err
		}
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := t.Process.Tell(b); err != nil {
		return t.failed(err)
	}
	return nil
}

// failed is why a process cannot be talked to. If it is ending, its end is the
// better reason.
func (t *Talk) failed(err error) error {
	if err != nil {
		timer := time.NewTimer(program.Farewell)
		defer timer.Stop()
	drain:
		for {
			select {
			case <-t.Ear.Lines: // it goes on printing
			case <-t.Process.Dead:
				break drain
			case <-timer.C:
				return fmt.Errorf("%w: %w", err, harness.ErrRetry)
			}
		}
	}
	if t.Warm && !t.heard {
		return ErrStale
	}
	return fmt.Errorf("%s before the turn was over: %w", t.Process.Fate(), harness.ErrRetry)
}

// Settle hears a program that was told to stop, for a while, and reports
// whether over said so. over answers what it asks for.
func (t *Talk) Settle(patience time.Duration, over func(*Message) bool) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case l := <-t.Ear.Lines:
			m, err := Decode(l.Bytes)
			if l.Err != nil || err != nil {
				return false
			}
			if over(m) {
				return true
			}
		case <-t.Process.Dead:
			return false
		case <-timer.C:
			return false
		}
	}
}

// Emit adds facts to the session's log.
func (t *Talk) Emit(ctx context.Context, facts ...harness.Payload) error {
	for _, p := range facts {
		if err := t.Host.Emit(ctx, p); err != nil {
			return err
		}
	}
	return nil
}
