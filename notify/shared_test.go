package notify_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/notify"
	"harness/store/memory"
)

// TestServersShareTheHooksThatCallersMake: each server tells one hook of what
// happens on it, wherever the hook was made, until it is removed on any.
func TestServersShareTheHooksThatCallersMake(t *testing.T) {
	t.Parallel()
	depot := memory.NewDepot()
	opts := func() *notify.Options {
		return &notify.Options{Backoff: time.Millisecond, Private: true, Shared: depot}
	}
	early := newRig(t, memory.New(), t.TempDir(), &notify.Options{Private: true})
	in := receive(t, nil)
	if err := early.n.Add(in.hook("old")); err != nil {
		t.Fatal(err)
	}
	early.n.Close()
	a := newRig(t, memory.New(), early.dir, opts())
	b := newRig(t, memory.New(), t.TempDir(), opts())
	if err := a.n.Add(in.hook("new")); err != nil {
		t.Fatal(err)
	}
	if err := b.n.Add(in.hook("new")); !errors.Is(err, harness.ErrExists) {
		t.Errorf("a name that another server's hook has: %v", err)
	}
	names := func(r *rig) (all []string) {
		for _, h := range r.n.Hooks() {
			all = append(all, h.Name)
		}
		return all
	}
	waitFor(t, func() bool { return len(names(a)) == 2 && len(names(b)) == 2 })
	if err := b.n.Remove("old"); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return len(names(a)) == 1 && len(names(b)) == 1 })
	for _, r := range []*rig{a, b} {
		id := r.run(harness.NewSession{Kind: harness.Background}, "hello")
		if got := in.next(t); !strings.Contains(string(got.raw), string(id)) {
			t.Errorf("told %s, want something of %s", got.raw, id)
		}
		waitFor(t, func() bool { // the rest of its story
			for len(in.heard) > 0 {
				<-in.heard
			}
			return r.n.Waiting() == 0
		})
	}
	planted, _ := json.Marshal([]notify.Hook{in.hook("new"), {Name: "evil", Command: []string{"touch", "/tmp/x"}}})
	if _, err := depot.Deliver(t.Context(), harness.Delivery{Place: "hooks", At: harness.AnyVersion, Add: []harness.Parcel{{Name: "text", Content: planted}}}); err != nil {
		t.Fatal(err)
	}
	if n, err := notify.Open(a.k, t.TempDir(), nil, opts()); !errors.Is(err, harness.ErrCorrupt) {
		t.Errorf("a command that somebody has put there: %v, %v", n, err)
	}
}

// waitFor waits for something that nobody tells of.
func waitFor(t *testing.T, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for late := time.After(time.Minute); !cond(); {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("waited in vain")
		}
	}
}
