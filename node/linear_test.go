package node_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"harness"
	"harness/node"
	"harness/store/postgres/postgrestest"

	"github.com/anishathalye/porcupine"
)

// What clients do to a session, and what they were told. A prompt is known by its
// key; reading yields the keys in the order of the log.
type (
	asked struct {
		session harness.SessionID
		key     string // empty: a read
	}
	heard struct {
		unknown bool   // nobody was told whether it happened
		keys    string // each with its place
		seq     harness.Seq
	}
)

// sessionModel is a session as clients may think of it: a list that prompts are
// added to, each key once and behind all others, and that everybody reads as it
// is.
var sessionModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := map[harness.SessionID][]porcupine.Operation{}
		for _, op := range history {
			id := op.Input.(asked).session
			parts[id] = append(parts[id], op)
		}
		var all [][]porcupine.Operation
		for _, p := range parts {
			all = append(all, p)
		}
		return all
	},
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		keys, in, out := state.(string), input.(asked), output.(heard)
		if in.key == "" {
			return out.keys == keys, keys
		}
		last := harness.Seq(0)
		if i := strings.LastIndexByte(keys, '@'); i >= 0 {
			fmt.Sscanf(keys[i:], "@%d;", &last)
		}
		return out.seq > last, keys + entry(in.key, out.seq)
	},
	Equal: func(a, b any) bool { return a == b },
	DescribeOperation: func(input, output any) string {
		return fmt.Sprintf("%+v → %+v", input, output)
	},
}

func entry(key string, seq harness.Seq) string { return fmt.Sprintf("%s@%d;", key, seq) }

// history is what all clients did, by one clock.
type history struct {
	began time.Time

	mu  sync.Mutex // guards what follows
	ops []porcupine.Operation
}

func (h *history) do(client int, in asked, f func() (heard, error)) {
	call := int64(time.Since(h.began))
	out, err := f()
	back := int64(time.Since(h.began))
	if err != nil { // it may still happen, at any time to come
		out, back = heard{unknown: true}, 1<<62
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: in, Call: call, Output: out, Return: back})
}

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
	h := &history{began: time.Now()}
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
					h.do(c, asked{session: id}, func() (heard, error) { return read(one, m, id) })
				} else {
					cmd := submit(fmt.Sprintf("c%d.%d", c, n))
					cmd.ClientKey = fmt.Sprintf("c%d.%d", c, n)
					h.do(c, asked{id, cmd.ClientKey}, func() (heard, error) {
						r, err := m.Do(one, id, cmd)
						if err != nil { // and once more, elsewhere
							r, err = at(rng.IntN(3)).Do(one, id, cmd)
						}
						return heard{seq: r.Seq}, err
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
	for _, id := range ids {
		h.do(99, asked{session: id}, func() (heard, error) { return read(t.Context(), at(0), id) })
	}
	known := 0
	for _, op := range h.ops {
		if !op.Output.(heard).unknown {
			known++
		}
	}
	t.Logf("%d operations, %d with a known outcome, faults %v", len(h.ops), known, faults)
	if known < 20 {
		t.Errorf("too little was answered to say anything")
	}
	h.settle(t, at(0))
	if result := porcupine.CheckOperationsTimeout(sessionModel, h.ops, time.Minute); result != porcupine.Ok {
		t.Errorf("the history is %s", result)
	}
}

// read is the keys of a session's prompts as its log has them.
func read(ctx context.Context, m *member, id harness.SessionID) (heard, error) {
	var out heard
	for e, err := range m.Read(ctx, id, 0) {
		if err != nil {
			return out, err
		}
		if p, ok := e.Payload.(*harness.UserMessage); ok {
			out.keys += entry(p.ClientKey, e.Seq)
		}
	}
	return out, nil
}

// settle finds out from the logs what became of prompts that nobody was told
// about; what never happened is no part of the history. It checks that no prompt
// is there twice.
func (h *history) settle(t *testing.T, m *member) {
	t.Helper()
	where := map[harness.SessionID]map[string][]harness.Seq{}
	h.ops = slices.DeleteFunc(h.ops, func(op porcupine.Operation) bool {
		in, out := op.Input.(asked), op.Output.(heard)
		if where[in.session] == nil {
			where[in.session] = map[string][]harness.Seq{}
			for _, e := range m.log(in.session) {
				if p, ok := e.Payload.(*harness.UserMessage); ok {
					where[in.session][p.ClientKey] = append(where[in.session][p.ClientKey], e.Seq)
				}
			}
		}
		at := where[in.session][in.key]
		if len(at) > 1 {
			t.Errorf("%s is in the log %d times", in.key, len(at))
		}
		return out.unknown && len(at) == 0
	})
	for i, op := range h.ops {
		in, out := op.Input.(asked), op.Output.(heard)
		if out.unknown {
			out.seq = where[in.session][in.key][0]
			h.ops[i].Output = out
		}
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

// TestTheCheckerBites gives the model histories that no session has.
func TestTheCheckerBites(t *testing.T) {
	t.Parallel()
	add := func(key string, seq harness.Seq, call, back int64) porcupine.Operation {
		return porcupine.Operation{Input: asked{"s", key}, Output: heard{seq: seq}, Call: call, Return: back}
	}
	see := func(keys string, call, back int64) porcupine.Operation {
		return porcupine.Operation{ClientId: 1, Input: asked{session: "s"}, Output: heard{keys: keys}, Call: call, Return: back}
	}
	for what, c := range map[string]struct {
		ops  []porcupine.Operation
		want bool
	}{
		"one after the other":       {[]porcupine.Operation{add("a", 2, 0, 1), see("a@2;", 2, 3), add("b", 5, 4, 5), see("a@2;b@5;", 6, 7)}, true},
		"seen before it was told":   {[]porcupine.Operation{add("a", 2, 0, 9), see("a@2;", 2, 3)}, true},
		"acknowledged and lost":     {[]porcupine.Operation{add("a", 2, 0, 1), see("", 2, 3)}, false},
		"seen and taken back":       {[]porcupine.Operation{add("a", 2, 0, 9), see("a@2;", 2, 3), see("", 4, 5)}, false},
		"a place that was taken":    {[]porcupine.Operation{add("a", 2, 0, 1), add("b", 2, 2, 3)}, false},
		"in another order than now": {[]porcupine.Operation{add("a", 5, 0, 1), add("b", 2, 2, 3)}, false},
	} {
		if got := porcupine.CheckOperations(sessionModel, c.ops); got != c.want {
			t.Errorf("%s: linearizable is %t", what, got)
		}
	}
}
