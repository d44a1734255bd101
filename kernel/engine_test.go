package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/kernel"
)

// engine runs a function: for what no script can do.
type engine struct{ run func(*attempt) error }

type attempt struct {
	ctx  context.Context
	turn harness.Turn
	host harness.Host
}

func (e *engine) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	return e.run(&attempt{ctx, t, h})
}

// Abilities is everything, so that no log has to say what is missing.
func (*engine) Abilities() harness.Abilities {
	can := harness.Abilities{Tools: true, Steer: true, Resume: true, Thinks: true, Approve: true}
	for _, i := range harness.Inventory() {
		can.Tells = append(can.Tells, i.Type)
	}
	return can
}

func (a *attempt) say(text string) error { return a.host.Emit(a.ctx, &harness.Token{Text: text}) }

// with is a rig whose engine runs f.
func with(t testing.TB, opts *kernel.Options, f func(*attempt) error) *rig {
	t.Helper()
	r := newRig(t, "", nil)
	r.bootWith(r.mem, &engine{f}, opts)
	return r
}

func TestEngineErrorEndsTheTurnAndNotTheSession(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "when bad\nsay half\nfail it broke\nend\nsay fine", nil)
		r.submit("bad")
		if st := r.rest(); st.Status != harness.StatusFailed || st.Error != "it broke" || st.Messages[1].Status != harness.MessageError {
			t.Errorf("status %s, error %q, message %s", st.Status, st.Error, st.Messages[1].Status)
		}
		r.submit("good")
		if st := r.rest(); st.Status != harness.Idle || st.Error != "" {
			t.Errorf("status %s, error %q", st.Status, st.Error)
		}
	})
}

func TestEnginePanicFailsOneTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := with(t, nil, func(a *attempt) error {
			if harness.PlainText(a.turn.Parts) == "panic" {
				panic("oh no")
			}
			return a.say("fine")
		})
		r.submit("panic")
		if st := r.rest(); st.Status != harness.StatusFailed || st.Error != "the engine panicked: oh no" {
			t.Errorf("status %s, error %q", st.Status, st.Error)
		}
		r.submit("go on")
		if st := r.rest(); st.Status != harness.Idle {
			t.Errorf("status %s", st.Status)
		}
	})
}

// No payload of an engine can hurt the session: what cannot be encoded, what
// only the kernel may say and what only looks unknown is refused; what the
// engine changes afterwards is not seen.
func TestEngineCannotHurtTheSession(t *testing.T) {
	bubble(t, func(t *testing.T) {
		nan := new(float64)
		*nan /= *nan
		bad := []harness.Payload{
			nil,
			&harness.ToolCall{ToolCallID: "c", Name: "x", Arguments: []byte(`{"broken`)},
			&harness.ToolOutcome{ToolCallID: "c", Result: []byte(`nope`)},
			&harness.Usage{CostUSD: nan},
			&harness.Unknown{Name: "odd"},
			&harness.Unknown{Name: "odd", Raw: []byte(`{`)},
			&harness.Unknown{Name: "turn_end", Raw: []byte(`{"turn_id":"x","status":"completed"}`)},
			&harness.TurnEnd{Status: "completed"},
			&harness.HookEvent{Kind: harness.HookCancel},
			&harness.SessionState{Status: harness.Paused},
		}
		r := with(t, nil, func(a *attempt) error {
			for _, p := range bad {
				if err := a.host.Emit(a.ctx, p); !errors.Is(err, harness.ErrInvalid) {
					return fmt.Errorf("Emit(%+v): %w", p, err)
				}
			}
			log := &harness.ToolLog{ToolCallID: "c", Text: "\xe2\x82"}
			args := []byte(`{"a":1}`)
			a.host.Emit(a.ctx, &harness.ToolCall{ToolCallID: "c", Name: "x", Arguments: args})
			args[2] = 'b'
			a.host.Emit(a.ctx, log)
			log.Text = "\xac"
			a.host.Emit(a.ctx, log) // half a character each: two, not one
			log.Text = "changed"
			if _, err := a.host.Ask(a.ctx, harness.ToolUse{Call: "c", Tool: "x", Input: []byte(`{`)}); !errors.Is(err, harness.ErrInvalid) {
				return fmt.Errorf("Ask with broken input: %w", err)
			}
			return a.host.Emit(a.ctx, &harness.Unknown{Name: "odd", Raw: []byte(`{"x":1}`)})
		})
		r.submit("go")
		st := r.rest()
		if st.Error != "" {
			t.Fatal(st.Error)
		}
		call := st.Messages[1].Calls[0]
		if got := call.Output.String(); got != "\ufffd\ufffd\ufffd" || string(call.Input) != `{"a":1}` {
			t.Errorf("output %q, input %s", got, call.Input)
		}
		if got, want := string(st.JSON()), string(foldAgain(t, r.log()).JSON()); got != want {
			t.Errorf("a watcher has\n%s\nthe log says\n%s", got, want)
		}
	})
}

