package node_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"harness"
	"harness/node"
	"harness/node/nodetest"
	"harness/store/postgres/postgrestest"
)

// TestHistoriesUnderFaultsAreLinearizable has clients of three nodes send prompts
// to the same sessions, with a key each and again if they do not hear, and read
// them, while nodes are cut off from the database in either direction, lose
// their heartbeat, are stopped and started.
func TestHistoriesUnderFaultsAreLinearizable(t *testing.T) {
	t.Parallel()
	run := 3 * time.Second
	if os.Getenv("LONG") != "" {
		run = time.Minute
	}
	url := postgrestest.Start(t).URL(t)
	s := setting{lease: 500 * time.Millisecond}
	var walls []*postgrestest.Wall
	var hearts []*paused
	var mu sync.Mutex // guards nodes
	var nodes []*member
	open := func(i int) *member {
		n := s
		n.wrap = func(st node.Shared) node.Shared { hearts[i].Shared = st; return hearts[i] }
		return join(t, walls[i].URL, fmt.Sprint("n", i), n)
	}
	for i := range 3 {
		walls, hearts = append(walls, postgrestest.NewWall(t, url)), append(hearts, &paused{})
		nodes = append(nodes, open(i))
	}
	at := func(i int) *member {
		mu.Lock()
		defer mu.Unlock()
		return nodes[i]
	}
	var ids []harness.SessionID
	for range 3 {
		ids = append(ids, nodes[0].create(harness.NewSession{}))
	}
	h := &nodetest.History{}
	ctx, cancel := context.WithTimeout(t.Context(), run)
	defer cancel()
	var clients sync.WaitGroup
	for c := range 6 {
		rng := rand.New(rand.NewPCG(uint64(c), 11))
		clients.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				one, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				id, m := ids[rng.IntN(len(ids))], at(rng.IntN(3))
				if rng.IntN(3) == 0 {
					h.Read(c, id, prompts(one, m))
				} else {
					cmd := submit(fmt.Sprintf("c%d.%d", c, n))
					cmd.ClientKey = fmt.Sprintf("c%d.%d", c, n)
					h.Submit(c, id, cmd.ClientKey, func() (harness.Seq, error) {
						r, err := m.Do(one, id, cmd)
						if err != nil { // and once more, elsewhere
							r, err = at(rng.IntN(3)).Do(one, id, cmd)
						}
						return r.Seq, err
					})
				}
				cancel()
			}
		})
	}
	rng := rand.New(rand.NewPCG(5, 7))
	faults := map[string]int{}
	for ctx.Err() == nil {
		i, long := rng.IntN(3), time.Duration(rng.IntN(1200))*time.Millisecond
		kind := []string{"cut", "half", "heart", "stop"}[rng.IntN(4)]
		faults[kind]++
		mend := func() {}
		switch kind {
		case "cut":
			walls[i].Cut(postgrestest.BothWays)
			mend = walls[i].Mend
		case "half":
			walls[i].Cut([]postgrestest.Way{postgrestest.FromDatabase, postgrestest.ToDatabase}[rng.IntN(2)])
			mend = walls[i].Mend
		case "heart":
			mend = hearts[i].stop()
		case "stop":
			at(i).close()
			fresh := open(i)
			mu.Lock()
			nodes[i] = fresh
			mu.Unlock()
			long = 0
		}
		pause(ctx, long)
		mend()
		pause(ctx, 300*time.Millisecond)
	}
	clients.Wait()
	log := prompts(t.Context(), at(0))
	for _, id := range ids {
		h.Read(99, id, log)
	}
	all, known := h.Known()
	t.Logf("%d operations, %d with a known outcome, faults %v", all, known, faults)
	if known < 20 {
		t.Errorf("too little was answered to say anything")
	}
	h.Check(t, log)
}

// prompts reads sessions on a node.
func prompts(ctx context.Context, m *member) nodetest.Log {
	return func(id harness.SessionID) (all []nodetest.Prompt, err error) {
		for e, err := range m.Read(ctx, id, 0) {
			if err != nil {
				return nil, err
			}
			if p, ok := e.Payload.(*harness.UserMessage); ok {
				all = append(all, nodetest.Prompt{Key: p.ClientKey, Seq: e.Seq})
			}
		}
		return all, nil
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
