package node_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"harness"
	"harness/node"
	"harness/store/postgres/postgrestest"
)

// longScript is a turn that talks for longer than any test needs, and asks first
// if it is told to.
const longScript = "when ask\nask bash {\"command\":\"x\"} => ran\nelse when long\nsay begun\nstream 100000 2ms word\nelse\necho\nend"

// TestANodeThatIsCutOffIsReplaced cuts the owner of a running turn off from its
// database: in both directions, so that it hears nothing, and in one, so that
// what it says arrives and it does not know.
func TestANodeThatIsCutOffIsReplaced(t *testing.T) {
	t.Parallel()
	for name, way := range map[string]postgrestest.Way{"BothWays": postgrestest.BothWays, "NothingArrives": postgrestest.ToDatabase, "NothingComesBack": postgrestest.FromDatabase} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := postgrestest.Start(t).URL(t)
			wall := postgrestest.NewWall(t, url)
			a, b := join(t, wall.URL, "a", setting{script: longScript}), join(t, url, "b", setting{script: longScript})
			id, asked := b.create(harness.NewSession{}), b.create(harness.NewSession{})
			there, question := b.watch(id, 1), b.watch(asked, 1)
			a.do(id, submit("long"))
			a.do(asked, submit("ask"))
			there.until("words", has[*harness.Token](3))
			question.until("the question", has[*harness.ApprovalRequired](1))
			wall.Cut(way)
			cut := time.Now()
			there.until("the end of the turn that nobody runs", has[*harness.TurnEnd](1))
			t.Logf("taken over %v after the cut", time.Since(cut).Round(time.Millisecond))
			awaken(t, a, 0) // what it ran has ended, though it cannot say so
			st, err := b.At(t.Context(), asked, 0)
			if err != nil || len(st.Pending) != 1 {
				t.Fatalf("the question is %+v, %v", st.Pending, err)
			}
			b.do(asked, harness.Answer{Approval: st.Pending[0].ID, Decision: harness.Decision{Verdict: harness.Allow}})
			question.until("the end of the turn that was asked for", has[*harness.TurnEnd](1))
			b.do(id, submit("hello"))
			wall.Mend()
			here := a.watch(id, 1)
			here.until("everything", has[*harness.TurnEnd](2))
			here.dense(1)
			there.dense(1)
			question.dense(1)
			a.do(id, submit("and hello from a"))
			there.until("a turn of the node that was away", has[*harness.TurnEnd](3))
			once(t, b.log(id), "long", "hello", "and hello from a")
		})
	}
}

// once checks that each of these prompts is in a log exactly once, and that each
// turn has one end.
func once(t *testing.T, events []harness.Event, prompts ...string) {
	t.Helper()
	said, starts, ends := map[string]int{}, map[harness.TurnID]int{}, map[harness.TurnID]int{}
	for _, e := range events {
		switch p := e.Payload.(type) {
		case *harness.UserMessage:
			said[p.Parts[0].Text]++
		case *harness.TurnStart:
			starts[p.TurnID]++
		case *harness.TurnEnd:
			ends[p.TurnID]++
		}
	}
	for _, p := range prompts {
		if said[p] != 1 {
			t.Errorf("%q is there %d times", p, said[p])
		}
	}
	for turn := range starts {
		if ends[turn] != 1 {
			t.Errorf("turn %s has %d ends", turn, ends[turn])
		}
	}
	if len(said) != len(prompts) {
		t.Errorf("%d prompts are there, %d were sent", len(said), len(prompts))
	}
}

// paused is a store that stops at some calls, as a process does that is stopped.
type paused struct {
	node.Shared
	mu   sync.Mutex
	gate chan struct{} // nil: go on
}

func (p *paused) stop() (goOn func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gate = make(chan struct{})
	return sync.OnceFunc(func() { close(p.gate) })
}

func (p *paused) Beat(ctx context.Context, owner string) error {
	p.mu.Lock()
	gate := p.gate
	p.mu.Unlock()
	if gate != nil {
		<-gate // whatever ctx says: a process that is stopped does not look at it
	}
	return p.Shared.Beat(ctx, owner)
}

// TestANodeWhoseHeartStopsStepsDown takes a node's heartbeat away, and nothing
// else: it must not go on as if nothing were.
func TestANodeWhoseHeartStopsStepsDown(t *testing.T) {
	t.Parallel()
	url := postgrestest.Start(t).URL(t)
	p := &paused{}
	a := join(t, url, "a", setting{script: longScript, wrap: func(st node.Shared) node.Shared { p.Shared = st; return p }})
	b := join(t, url, "b", setting{script: longScript})
	id := a.create(harness.NewSession{})
	here, there := a.watch(id, 1), b.watch(id, 1)
	a.do(id, submit("long"))
	there.until("words", has[*harness.Token](3))
	goOn := p.stop()
	defer goOn()
	there.until("the end of the turn", has[*harness.TurnEnd](1))
	awaken(t, a, 0)
	b.do(id, submit("hello"))
	here.until("both turns, on the node that had lost them", has[*harness.TurnEnd](2))
	goOn()
	a.do(id, submit("again"))
	there.until("a third", has[*harness.TurnEnd](3))
	here.until("a third", has[*harness.TurnEnd](3))
	here.dense(1)
	there.dense(1)
	once(t, b.log(id), "long", "hello", "again")
}

