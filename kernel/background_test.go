package kernel_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/kernel"
	"harness/store/memory"
)

// job is a background session that begins with a prompt.
func (r *rig) job(id, user, prompt string, retries int) *rig {
	r.t.Helper()
	n := harness.NewSession{ID: harness.SessionID(id), Kind: harness.Background, User: user, Prompt: harness.TextPart(prompt), MaxRetries: &retries}
	return &rig{t: r.t, mem: r.mem, engine: r.engine, k: r.k, id: r.create(n)}
}

// over waits until the session has ended, or stands still.
func (r *rig) over() *harness.State {
	r.t.Helper()
	return r.until("the end", func(st *harness.State) bool { return st.Status.Terminal() || st.Status == harness.Paused })
}

// Total attempts are max_retries + 1: one less is not enough, and there is not
// one more.
func TestTotalAttemptsAreMaxRetriesPlusOne(t *testing.T) {
	for retries := range 4 {
		for needs := 1; needs <= retries+2; needs++ {
			t.Run(fmt.Sprintf("retries %d, needs %d", retries, needs), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					tries := 0
					r := with(t, nil, func(a *attempt) error {
						if tries++; tries < needs {
							return fmt.Errorf("not yet: %w", harness.ErrRetry)
						}
						return a.say("done")
					})
					st := r.job("ses_bg", "u", "go", retries).over()
					want, made := harness.StatusCompleted, needs
					if needs > retries+1 {
						want, made = harness.StatusFailed, retries+1
					}
					if st.Status != want || tries != made || st.Course.Attempts != made {
						t.Errorf("%s after %d attempts, %d counted; want %s after %d", st.Status, tries, st.Course.Attempts, want, made)
					}
					if st.Course.Ended.IsZero() || (st.Status == harness.StatusFailed) != (st.Course.LastError != "" && st.Error != "") {
						t.Errorf("ended %v, last error %q", st.Course.Ended, st.Course.LastError)
					}
				})
			})
		}
	}
}

func TestTheWaitBetweenTriesDoubles(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var at []time.Duration
		began := time.Now()
		r := with(t, nil, func(*attempt) error {
			at = append(at, time.Since(began))
			return harness.ErrRetry
		})
		r.job("ses_bg", "u", "go", 8).over()
		want := []time.Duration{0, 1, 3, 7, 15, 31, 63, 123, 183}
		for i := range want {
			want[i] *= time.Second
		}
		if !slices.Equal(at, want) {
			t.Errorf("tried at %v, want %v", at, want)
		}
	})
}

// While it waits for its next try, a session has no goroutine, and says when.
func TestASessionThatRecoversSleeps(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := with(t, &kernel.Options{Backoff: time.Minute}, func(*attempt) error { return harness.ErrRetry })
		j := r.job("ses_bg", "u", "go", 3)
		pass(30 * time.Second)
		st := j.state()
		if n := r.k.Awake(); n != 0 || st.Status != harness.Recovering || time.Until(st.Course.Retry) != 30*time.Second {
			t.Errorf("%d awake, %s until %v", n, st.Status, st.Course.Retry)
		}
	})
}

func expired(st *harness.State) bool {
	return st.Status == harness.StatusFailed && st.Reason == "expired" && slices.ContainsFunc(st.Trail().Checkpoints, func(c harness.Placed[harness.SessionCheckpoint]) bool {
		return c.Payload.CheckpointType == "expired"
	})
}

func TestSessionsWithAPastExpiryFailBeforeExecution(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ran := 0
		r := with(t, nil, func(*attempt) error { ran++; return nil })
		r.id = r.create(harness.NewSession{Kind: harness.Background, Prompt: harness.TextPart("go"), Expires: time.Now()})
		if st := r.over(); !expired(st) || ran != 0 || st.Turns != 0 {
			t.Errorf("%s %s, ran %d times", st.Status, st.Reason, ran)
		}
	})
}

// One that waits fails when its time is over, and not only when its turn comes.
func TestAQueuedSessionExpiresWhereItWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "hang", &kernel.Options{Concurrency: 1})
		r.job("ses_first", "u", "go", 0)
		n := harness.NewSession{Kind: harness.Background, User: "u", Prompt: harness.TextPart("go"), Expires: time.Now().Add(time.Minute)}
		j := &rig{t: t, mem: r.mem, k: r.k, id: r.create(n)}
		pass(59 * time.Second)
		if st := j.state(); st.Status != harness.Queued {
			t.Fatalf("%s before its time is over", st.Status)
		}
		pass(2 * time.Second)
		if st := j.state(); !expired(st) {
			t.Errorf("%s %s", st.Status, st.Reason)
		}
	})
}

