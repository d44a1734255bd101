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

// tape is a run that goes on whoever follows it: its frames come with time.
type tape struct {
	frames []harness.Payload
	began  time.Time
	gone   bool // nothing is left of it
	stops  int  // how often it was told to end
}

const beat = 100 * time.Millisecond

func (t *tape) Abilities() harness.Abilities { return harness.Abilities{Tools: true, Approve: true} }

func (t *tape) Survives(context.Context, harness.Turn) bool { return !t.gone }

// Run follows the tape from its first frame to its end. A question is asked
// whenever it is passed.
func (t *tape) Run(ctx context.Context, turn harness.Turn, h harness.Host) error {
	if turn.Attached == 0 {
		t.began = time.Now()
	}
	defer func() {
		if ctx.Err() != nil && !errors.Is(context.Cause(ctx), harness.ErrShutdown) {
			t.stops++
		}
	}()
	for i, p := range t.frames {
		select {
		case <-time.After(time.Until(t.began.Add(time.Duration(i) * beat))):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := h.Follow(ctx, uint64(i+1), p); err != nil {
			return err
		}
		if c, ok := p.(*harness.ToolCall); ok {
			d, err := h.Ask(ctx, harness.ToolUse{Call: c.ToolCallID, Tool: c.Name, Access: harness.AccessExecute})
			if err != nil {
				return err
			}
			if d.Verdict != harness.Allow {
				return errors.New("denied")
			}
		}
	}
	return nil
}

func (r *rig) lose(e harness.Engine, opts *kernel.Options) *rig {
	r.t.Helper()
	c := &rig{t: r.t, mem: r.mem.Clone(), id: r.id}
	c.bootWith(c.mem, e, opts)
	if _, err := c.k.Recover(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	return c
}

func song() *tape {
	return &tape{frames: []harness.Payload{
		&harness.Token{Text: "one "}, &harness.Token{Text: "two "}, &harness.ToolCall{ToolCallID: "c1", Name: "bash"},
		&harness.ToolLog{ToolCallID: "c1", Text: "out"}, &harness.ToolResult{ToolCallID: "c1", Output: "out"},
		&harness.ToolOutcome{ToolCallID: "c1", Status: harness.OutcomeOK}, &harness.Usage{InputTokens: 1}, &harness.Token{Text: "three"},
	}}
}

// A run that outlives the server is followed to its end after the next start,
// wherever the server died: the same conversation, no second attempt.
func TestARunThatOutlivesTheServerIsFollowedToItsEnd(t *testing.T) {
	for n := range 10 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				run := song()
				r := newRig(t, "", nil)
				r.bootWith(r.mem, run, &kernel.Options{Window: -1})
				r.submit("sing")
				asked := false
				for range n {
					pass(beat)
					if st := r.state(); len(st.Pending) > 0 && !asked && n%2 == 0 {
						r.allow()
						asked = true
					}
				}
				synctest.Wait()
				c := r.lose(run, &kernel.Options{Window: -1})
				synctest.Wait()
				if !asked {
					c.pending(1)
					c.allow()
				}
				st := c.rest()
				if got := c.conversation(st); got != "user:sing(complete) assistant:one two three(complete)" {
					t.Error(got)
				}
				if st.Turns != 1 || st.Error != "" || len(st.Messages[1].Calls) != 1 || st.Messages[1].Calls[0].Output.String() != "out" {
					t.Errorf("%+v", st.Messages[1])
				}
			})
		})
	}
}

// lateEar tells where each word that it hears is to be found.
type lateEar struct {
	tape
	attached harness.Seq
	words    []harness.Word
}

func (e *lateEar) Abilities() harness.Abilities { return harness.Abilities{Steer: true} }

func (e *lateEar) Run(ctx context.Context, turn harness.Turn, h harness.Host) error {
	if e.attached = turn.Attached; e.attached == 0 {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	e.words = <-h.Steering()
	return nil
}

// What was said up to the place where a run is found again is in the log only;
// everything later comes by Steering.
func TestWordsOfARunThatIsFoundAgainComeOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		run := &lateEar{}
		r := newRig(t, "", nil)
		r.bootWith(r.mem, run, nil)
		r.submit("sing")
		early := r.do(harness.Steer{Parts: harness.TextPart("early")})
		synctest.Wait()
		c := r.lose(run, nil)
		synctest.Wait()
		late := c.do(harness.Steer{Parts: harness.TextPart("late")})
		st := c.rest()
		if len(run.words) != 1 || run.words[0].Item != late.Item || early.Seq > run.attached || late.Seq <= run.attached {
			t.Errorf("said at %d and %d, found at %d, heard %v", early.Seq, late.Seq, run.attached, run.words)
		}
		if st.Turns != 1 || len(st.Queue) != 0 {
			t.Errorf("%d turns, %d wait", st.Turns, len(st.Queue))
		}
	})
}

