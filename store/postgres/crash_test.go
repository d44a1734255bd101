package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"harness"
	"harness/store/postgres/postgrestest"
)

// TestKilledServerLosesNothingAcknowledged kills the server and all its
// processes while eight sessions append, at a moment they do not choose, and
// starts it again, several times. The store stays open and goes on; so does a
// follower of each session, which sees every event once.
func TestKilledServerLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	rounds := 3
	if os.Getenv("LONG") != "" {
		rounds = 30
	}
	server := postgrestest.StartAlone(t)
	url := server.URL(t)
	st, other := open(t, url), open(t, url)
	const sessions = 8
	var heads, followed [sessions]atomic.Uint64
	names := [sessions]harness.SessionID{}
	ctx, cancel := context.WithCancel(t.Context())
	var followers sync.WaitGroup
	for i := range names {
		names[i] = harness.SessionID(fmt.Sprintf("s%d", i))
		mustAppend(t, st, commit(names[i], 0, 1))
		heads[i].Store(1)
		followers.Go(func() {
			for e, err := range other.Follow(ctx, names[i], 0) {
				if err != nil {
					if !errors.Is(err, context.Canceled) {
						t.Errorf("a follower of %s: %v", names[i], err)
					}
					return
				}
				if uint64(e.Seq) != followed[i].Load()+1 {
					t.Errorf("a follower of %s got %d after %d", names[i], e.Seq, followed[i].Load())
					return
				}
				followed[i].Store(uint64(e.Seq))
			}
		})
	}
	acknowledged, landed := int64(0), 0
	for round := range rounds {
		var acks atomic.Int64
		kill, last := make(chan struct{}), int64(50+rand.IntN(400))
		var wg sync.WaitGroup
		for i, id := range names {
			wg.Go(func() {
				for {
					c := commit(id, harness.Seq(heads[i].Load()), 1+rand.IntN(4))
					if err := st.Append(t.Context(), c); err != nil {
						if !errors.Is(err, harness.ErrStorage) {
							t.Errorf("round %d: an append to %s as the server died: %v", round, id, err)
						}
						return
					}
					heads[i].Add(uint64(len(c.Events)))
					if acks.Add(1) == last {
						close(kill)
					}
				}
			})
		}
		<-kill
		server.Kill(t)
		wg.Wait()
		server.Restart(t)
		acknowledged += acks.Load()
		for i, id := range names {
			want := harness.Seq(heads[i].Load())
			got, err := read(t, st, id)
			if err != nil || got < want || got > want+4 {
				t.Fatalf("round %d: %s: acknowledged up to %d, read %d events, %v", round, id, want, got, err)
			}
			if got > want {
				landed++
			}
			heads[i].Store(uint64(got))
		}
	}
	for i, id := range names {
		mustAppend(t, st, commit(id, harness.Seq(heads[i].Load()), 1))
		until(t, func() bool { return followed[i].Load() == heads[i].Load()+1 }, "the follower of "+string(id))
	}
	cancel()
	followers.Wait()
	t.Logf("%d kills, %d acknowledged commits, all there; %d more had landed", rounds, acknowledged, landed)
}