// TestADrainHandsSessionsOver stops a node as SIGTERM does: what it cannot end
// goes on elsewhere at once, long before its lease is over.
func TestADrainHandsSessionsOver(t *testing.T) {
	t.Parallel()
	url := postgrestest.Start(t).URL(t)
	s := setting{script: longScript, lease: time.Hour}
	a, b := join(t, url, "a", s), join(t, url, "b", s)
	long, asks, idle := a.create(harness.NewSession{}), a.create(harness.NewSession{}), a.create(harness.NewSession{})
	talk, question := b.watch(long, 1), b.watch(asks, 1)
	a.do(long, submit("long"))
	a.do(asks, submit("ask"))
	a.do(idle, submit("hello"))
	talk.until("words", has[*harness.Token](3))
	question.until("a question", has[*harness.ApprovalRequired](1))
	queued := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	a.Drain(ctx) // it cannot: the turn is long
	go func() {
		_, err := b.Do(t.Context(), long, submit("for the next owner"))
		queued <- err
	}()
	a.close()
	if err := <-queued; err != nil {
		t.Errorf("a prompt for a node that stops: %v", err)
	}
	talk.until("both ends", has[*harness.TurnEnd](2))
	st, err := b.At(t.Context(), asks, 0)
	if err != nil || len(st.Pending) != 1 {
		t.Fatalf("the question is %+v, %v", st.Pending, err)
	}
	b.do(asks, harness.Answer{Approval: st.Pending[0].ID, Decision: harness.Decision{Verdict: harness.Deny}})
	question.until("its end", has[*harness.TurnEnd](1))
	b.do(idle, submit("again"))
	b.eventually(idle, "the turn", has[*harness.TurnEnd](2))
	talk.dense(1)
	once(t, b.log(long), "long", "for the next owner")
}

// TestOfManyNodesOneRunsASession has all nodes want the same sessions at once.
func TestOfManyNodesOneRunsASession(t *testing.T) {
	t.Parallel()
	nodes := cluster(t, 4, setting{})
	for round := range 8 {
		id := nodes[0].create(harness.NewSession{})
		var wg sync.WaitGroup
		var prompts []string
		for i, n := range nodes {
			prompt := fmt.Sprintf("round %d from %s", round, n.name)
			prompts = append(prompts, prompt)
			wg.Go(func() {
				cmd := submit(prompt)
				first, again := n.do(id, cmd), nodes[(i+1)%len(nodes)].do(id, cmd)
				if first.Seq != again.Seq || first.Item != again.Item {
					t.Errorf("the same key twice: %+v and %+v", first, again)
				}
			})
		}
		wg.Wait()
		once(t, nodes[0].eventually(id, "all turns", has[*harness.TurnEnd](len(nodes))), prompts...)
	}
}

// TestTheDatabasesClockDecides gives the database a clock that is a day off.
func TestTheDatabasesClockDecides(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	for _, off := range []string{"1 day", "-1 day"} {
		t.Run(strings.ReplaceAll(off, " ", ""), func(t *testing.T) {
			t.Parallel()
			url := server.URL(t)
			server.Exec(t, url, "CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$ SELECT pg_catalog.clock_timestamp() + interval '"+off+"' $$")
			skewed := url + ",pg_catalog" // so that the schema's own functions come first
			wall := postgrestest.NewWall(t, skewed)
			a, b := join(t, wall.URL, "a", setting{script: longScript}), join(t, skewed, "b", setting{script: longScript})
			id := a.create(harness.NewSession{})
			there := b.watch(id, 1)
			a.do(id, submit("long"))
			there.until("words", has[*harness.Token](80)) // longer than a lease
			if n := count[*harness.TurnEnd](b.log(id)); n != 0 {
				t.Fatalf("taken over while its owner lives")
			}
			wall.Cut(postgrestest.BothWays)
			there.until("the end", has[*harness.TurnEnd](1))
			there.dense(1)
			wall.Mend()
		})
	}
}

// TestAClockThatIsSetBackKeepsNoDeadOwnerAlive sets the database's clock back by a
// day when an owner has just gone.
func TestAClockThatIsSetBackKeepsNoDeadOwnerAlive(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	url := server.URL(t)
	server.Exec(t, url, "CREATE TABLE skew AS SELECT interval '0' AS by")
	server.Exec(t, url, "CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$ SELECT pg_catalog.clock_timestamp() + by FROM skew $$")
	skewed := url + ",pg_catalog"
	wall := postgrestest.NewWall(t, skewed)
	a, b := join(t, wall.URL, "a", setting{script: longScript}), join(t, skewed, "b", setting{script: longScript})
	id := a.create(harness.NewSession{})
	there := b.watch(id, 1)
	a.do(id, submit("long"))
	there.until("words", has[*harness.Token](1))
	wall.Cut(postgrestest.BothWays)
	server.Exec(t, url, "UPDATE skew SET by = interval '-1 day'")
	there.until("the end", has[*harness.TurnEnd](1))
	there.dense(1)
	wall.Mend()
}

// TestAnOrderWaitsForTheNextOwner sends a command while nobody can answer it.
func TestAnOrderWaitsForTheNextOwner(t *testing.T) {
	t.Parallel()
	url := postgrestest.Start(t).URL(t)
	wall := postgrestest.NewWall(t, url)
	a, b := join(t, wall.URL, "a", setting{script: longScript}), join(t, url, "b", setting{script: longScript})
	id := a.create(harness.NewSession{})
	a.do(id, submit("long"))
	b.eventually(id, "words", has[*harness.Token](1))
	wall.Cut(postgrestest.BothWays)
	cmd := submit("later")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := b.Do(ctx, id, cmd); !errors.Is(err, context.DeadlineExceeded) {
		t.Logf("a command that nobody can answer: %v", err)
	}
	r := b.do(id, cmd) // whichever of the two it was
	events := b.eventually(id, "both turns", has[*harness.TurnEnd](2))
	once(t, events, "long", "later")
	if again := b.do(id, cmd); again.Item != r.Item {
		t.Errorf("the same key answers %+v and %+v", r, again)
	}
	wall.Mend()
}