func TestSessionsWithAPastExpiryFailBeforeRecovery(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ran := 0
		r := with(t, &kernel.Options{Backoff: time.Minute}, func(*attempt) error { ran++; return harness.ErrRetry })
		retries := 5
		r.id = r.create(harness.NewSession{Kind: harness.Background, Prompt: harness.TextPart("go"), MaxRetries: &retries, Expires: time.Now().Add(30 * time.Second)})
		if st := r.over(); !expired(st) || ran != 1 {
			t.Errorf("%s %s, ran %d times", st.Status, st.Reason, ran)
		}
		// And so does one that a crash interrupted.
		h := newRig(t, "hang", nil)
		h.id = h.create(harness.NewSession{ID: "ses_bg", Kind: harness.Background, Prompt: harness.TextPart("go"), MaxRetries: &retries, Expires: time.Now().Add(30 * time.Second)})
		synctest.Wait()
		pass(time.Minute)
		if st := h.state(); st.Status != harness.Running {
			t.Fatalf("an execution was broken off: %s", st.Status)
		}
		c := h.crash("say never", nil)
		if st := c.over(); !expired(st) {
			t.Errorf("after the crash %s %s", st.Status, st.Reason)
		}
	})
}

// A pause lets the call that runs come to its end; the turn goes on with another
// attempt, which is no other try.
func TestAPauseComesBetweenCalls(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "call read a => one\ntool bash b\ngate go\nresult two\noutcome ok\ncheckpoint\nsay three\nwait 1m\ncall read c => four\nsay done", nil)
		j := r.job("ses_bg", "u", "go", 0)
		synctest.Wait()
		j.do(harness.Pause{})
		synctest.Wait()
		if st := j.state(); st.Status != harness.Running || !st.Pausing {
			t.Fatalf("in the middle of a call: %s, pausing %v", st.Status, st.Pausing)
		}
		r.engine.Open("go")
		synctest.Wait()
		st := j.state()
		if st.Status != harness.Paused || st.Reason != "user" || st.Turn == nil || len(st.Turn.Open) != 0 {
			t.Fatalf("behind it: %s\n%s", st.Status, j.story())
		}
		pass(time.Hour)
		if n := r.k.Awake(); n != 0 {
			t.Errorf("%d sessions are awake", n)
		}
		for range 3 { // each attempt goes on; none is another try
			j.do(harness.Resume{})
			synctest.Wait()
			j.do(harness.Pause{})
			synctest.Wait()
		}
		j.do(harness.Resume{})
		if st := j.over(); st.Status != harness.StatusCompleted || st.Course.Attempts != 1 {
			t.Errorf("%s after %d attempts\n%s", st.Status, st.Course.Attempts, j.story())
		}
		for _, call := range []string{"tool_outcome a ok", "tool_outcome b ok", "tool_outcome c ok"} {
			if strings.Count(j.story(), call) != 1 {
				t.Errorf("not once %q:\n%s", call, j.story())
			}
		}
	})
}

// A pause between two tries gives nobody another one.
func TestAPauseBetweenTriesIsNoWayAroundTheirNumber(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tries := 0
		r := with(t, &kernel.Options{Backoff: time.Minute}, func(*attempt) error { tries++; return harness.ErrRetry })
		j := r.job("ses_bg", "u", "go", 2)
		for range 2 {
			j.until("a failure", func(st *harness.State) bool { return st.Status == harness.Recovering })
			j.do(harness.Pause{})
			j.do(harness.Resume{})
			synctest.Wait()
		}
		if st := j.over(); st.Status != harness.StatusFailed || tries != 3 || st.Course.Attempts != 3 {
			t.Errorf("%s after %d tries, %d counted", st.Status, tries, st.Course.Attempts)
		}
	})
}

