package notify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/store/memory"
)

// silent is a line to a hook that does what deliver says, without a network.
func silent(t *testing.T, counts map[string]int, deliver func(item) error) *line {
	t.Helper()
	n, err := Open(memory.New(), t.TempDir(), nil, &Options{Log: slog.New(slog.DiscardHandler), Counted: func(_, o string) { counts[o]++ }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	l, err := n.line(Hook{Name: "h", URL: "https://example.com", Secret: NewSecret()})
	if err != nil {
		t.Fatal(err)
	}
	l.deliver = func(_ context.Context, it item) error { return deliver(it) }
	return l
}

func note(i int, at time.Time) item {
	return item{notice: Notice{ID: fmt.Sprintf("ses_%d.1", i), Kind: Completed, Session: harness.SessionID(fmt.Sprintf("ses_%d", i)), Seq: 1, Time: at}}
}

// A receiver that never answers costs so many places, so many attempts, and
// then a word in the log.
func TestADeadReceiverIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counts := map[string]int{}
		attempts := 0
		l := silent(t, counts, func(item) error { attempts++; return errors.New("dead") })
		for i := range 3 * MaxPending {
			l.put(note(i, time.Now()))
		}
		if n := l.waiting(); n != 2*MaxPending {
			t.Errorf("%d wait", n)
		}
		l.next(time.Now())
		if n := l.waiting(); n != MaxPending-1 || counts[GivenUp] != 2*MaxPending {
			t.Errorf("%d wait, %d given up", n, counts[GivenUp])
		}
		ctx, cancel := context.WithCancel(t.Context())
		go l.run(ctx)
		pass(MaxAge - time.Minute)
		synctest.Wait()
		if attempts > 2*int(MaxAge/maxPause)+64 { // one a minute, once it is known to be dead
			t.Errorf("%d attempts", attempts)
		}
		cancel()
		<-l.done
	})
}

func TestANoticeIsGivenUpAfterADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counts := map[string]int{}
		l := silent(t, counts, func(it item) error {
			if it.notice.ID == "ses_1.1" {
				return errors.New("poison")
			}
			return nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		l.put(note(1, time.Now()))
		go l.run(ctx)
		for i := range 100 { // the others are not held up
			pass(MaxAge / 100)
			l.put(note(i+2, time.Now()))
			synctest.Wait()
		}
		pass(time.Hour)
		synctest.Wait()
		if counts[Delivered] != 100 || counts[GivenUp] != 1 || l.waiting() != 0 {
			t.Errorf("%v, %d wait", counts, l.waiting())
		}
		cancel()
		<-l.done
		if len(l.cursor.Handled) > 3 || time.Since(l.cursor.Since) > 3*Slack {
			t.Errorf("the cursor grows: %d, since %s", len(l.cursor.Handled), time.Since(l.cursor.Since))
		}
	})
}

func TestTheReceiverSaysWhenToComeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counts := map[string]int{}
		var at []time.Time
		l := silent(t, counts, func(item) error {
			if at = append(at, time.Now()); len(at) == 1 {
				return &refusal{status: 429, after: 90 * time.Second}
			}
			return nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		l.put(note(1, time.Now()))
		go l.run(ctx)
		pass(2 * time.Minute)
		synctest.Wait()
		if len(at) != 2 || at[1].Sub(at[0]) != 90*time.Second {
			t.Errorf("%v", at)
		}
		cancel()
		<-l.done
	})
}

// BenchmarkCommitted is what notices add to a commit of one word.
func BenchmarkCommitted(b *testing.B) {
	n, err := Open(memory.New(), b.TempDir(), []Hook{{Name: "h", Command: []string{"true"}}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer n.Close()
	c := harness.Commit{Events: []harness.Event{harness.NewEvent("ses_1", 1, time.Now(), "trn_1", &harness.Token{Text: "word"})}}
	for b.Loop() {
		n.Committed(c, 0, nil)
	}
}

// pass lets time go by in a bubble.
func pass(d time.Duration) {
	time.Sleep(d) // sleep: the bubble's clock
}