func TestARunThatIsGoneEndsAsInterrupted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		run := song()
		r := newRig(t, "", nil)
		r.bootWith(r.mem, run, nil)
		r.submit("sing")
		synctest.Wait()
		run.gone = true
		c := r.lose(run, nil)
		if st := c.rest(); st.Reason != "interrupted" {
			t.Errorf("%s %q", st.Status, st.Reason)
		}
	})
}

func TestACancelOutlivesTheServer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		run := song()
		r := newRig(t, "", nil)
		hold := make(chan struct{})
		stuck := &engine{func(a *attempt) error { <-hold; return nil }}
		r.bootWith(r.mem, stuck, nil)
		r.submit("sing")
		synctest.Wait()
		r.do(harness.Cancel{})
		run.began = time.Now()
		c := r.lose(run, nil)
		if st := c.rest(); st.Status != harness.Idle || run.stops != 1 {
			t.Errorf("%s, told %d times", st.Status, run.stops)
		}
		close(hold)
	})
}

// A server that stops leaves the run alone, and finds it again.
func TestAShutdownLeavesTheRunAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		run := song()
		r := newRig(t, "", nil)
		r.bootWith(r.mem, run, nil)
		r.do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.FullAuto)}})
		r.submit("sing")
		pass(3 * beat)
		r.k.Close()
		c := r.lose(run, nil)
		st := c.rest()
		if got := c.conversation(st); got != "user:sing(complete) assistant:one two three(complete)" || run.stops != 0 {
			t.Errorf("%s, told %d times", got, run.stops)
		}
	})
}

// Nobody waits for a run that goes on by itself.
func TestADrainLeavesARunThatOutlivesTheServerAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		gone bool
		take time.Duration
	}{"a run that survives": {false, 0}, "one that does not": {true, 5 * beat}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				run := song()
				run.gone = c.gone
				r := newRig(t, "", nil)
				r.bootWith(r.mem, run, nil)
				r.do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.FullAuto)}})
				r.submit("sing")
				pass(3 * beat)
				began := time.Now()
				if err := r.k.Drain(t.Context()); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began).Round(beat); took > c.take {
					t.Errorf("the drain took %s", took)
				}
				next := r.lose(run, nil)
				if got := next.conversation(next.rest()); got != "user:sing(complete) assistant:one two three(complete)" || run.stops != 0 {
					t.Errorf("%s, told %d times", got, run.stops)
				}
			})
		})
	}
}

// A run that has only just begun when the drain does is found a moment later.
func TestADrainLooksAgainForARunThatBegins(t *testing.T) {
	bubble(t, func(t *testing.T) {
		run := song()
		run.frames = append(run.frames, &harness.Token{Text: "four"})
		for range 100 {
			run.frames = append(run.frames, &harness.Usage{InputTokens: 1})
		}
		r := newRig(t, "", nil)
		began := time.Now()
		r.bootWith(r.mem, late{run, began.Add(beat)}, nil)
		r.do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: new(harness.FullAuto)}})
		r.submit("sing")
		if err := r.k.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 2*time.Second || run.stops != 0 {
			t.Errorf("the drain took %s, told %d times", took, run.stops)
		}
	})
}

// late is a tape that is found from some time on.
type late struct {
	*tape
	from time.Time
}

func (l late) Survives(context.Context, harness.Turn) bool { return !time.Now().Before(l.from) }

// What a cancelled run does until it ends is still heard.
func TestADrainWaitsForARunThatWasToldToEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "", nil)
		r.bootWith(r.mem, slow{song()}, nil)
		r.submit("sing")
		synctest.Wait()
		r.do(harness.Cancel{})
		if err := r.k.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		c := r.lose(song(), nil)
		if st := c.state(); st.Turn != nil || st.Status != harness.Idle {
			t.Errorf("%s %+v", st.Status, st.Turn)
		}
	})
}

// slow is a tape that takes a while to stop.
type slow struct{ *tape }

func (s slow) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	err := s.tape.Run(ctx, t, h)
	time.Sleep(beat) // sleep: the bubble's clock
	return err
}

// A checkpoint says where in the log it is, whoever tells of it.
func TestACheckpointThatIsFollowedKnowsItsPlace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "", nil)
		r.bootWith(r.mem, &tape{frames: []harness.Payload{
			&harness.Token{Text: "one"}, &harness.SessionCheckpoint{CheckpointType: "engine", Status: "saved", EngineRef: "ref"},
		}}, nil)
		r.submit("sing")
		if st := r.rest(); st.EngineRef != "ref" {
			t.Errorf("the reference is %q", st.EngineRef)
		}
		found := 0
		for _, e := range r.log() {
			if p, ok := e.Payload.(*harness.SessionCheckpoint); ok {
				if found++; p.Sequence != int(e.Seq) || p.SessionID != e.Session {
					t.Errorf("event %d of %s is %+v", e.Seq, e.Session, p)
				}
			}
		}
		if found != 1 {
			t.Errorf("%d checkpoints", found)
		}
	})
}