// A turn that the health policy held goes on without using up its retries.
func TestAHeldTurnsNextAttemptIsNoOtherTry(t *testing.T) {
	bubble(t, func(t *testing.T) {
		held := 0
		r := with(t, nil, func(a *attempt) error {
			if held++; held > 3 {
				return a.say("done")
			}
			if err := a.host.Emit(a.ctx, &harness.Usage{InputTokens: 100 * int64(held)}); err != nil {
				return err
			}
			<-a.ctx.Done()
			return a.ctx.Err()
		})
		limit := func(n int64) harness.Configure {
			return harness.Configure{Patch: harness.ConfigPatch{Health: &harness.HealthPolicy{TotalTokens: &n, Action: harness.PauseSession}}}
		}
		j := r.job("ses_bg", "u", "go", 0)
		j.do(limit(50))
		holds := 0
		for st := j.over(); st.Status == harness.Paused && holds < 10; st = j.over() {
			holds++
			j.do(limit(int64(150 * holds)))
			synctest.Wait()
		}
		if st := j.state(); st.Status != harness.StatusCompleted || st.Course.Attempts != 1 || holds < 2 {
			t.Errorf("%s, held %d times, %d attempts were counted\n%s", st.Status, holds, st.Course.Attempts, j.story())
		}
	})
}

// A server that is stopped, and not killed, costs no try.
func TestAShutdownIsNoTry(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "call read a => one\nhang", nil)
		j := r.job("ses_bg", "u", "go", 0)
		synctest.Wait()
		r.k.Close()
		if st := j.state(); st.Status != harness.Queued || st.Reason != "shutdown" {
			t.Fatalf("%s %s", st.Status, st.Reason)
		}
		c := j.crash("call read a => one\nsay done", nil)
		if st := c.over(); st.Status != harness.StatusCompleted || st.Course.Attempts != 1 || strings.Count(c.story(), "tool_call a") != 1 {
			t.Errorf("%s after %d attempts\n%s", st.Status, st.Course.Attempts, c.story())
		}
	})
}

// Two run at a time, users take turns, nobody is lost, and those who wait have
// no goroutine. A chat does not wait.
func TestBackgroundSessionsWaitInAFairLine(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var mu sync.Mutex
		var began []string
		running, most := 0, 0
		r := with(t, &kernel.Options{Concurrency: 2}, func(a *attempt) error {
			mu.Lock()
			if running++; a.turn.Session != "ses_1" {
				began = append(began, harness.PlainText(a.turn.Parts))
				most = max(most, running)
			}
			mu.Unlock()
			select {
			case <-time.After(10 * time.Second):
			case <-a.ctx.Done():
			}
			mu.Lock()
			running--
			mu.Unlock()
			return a.ctx.Err()
		})
		var jobs []*rig
		for i, name := range []string{"a1", "a2", "a3", "a4", "b1", "c1", "b2"} {
			jobs = append(jobs, r.job(fmt.Sprintf("ses_%02d", i), name[:1], name, 0))
			pass(time.Millisecond)
		}
		pass(5 * time.Second)
		if n := r.k.Awake(); n != 2 {
			t.Errorf("%d sessions are awake, 2 run", n)
		}
		places := map[string]int{}
		for sum, err := range r.k.List(t.Context(), harness.Filter{Statuses: []harness.Status{harness.Queued}}) {
			if err != nil {
				t.Fatal(err)
			}
			places[string(sum.Session)] = sum.Place
		}
		if fmt.Sprint(places) != "map[ses_02:3 ses_03:5 ses_04:1 ses_05:2 ses_06:4]" {
			t.Errorf("the places are %v", places)
		}
		chat := &rig{t: t, mem: r.mem, k: r.k, id: "ses_1"}
		chat.submit("hello")
		if st := chat.state(); st.Status != harness.Running {
			t.Errorf("a chat is %s", st.Status)
		}
		for _, j := range jobs {
			if st := j.over(); st.Status != harness.StatusCompleted {
				t.Errorf("%s is %s", j.id, st.Status)
			}
		}
		if got := strings.Join(began, " "); got != "a1 a2 b1 c1 a3 b2 a4" || most > 3 {
			t.Errorf("they began %s, %d at a time", got, most)
		}
	})
}

// A child runs in its parent's place: a line of one does not wait for itself.
func TestWorkThatIsHandedOnDoesNotWaitInLine(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := with(t, &kernel.Options{Concurrency: 1}, func(a *attempt) error {
			if harness.PlainText(a.turn.Parts) == "part" {
				return a.say("done")
			}
			answer, err := a.host.(harness.Spawner).Spawn(a.ctx, harness.NewSession{}, "part", func(harness.SessionID) {})
			return errors.Join(err, a.say(answer))
		})
		if st := r.job("ses_bg", "u", "whole", 0).over(); st.Status != harness.StatusCompleted {
			t.Errorf("%s %s", st.Status, st.Error)
		}
	})
}

