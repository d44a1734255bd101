package kernel_test

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"harness"
	"harness/kernel"
	"harness/store/memory"
)

// floor counts what runs, over all lives of a server.
type floor struct {
	mu      sync.Mutex
	running int
	most    int
	begun   []harness.SessionID // first attempts, in order
	tries   map[harness.SessionID]int
}

// work is an engine whose turns take a second.
func (f *floor) work(a *attempt) error {
	f.mu.Lock()
	f.running++
	f.most = max(f.most, f.running)
	if f.tries[a.turn.Session]++; f.tries[a.turn.Session] == 1 {
		f.begun = append(f.begun, a.turn.Session)
	}
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.running--
		f.mu.Unlock()
	}()
	select {
	case <-time.After(time.Second):
		return a.say("done")
	case <-a.ctx.Done():
		return a.ctx.Err()
	}
}

// Many sessions of several users on one server with eight places: all of them
// end, users take turns all the way, no more than eight have a goroutine at a
// time, and nothing is lost when the server is killed, twice.
func TestManyBackgroundSessionsEndInAFairOrderOverTwoCrashes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const users, slots = 10, 8
		n := 200
		if os.Getenv("LONG") != "" {
			n = 1000
		}
		opts := &kernel.Options{Concurrency: slots}
		f := &floor{tries: map[harness.SessionID]int{}}
		r := &rig{t: t, mem: memory.New()}
		r.bootWith(r.mem, &engine{f.work}, opts)
		owner := map[harness.SessionID]string{}
		for i := range n { // one user after the other
			user := fmt.Sprintf("user%d", i*users/n)
			owner[r.job(fmt.Sprintf("ses_%04d", i), user, "go", 2).id] = user
		}
		for range 2 {
			pass(time.Duration(n/slots/3) * time.Second)
			pass(500 * time.Millisecond)               // in the middle of eight turns
			if awake := r.k.Awake(); awake > 3*slots { // those that run, and those that ended within two seconds
				t.Errorf("%d sessions are awake", awake)
			}
			c := &rig{t: t, mem: r.mem.Clone()}
			old := r.k
			f.mu.Lock()
			f.running = 0 // they go on with the old store, and count for nothing
			f.mu.Unlock()
			before := f
			f = &floor{tries: before.tries, begun: before.begun, most: before.most}
			old.Close()
			c.bootWith(c.mem, &engine{f.work}, opts)
			if _, err := c.k.Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
			r = c
		}
		pass(time.Duration(n) * time.Second)
		ended := 0
		for sum, err := range r.k.List(t.Context(), harness.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			if sum.Status == harness.StatusCompleted && sum.User == owner[sum.Session] && sum.Attempts <= 3 {
				ended++
			} else {
				t.Errorf("%s of %s is %s after %d attempts", sum.Session, sum.User, sum.Status, sum.Attempts)
			}
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if ended != n || len(f.begun) != n || f.most > slots {
			t.Errorf("%d of %d ended, %d began, %d at a time", ended, n, len(f.begun), f.most)
		}
		total, since := map[string]int{}, map[string]int{}
		for i, id := range f.begun {
			total[owner[id]]++
			if i < slots { // the first took what was free before the others were there
				continue
			}
			since[owner[id]]++
			most, least := 0, n
			for u := range users {
				name := fmt.Sprintf("user%d", u)
				if total[name] < n/users { // it still waits
					most, least = max(most, since[name]), min(least, since[name])
				}
			}
			if most-least > 1+2*2 { // what a crash interrupted comes before what has not begun
				t.Fatalf("when %d had begun, one user had %d and another %d", i+1, most, least)
			}
		}
	})
}
