package kernel_test

import (
	"context"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/health"
	"harness/kernel"
	"harness/store/memory"
)

// shortTail makes tails and snapshots short, so that little text shows what
// much would.
var shortTail = &kernel.Options{TailEvents: 16, SnapshotEvery: 32}

// counting counts the events that are read.
type counting struct {
	*memory.Store
	read atomic.Int64
}

func (c *counting) Read(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Event, error] {
	return func(yield func(harness.Event, error) bool) {
		for e, err := range c.Store.Read(ctx, id, after) {
			c.read.Add(1)
			if !yield(e, err) {
				return
			}
		}
	}
}

func TestIdleSessionHasNoGoroutine(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "echo", &kernel.Options{IdleAfter: 5 * time.Second})
		r.submit("hi")
		r.rest()
		synctest.Wait()
		if r.k.Awake() != 1 {
			t.Errorf("%d sessions are awake right after a turn", r.k.Awake())
		}
		pass(5*time.Second + time.Millisecond)
		synctest.Wait()
		if n := r.k.Awake(); n != 0 {
			t.Errorf("%d sessions are awake", n)
		}
		if got := r.conversation(r.state()); got != "user:hi(complete) assistant:hi(complete)" {
			t.Error(got)
		}
	})
}

// long writes a session with about n events of turns behind the kernel's back.
func long(t testing.TB, st harness.Store, id harness.SessionID, n int) {
	t.Helper()
	state, diagnosis := new(harness.State), health.New(nil)
	now := time.Now()
	var batch []harness.Event
	flush := func() {
		c := harness.Commit{Session: id, After: state.Seq - harness.Seq(len(batch)), Events: batch, Summary: state.Summary()}
		if err := st.Append(context.Background(), c); err != nil {
			t.Fatal(err)
		}
		batch = nil
	}
	add := func(turn harness.TurnID, p harness.Payload) {
		e := harness.NewEvent(id, state.Seq+1, now, turn, p)
		state.Apply(e)
		diagnosis.Apply(e)
		if batch = append(batch, e); len(batch) == 500 {
			flush()
		}
	}
	add("", &harness.SessionState{SessionID: id, Status: harness.Idle, Engine: "e"})
	for int(state.Seq) < n-16 {
		turn := harness.TurnID("trn_" + itoa(state.Seq))
		add("", &harness.UserMessage{ItemID: harness.ItemID("itm_u" + itoa(state.Seq)), Source: harness.FromTurn, Parts: harness.TextPart("go on")})
		item := harness.ItemID("itm_a" + itoa(state.Seq))
		add(turn, &harness.TurnStart{TurnID: turn, ItemID: item, Attempt: 1})
		for range 10 {
			add(turn, &harness.Token{ItemID: item, Text: "some words "})
		}
		add(turn, &harness.TurnEnd{TurnID: turn, Status: harness.TurnCompleted})
		state.SetAside(diagnosis.Clone())
		if state.Count() > 1000 { // what a kernel would have done on the way
			seal(t, st, state)
		}
	}
	if len(batch) > 0 {
		flush()
	}
	seal(t, st, state)
}

// seal saves a snapshot of a state whose log is not complete yet.
func seal(t testing.TB, st harness.Store, state *harness.State) {
	t.Helper()
	snap := harness.Snapshot{Session: state.Session, Seq: state.Seq, First: state.Sealed}
	for _, m := range state.Messages {
		snap.Sealed = append(snap.Sealed, harness.EncodeMessage(m))
	}
	state.Seal(len(state.Messages))
	snap.State = harness.EncodeState(state)
	if s, ok := st.(harness.Snapshotter); ok {
		s.SaveSnapshot(context.Background(), snap) // refused if ahead of the log: the next one has them
	}
}

func itoa(n harness.Seq) string { return harness.EventID("x", n)[2:] }

// To wake reads what came after the newest snapshot, not the history.
func TestWakeReadsABoundedTail(t *testing.T) {
	bubble(t, func(t *testing.T) {
		st := &counting{Store: memory.New()}
		r := &rig{t: t, mem: st.Store, id: "ses_1"}
		r.boot(st, "stream 1500 20ms word", nil)
		n := 20_000
		if os.Getenv("LONG") != "" {
			n = 100_000
		}
		long(t, st, r.id, n)
		for i := range 3 {
			st.read.Store(0)
			r.do(harness.Submit{Parts: harness.TextPart("more")})
			if n := st.read.Load(); n > 1100 {
				t.Errorf("wake %d read %d events", i, n)
			}
			if i < 2 {
				r.rest()
				pass(time.Minute)
			}
		}
		pass(20 * time.Second) // in the middle of a turn
		c := &counting{Store: st.Clone()}
		again := &rig{t: t, mem: c.Store, id: r.id}
		again.boot(c, "", nil)
		again.do(harness.Pause{})
		if n := c.read.Load(); n > 1100 {
			t.Errorf("the wake after a crash read %d events of %d", n, len(again.log()))
		}
	})
}

