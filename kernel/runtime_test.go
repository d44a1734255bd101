package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/kernel"
	"harness/store/faulty"
	"harness/store/memory"
)

// chaos is the real kernel among random clients, engines and delays. It cannot
// be replayed, so it checks only what must always hold.
type chaos struct {
	t   *testing.T
	k   *kernel.Kernel
	mem *memory.Store
	ids []harness.SessionID

	mu  sync.Mutex // guards rng
	rng *rand.Rand
}

func (c *chaos) n(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rng.IntN(n)
}

func (c *chaos) nap(max time.Duration) { pass(time.Duration(c.n(int(max)))) }

func (c *chaos) engine(a *attempt) error {
	open := []harness.CallID{}
	for range c.n(30) {
		if a.ctx.Err() != nil && c.n(10) > 0 {
			return context.Cause(a.ctx)
		}
		c.nap(30 * time.Millisecond)
		switch c.n(8) {
		case 0, 1, 2:
			a.say(fmt.Sprint("w", c.n(100), " "))
		case 3:
			id := harness.CallID(fmt.Sprint("c", c.n(20)))
			open = append(open, id)
			a.host.Emit(a.ctx, &harness.ToolCall{ToolCallID: id, Name: "bash"})
			if _, err := a.host.Ask(a.ctx, harness.ToolUse{Call: id, Tool: "bash", Access: harness.AccessExecute}); err != nil && c.n(2) == 0 {
				return err
			}
		case 4:
			if len(open) > 0 {
				a.host.Emit(a.ctx, &harness.ToolOutcome{ToolCallID: open[c.n(len(open))], Status: harness.OutcomeOK})
			}
		case 5:
			a.host.Checkpoint(a.ctx, "ref")
		case 6:
			select {
			case w := <-a.host.Steering():
				a.say("heard " + harness.PlainText(harness.Spoken(w)))
			default:
			}
		case 7:
			if c.n(4) == 0 {
				return fmt.Errorf("broken: %w", harness.ErrRetry)
			}
		}
	}
	return nil
}

func (c *chaos) client() {
	for range 40 {
		c.nap(100 * time.Millisecond)
		id := c.ids[c.n(len(c.ids))]
		text := harness.TextPart(fmt.Sprint("p", c.n(1000)))
		decision := harness.Decision{Verdict: []harness.Verdict{harness.Allow, harness.Deny}[c.n(2)], Scope: []harness.Scope{harness.Once, harness.Once, harness.InSession}[c.n(3)]}
		cmd := []harness.Command{
			harness.Submit{Parts: text, OnBusy: []harness.OnBusy{harness.Reject, harness.Enqueue, harness.Interrupt}[c.n(3)], ClientKey: fmt.Sprint("k", c.n(100))},
			harness.Submit{Parts: text, OnBusy: harness.Enqueue},
			harness.Steer{Parts: text},
			harness.Answer{Call: harness.CallID(fmt.Sprint("c", c.n(20))), Decision: decision},
			harness.Answer{Call: harness.CallID(fmt.Sprint("c", c.n(20))), Decision: decision},
			harness.Cancel{},
			harness.Configure{Patch: harness.ConfigPatch{Model: new(fmt.Sprint("m", c.n(3)))}},
			harness.Pause{},
			harness.Resume{},
			harness.Resume{},
		}[c.n(10)]
		ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
		receipt, err := c.k.Do(ctx, id, cmd)
		cancel()
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			c.t.Errorf("%+v was never answered", cmd)
		case err == nil:
			c.durable(id, receipt)
		case harness.AsError(err) == harness.ErrInternal:
			c.t.Errorf("%+v: %v", cmd, err)
		}
	}
}

// durable: what a receipt names is in the log when the client has it.
func (c *chaos) durable(id harness.SessionID, receipt harness.Receipt) {
	end, found := harness.Seq(0), receipt.Item == ""
	for e := range c.mem.Read(context.Background(), id, 0) {
		end = e.Seq
		if u, ok := e.Payload.(*harness.UserMessage); ok && u.ItemID == receipt.Item {
			found = true
		}
	}
	if end < receipt.Seq || !found {
		c.t.Errorf("%s: acknowledged %+v, but the log ends at %d", id, receipt, end)
	}
}

func (c *chaos) watch(ctx context.Context, id harness.SessionID, out **harness.State) {
	var st *harness.State
	for ctx.Err() == nil {
		after := harness.Seq(0)
		if st != nil {
			after = st.Seq
		}
		for up, err := range c.k.Watch(ctx, id, after) {
			if err != nil {
				if ctx.Err() == nil && !errors.Is(err, harness.ErrStorage) {
					c.t.Errorf("watch %s: %v", id, err)
				}
				break
			}
			for i, e := range up.Events {
				if st.Seq+1+harness.Seq(i) != e.Seq {
					c.t.Errorf("watcher of %s at %d was shown %d", id, st.Seq, e.Seq)
				}
			}
			st = follow(st, up)
			c.nap(50 * time.Millisecond)
		}
	}
	*out = st
}

