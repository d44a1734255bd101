package kernel_test

import (
	"context"
	"testing"
	"time"

	"harness"
	"harness/kernel"
)

// TestAWatcherBehindASessionThatWokeIsToldWhatItLacks has a cursor that is older
// than anything an awake session has in memory: a few events are told as such,
// many as a state.
func TestAWatcherBehindASessionThatWokeIsToldWhatItLacks(t *testing.T) {
	for name, opts := range map[string]*kernel.Options{"few": {}, "many": {TailEvents: 2}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newRig(t, "when hang\nhang\nelse\nsay hi\nend", opts)
				r.submit("go")
				end := r.rest().Seq
				r.asleep()
				r.submit("hang")
				time.Sleep(time.Second) // sleep: the bubble's time, for the turn to begin
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				at, states := harness.Seq(2), 0
				for up, err := range r.k.Watch(ctx, r.id, at) {
					if err != nil {
						t.Fatal(err)
					}
					if up.State != nil {
						states++
						at = up.State.Seq
					}
					for _, e := range up.Events {
						if e.Seq != at+1 {
							t.Fatalf("event %d behind %d", e.Seq, at)
						}
						at = e.Seq
					}
					if at > end {
						break
					}
				}
				if want := map[string]int{"few": 0, "many": 1}[name]; states != want {
					t.Errorf("%d states, want %d", states, want)
				}
			})
		})
	}
}