// A watcher of a sleeping session is served and does not wake it, and goes on
// across its sleeps.
func TestWatchGoesOnAcrossSleep(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "echo", nil)
		r.submit("one")
		r.rest()
		pass(time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		seen := make(chan *harness.State)
		go func() {
			defer close(seen)
			var st *harness.State
			first := true
			for up, err := range r.k.Watch(ctx, r.id, 0) {
				if err != nil {
					return
				}
				if first != (up.State != nil) {
					t.Error("a state in the middle, or none at first")
				}
				first = false
				if st = follow(st, up); st.Turn == nil {
					seen <- st.Clone()
				}
			}
		}()
		if st := <-seen; len(st.Messages)+st.Sealed != 2 {
			t.Errorf("served %d messages", len(st.Messages)+st.Sealed)
		}
		synctest.Wait()
		if n := r.k.Awake(); n != 0 {
			t.Errorf("watching woke %d sessions", n)
		}
		for i := range 3 {
			pass(time.Minute)
			if n := r.k.Awake(); n != 0 {
				t.Errorf("a watcher keeps %d sessions awake", n)
			}
			r.submit("more")
			for st := range seen {
				if st.Count() == 2*(i+2) {
					break
				}
			}
		}
		cancel()
		for range seen {
			continue
		}
	})
}

// The state at any position is the fold of the log up to there, whatever
// snapshots and sealed messages it was made from.
func TestAtIsTheFoldOfThePrefix(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "stream 12 20ms word\ncall ls => files\nstream 12 20ms word", shortTail)
		for range 20 {
			r.submit("go")
			r.rest()
		}
		pass(time.Minute)
		log := r.log()
		rng := rand.New(rand.NewPCG(1, 2))
		sealed := 0
		for range 100 {
			seq := 1 + rng.IntN(len(log))
			got, err := r.k.At(t.Context(), r.id, harness.Seq(seq))
			if err != nil {
				t.Fatal(err)
			}
			want := new(harness.State)
			for _, e := range log[:seq] {
				want.Apply(e)
			}
			sealed += got.Sealed
			if g, w := r.messages(got), r.messages(want); !slices.Equal(g, w) {
				t.Fatalf("at %d the messages are\n%s\nwant\n%s", seq, g, w)
			}
			got.Sealed, got.Messages, want.Messages = 0, nil, nil
			if turn := want.Turn; turn != nil && got.Turn.First != turn.First {
				t.Errorf("at %d the turn begins at %d, want %d", seq, got.Turn.First, turn.First)
			}
			if g, w := string(got.JSON()), string(want.JSON()); g != w {
				t.Fatalf("at %d the state is\n%s\nwant\n%s", seq, g, w)
			}
		}
		if sealed == 0 {
			t.Error("nothing was sealed: this tests nothing")
		}
		if _, err := r.k.At(t.Context(), r.id, harness.Seq(len(log)+1)); harness.AsError(err) != harness.ErrInvalid {
			t.Errorf("At the future: %v", err)
		}
	})
}

// A snapshot that cannot be read costs time, not the session.
func TestDamagedSnapshotIsFoldedAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "say hello", nil)
		r.submit("one")
		want := r.conversation(r.rest())
		pass(time.Minute)
		snap, err := r.mem.LoadSnapshot(t.Context(), r.id, 0)
		if err != nil {
			t.Fatal(err)
		}
		snap.State = []byte(`{"broken`)
		snap.Seq++ // the newest, ahead of the good one
		e := harness.NewEvent(r.id, snap.Seq, time.Now(), "", &harness.HookEvent{Kind: "test"})
		if err := r.mem.Append(t.Context(), harness.Commit{Session: r.id, After: snap.Seq - 1, Events: []harness.Event{e}, Summary: r.state().Summary()}); err != nil {
			t.Fatal(err)
		}
		if err := r.mem.SaveSnapshot(t.Context(), snap); err != nil {
			t.Fatal(err)
		}
		if got := r.conversation(r.state()); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		r.submit("two")
		r.rest()
	})
}