func (c *chaos) check(id harness.SessionID, seen *harness.State) {
	st, n := new(harness.State), harness.Seq(0)
	ends, outcomes, asked := map[harness.TurnID]int{}, map[string]int{}, map[harness.ApprovalID]int{}
	for e, err := range c.mem.Read(context.Background(), id, 0) {
		if n++; err != nil || e.Seq != n {
			c.t.Fatalf("%s: event %d at %d, %v", id, e.Seq, n, err)
		}
		if e.Turn != "" && ends[e.Turn] > 0 {
			c.t.Errorf("%s: event %d after the end of its turn", id, e.Seq)
		}
		switch p := e.Payload.(type) {
		case *harness.TurnEnd:
			ends[p.TurnID]++
		case *harness.ToolOutcome:
			if key := fmt.Sprint(e.Turn, p.ToolCallID); outcomes[key] > 0 {
				c.t.Errorf("%s: a second outcome of %s", id, key)
			} else {
				outcomes[key]++
			}
		case *harness.ApprovalApplied:
			if asked[p.RequestID]++; asked[p.RequestID] > 1 {
				c.t.Errorf("%s: %s decided twice", id, p.RequestID)
			}
		}
		st.Apply(e)
	}
	if st.Turn != nil || len(st.Pending) > 0 {
		c.t.Errorf("%s: at rest in turn %+v", id, st.Turn)
	}
	if got, want := whole(c.t, c.k, seen), whole(c.t, c.k, st); got != want {
		c.t.Errorf("a watcher of %s has\n%s\nthe log says\n%s", id, got, want)
	}
}

// whole is a state with its sealed messages.
func whole(t testing.TB, k *kernel.Kernel, st *harness.State) string {
	r := &rig{t: t, k: k, id: st.Session}
	all := fmt.Sprint(r.messages(st))
	st = st.Clone()
	st.Sealed, st.Messages = 0, nil
	return all + string(st.JSON())
}

// Random latencies, clients, engines, failing appends: every command is
// answered, nothing acknowledged is missing, and a watcher's state is the log's.
func TestTheRealKernelKeepsItsPromises(t *testing.T) {
	t.Parallel()
	rounds := 30
	if os.Getenv("LONG") != "" {
		rounds = 3000
	}
	for seed := range rounds {
		synctest.Test(t, func(t *testing.T) {
			c := &chaos{t: t, mem: memory.New(), rng: rand.New(rand.NewPCG(uint64(seed), 3))}
			var faults atomic.Bool
			faults.Store(seed%2 == 1)
			st := faulty.Wrap(c.mem, func(op faulty.Op) faulty.Fault {
				f := faulty.Fault{Wait: func(context.Context) error { c.nap(20 * time.Millisecond); return nil }}
				if faults.Load() && op.Method == faulty.Append && c.n(50) == 0 {
					if c.n(2) == 0 {
						f.Before = harness.ErrStorage
					} else {
						f.After = harness.ErrStorage
					}
				}
				return f
			})
			opts := &kernel.Options{
				Engine: "e", TailEvents: 8 + c.n(64), SnapshotEvery: 8 + c.n(64), IdleAfter: time.Duration(1+c.n(300)) * time.Millisecond,
				ApprovalTimeout: 200 * time.Millisecond, CancelGrace: 50 * time.Millisecond, MaxQueue: 4,
			}
			c.k = kernel.New(st, map[string]harness.Engine{"e": &engine{c.engine}}, opts)
			defer c.k.Close()
			for len(c.ids) < 3 {
				if id, err := c.k.Create(t.Context(), harness.NewSession{}); err == nil {
					c.ids = append(c.ids, id)
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			var watchers, clients sync.WaitGroup
			seen := make([]*harness.State, len(c.ids))
			for i, id := range c.ids {
				watchers.Go(func() { c.watch(ctx, id, &seen[i]) })
			}
			for range 4 {
				clients.Go(c.client)
			}
			clients.Wait()
			faults.Store(false)
			for _, id := range c.ids {
				c.k.Do(t.Context(), id, harness.Resume{})
			}
			pass(10 * time.Minute) // everything comes to rest
			cancel()
			watchers.Wait()
			if n := c.k.Awake(); n != 0 {
				t.Errorf("seed %d: %d sessions are awake at the end", seed, n)
			}
			for i, id := range c.ids {
				c.check(id, seen[i])
			}
		})
	}
}
