package postgres_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"harness"
	"harness/store/postgres/postgrestest"
)

// TestAFollowerThatMissedHintsCatchesUp ends the connection that listens and
// appends while nobody hears.
func TestAFollowerThatMissedHintsCatchesUp(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	url := server.URL(t)
	here, there := open(t, url), open(t, url)
	mustAppend(t, here, commit("a", 0, 1))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := make(chan harness.Seq)
	var wg sync.WaitGroup
	wg.Go(func() {
		for e, err := range there.Follow(ctx, "a", 0) {
			if err != nil {
				if !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				return
			}
			select {
			case got <- e.Seq:
			case <-ctx.Done():
			}
		}
	})
	for head := harness.Seq(0); head < 20; head++ {
		if seq := <-got; seq != head+1 {
			t.Fatalf("got %d after %d", seq, head)
		}
		if head%4 == 3 { // others may listen on the server; theirs come back as well
			server.Exec(t, url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN %'")
		}
		mustAppend(t, here, commit("a", head+1, 1))
	}
	<-got
	cancel()
	wg.Wait()
}

// TestManyFollowersAreOneReader joins a hundred followers to one session.
func TestManyFollowersAreOneReader(t *testing.T) {
	t.Parallel()
	url := postgrestest.Start(t).URL(t)
	here, there := open(t, url), open(t, url)
	mustAppend(t, here, commit("a", 0, 1), commit("b", 0, 1))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const followers = 100
	arrived := make(chan struct{}, 2*followers) // room for what they all say
	var wg sync.WaitGroup
	for range followers {
		wg.Go(func() {
			for _, err := range there.Follow(ctx, "a", 0) {
				if err == nil {
					arrived <- struct{}{}
				}
			}
		})
	}
	for range followers {
		<-arrived
	}
	if n := there.Feeds(); n != 1 {
		t.Fatalf("%d readers for %d followers of one session", n, followers)
	}
	mustAppend(t, here, commit("a", 1, 1), commit("b", 1, 1))
	for range followers {
		<-arrived
	}
	cancel()
	wg.Wait()
	if n := there.Feeds(); n != 0 {
		t.Fatalf("%d readers without a follower", n)
	}
}
