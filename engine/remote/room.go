//go:build unix

package remote

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"harness"
	"harness/custody"
)

// use is how a session's runner is used.
type use struct {
	turns int // that have it now
	last  time.Time
}

// enter takes note of a turn that has the session's runner, until leave is
// called.
func (r *runners) enter(s harness.SessionID) (leave func()) {
	change := func(by int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.uses[s] = use{r.uses[s].turns + by, time.Now()}
	}
	change(1)
	return func() { change(-1) }
}

// stopPatience is how long a runner with nothing to do may take to end; then it
// is killed.
const stopPatience = 2 * time.Second

// makeRoom ends runners that have nothing to do, the least recently used first,
// until there is room for one more. If all of them work there is none, and no
// turn is made to wait for it.
func (r *runners) makeRoom(ctx context.Context) {
	all, err := r.opts.Book.All()
	if err != nil {
		return // whoever starts one hears of it
	}
	all = slices.DeleteFunc(all, func(e custody.Entry) bool {
		return e.Role != custody.Runner || filepath.Dir(filepath.Dir(e.Socket)) != r.opts.Dir
	})
	r.byUse(all)
	for excess := len(all) + 1 - r.opts.Most; excess > 0 && len(all) > 0; all = all[1:] {
		if r.retire(ctx, all[0]) {
			excess--
			r.opts.Log.Info("runner ended to make room", "session", all[0].Session, "pid", all[0].PID)
		}
	}
}

// byUse sorts runners, the least recently used first, and forgets the use of
// those that are not among them.
func (r *runners) byUse(all []custody.Entry) {
	here := map[harness.SessionID]bool{}
	for _, e := range all {
		here[e.Session] = true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.uses, func(s harness.SessionID, u use) bool { return u.turns == 0 && !here[s] })
	slices.SortStableFunc(all, func(a, b custody.Entry) int { return r.uses[a.Session].last.Compare(r.uses[b.Session].last) })
}

// retire ends a runner if it has nothing to do and nobody is about to use it.
func (r *runners) retire(ctx context.Context, e custody.Entry) bool {
	mu := r.lock(e.Session)
	if !mu.TryLock() {
		return false
	}
	defer mu.Unlock()
	r.mu.Lock()
	turns := r.uses[e.Session].turns
	r.mu.Unlock()
	if turns > 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	if h, err := r.client(e.Session).Health(ctx); err == nil && h.Busy || custody.Terminate(e) != nil {
		return false
	}
	for e.Alive() && wait(ctx, 5*time.Millisecond) == nil {
	}
	if r.kill(context.WithoutCancel(ctx), e.Session) != nil {
		return false
	}
	_ = os.RemoveAll(r.dir(e.Session)) // the next start tidies up
	return true
}