// What a restart finds in line goes on in the same order.
func TestARestartKeepsTheLine(t *testing.T) {
	bubble(t, func(t *testing.T) {
		opts := &kernel.Options{Concurrency: 1}
		r := newRig(t, "hang", opts)
		for i, name := range []string{"a1", "a2", "a3", "b1", "b2"} {
			r.job(fmt.Sprintf("ses_%02d", i), name[:1], name, 3)
			pass(time.Millisecond)
		}
		synctest.Wait()
		var mu sync.Mutex
		var began []string
		c := &rig{t: t, mem: r.mem.Clone(), id: r.id}
		c.bootWith(c.mem, &engine{func(a *attempt) error {
			mu.Lock()
			defer mu.Unlock()
			began = append(began, harness.PlainText(a.turn.Parts))
			return nil
		}}, opts)
		if _, err := c.k.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if got := strings.Join(began, " "); got != "b1 a1 b2 a2 a3" {
			t.Errorf("they began %s", got)
		}
	})
}

// Cancel ends a session wherever it is; resume brings back what failed or was
// cancelled.
func TestCancelAndResumeOfASessionThatWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "when stuck\nhang\nend\nwhen bad\nfail it broke\nend\nsay done", &kernel.Options{Concurrency: 1})
		first := r.job("ses_first", "u", "stuck", 0)
		second := r.job("ses_second", "u", "two", 0)
		second.do(harness.Cancel{})
		if st := second.state(); st.Status != harness.StatusCancelled || st.Course.Ended.IsZero() || len(st.Queue) != 0 {
			t.Fatalf("%s, ended %v", st.Status, st.Course.Ended)
		}
		second.refused(harness.ErrNotRunning, harness.Cancel{})
		second.do(harness.Resume{})
		if st := second.state(); st.Status != harness.Queued || !st.Course.Ended.IsZero() {
			t.Fatalf("resumed: %s, ended %v", st.Status, st.Course.Ended)
		}
		first.do(harness.Cancel{})
		if st := second.over(); st.Status != harness.StatusCompleted {
			t.Errorf("%s\n%s", st.Status, second.story())
		}
		second.refused(harness.ErrInvalid, harness.Resume{})
		second.refused(harness.ErrNotRunning, harness.Pause{})
		bad := r.job("ses_bad", "u", "bad", 0)
		if st := bad.over(); st.Status != harness.StatusFailed {
			t.Fatalf("%s", st.Status)
		}
		bad.do(harness.Resume{})
		if st := bad.until("another end", func(st *harness.State) bool { return st.Turns == 2 && st.Status.Terminal() }); st.Status != harness.StatusFailed {
			t.Errorf("%s", st.Status)
		}
	})
}

// A prompt that comes with the session is durable with it, or neither is.
func TestASessionAndItsPromptAreOneCommit(t *testing.T) {
	t.Parallel()
	mem := memory.New()
	k := kernel.New(mem, nil, &kernel.Options{Engine: "e"})
	defer k.Close()
	if _, err := k.Create(t.Context(), harness.NewSession{ID: "ses_c", Prompt: harness.TextPart("go")}); !errors.Is(err, harness.ErrInvalid) {
		t.Errorf("a chat with a prompt: %v", err)
	}
	if _, err := k.Create(t.Context(), harness.NewSession{ID: "ses_r", Kind: harness.Background, MaxRetries: new(-1)}); !errors.Is(err, harness.ErrInvalid) {
		t.Errorf("fewer than no retries: %v", err)
	}
	for sum, err := range mem.List(t.Context(), harness.Filter{}) {
		t.Errorf("something is left: %v, %v", sum, err)
	}
}

// A log that says that a session waits, though there is nothing to do, harms
// nobody: it is passed over.
func TestASessionThatWaitsForNothingIsPassedOver(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "say done", &kernel.Options{Concurrency: 1})
		now := time.Now()
		odd := harness.NewEvent("ses_odd", 1, now, "", &harness.SessionState{SessionID: "ses_odd", Kind: harness.Background, Status: harness.Queued, QueuedAt: &now, Engine: "e"})
		st := new(harness.State)
		st.Apply(odd)
		if err := r.mem.Append(t.Context(), harness.Commit{Session: "ses_odd", Events: []harness.Event{odd}, Summary: st.Summary()}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.k.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		if st := r.job("ses_bg", "u", "go", 0).over(); st.Status != harness.StatusCompleted {
			t.Errorf("%s", st.Status)
		}
	})
}