// foldAgain folds a log from its bytes.
func foldAgain(t testing.TB, log []harness.Event) *harness.State {
	t.Helper()
	st := new(harness.State)
	for _, e := range log {
		e, err := harness.DecodeEvent(e.JSON())
		if err != nil {
			t.Fatal(err)
		}
		st.Apply(e)
	}
	return st
}

func TestRetriesStopAtTheirNumber(t *testing.T) {
	for _, c := range []struct{ retries, attempts int }{{0, 1}, {1, 2}, {3, 4}} {
		t.Run(fmt.Sprint(c.retries), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				n := 0
				r := with(t, nil, func(a *attempt) error {
					if n++; a.turn.Attempt != n {
						return fmt.Errorf("attempt %d is called %d", n, a.turn.Attempt)
					}
					return fmt.Errorf("busy: %w", harness.ErrRetry)
				})
				r.setRetries(c.retries)
				r.submit("go")
				if st := r.rest(); st.Status != harness.StatusFailed || n != c.attempts {
					t.Errorf("%d retries made %d attempts, want %d; status %s", c.retries, n, c.attempts, st.Status)
				}
			})
		})
	}
}

// setRetries writes what no command sets yet. The session must be asleep.
func (r *rig) setRetries(n int) {
	r.t.Helper()
	st := r.state()
	e := harness.NewEvent(r.id, st.Seq+1, time.Now(), "", &harness.SessionState{MaxRetries: &n})
	st.Apply(e)
	if err := r.mem.Append(r.t.Context(), harness.Commit{Session: r.id, After: e.Seq - 1, Events: []harness.Event{e}, Summary: st.Summary()}); err != nil {
		r.t.Fatal(err)
	}
}

func TestAbandonedEngineCannotKeepItsTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		release := make(chan struct{})
		r := with(t, &kernel.Options{CancelGrace: 3 * time.Second}, func(a *attempt) error {
			if harness.PlainText(a.turn.Parts) == "deaf" {
				<-release
				a.host.Emit(context.Background(), &harness.Token{Text: "too late"})
				return nil
			}
			return a.say("fine")
		})
		r.submit("deaf")
		synctest.Wait()
		began := time.Now()
		r.do(harness.Cancel{})
		r.submit("next")
		st := r.rest()
		if d := time.Since(began); d != 3*time.Second {
			t.Errorf("the turn ended after %s", d)
		}
		close(release)
		synctest.Wait()
		if got := r.conversation(st); got != "user:deaf(complete) assistant:(error) user:next(complete) assistant:fine(complete)" {
			t.Errorf("conversation %s", got)
		}
		r.tells(`session_state idle
			user_message submit deaf
			turn_start 1
			hook_event cancel_requested
			user_message submit next
			turn_end cancelled abandoned
			turn_start 1
			token fine
			response fine
			turn_end completed`)
	})
}

func TestMissingEngineFailsTheTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "", nil)
		r.id = r.create(harness.NewSession{Engine: "none"})
		r.submit("go")
		if st := r.rest(); st.Status != harness.StatusFailed {
			t.Errorf("status %s", st.Status)
		}
	})
}
