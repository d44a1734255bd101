package kernel

import (
	"strings"
	"testing"
	"time"

	"harness"
)

func told(seq harness.Seq, text string) harness.Event {
	return harness.NewEvent("ses_t", seq, time.UnixMilli(0), "", &harness.Token{Text: text})
}

// What a watcher was given stays as it is, however far the tail moves on while
// the watcher reads it.
func TestTailLeavesWhatWatchersRead(t *testing.T) {
	t.Parallel()
	tl := newTail(0, 16)
	var held [][]harness.Event
	for seq := harness.Seq(1); seq <= 300; seq++ {
		tl.add([]harness.Event{told(seq, "x")})
		events, _, how := tl.after(seq - min(seq, 10))
		if how != tailMore {
			t.Fatalf("at %d: %v", seq, how)
		}
		held = append(held, events)
	}
	for i, events := range held {
		for j, e := range events {
			if want := harness.Seq(i + 2 - len(events) + j); e.Seq != want || e.Payload == nil {
				t.Fatalf("slice %d: event %d became %+v", i, want, e)
			}
		}
	}
}

// The tail holds so many events and so many bytes, and its array little more.
func TestTailIsBounded(t *testing.T) {
	t.Parallel()
	tl := newTail(0, 1000)
	for seq := harness.Seq(1); seq <= 900; seq++ { // room for many
		tl.add([]harness.Event{told(seq, "x")})
	}
	big := strings.Repeat("x", 100<<10)
	for seq := harness.Seq(901); seq <= 1100; seq++ {
		tl.add([]harness.Event{told(seq, big)})
		if tl.bytes > maxTailBytes+len(big)+200 || tl.stale > maxTailBytes+len(big)+200 || len(tl.events) > 1000 {
			t.Fatalf("at %d: %d events, %d bytes, %d stale", seq, len(tl.events), tl.bytes, tl.stale)
		}
	}
	if _, _, how := tl.after(900); how != tailOld {
		t.Errorf("far behind: %v", how)
	}
	if _, _, how := tl.after(1101); how != tailFuture {
		t.Errorf("in the future: %v", how)
	}
	tl.close()
	if events, _, how := tl.after(1099); how != tailMore || len(events) != 1 {
		t.Errorf("closed, with one event to read: %v", how)
	}
	if _, _, how := tl.after(1100); how != tailClosed {
		t.Errorf("closed: %v", how)
	}
}
