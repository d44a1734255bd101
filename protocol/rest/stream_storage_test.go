package rest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"harness"
	"harness/kernel"
	"harness/store/faulty"
	"harness/store/memory"
)

// ailing is a store one method of which fails while a test says so.
type ailing struct {
	mu     sync.Mutex // guards the fields below
	method faulty.Method
	fault  faulty.Fault
}

func (a *ailing) plan(op faulty.Op) faulty.Fault {
	a.mu.Lock()
	defer a.mu.Unlock()
	if op.Method == a.method {
		return a.fault
	}
	return faulty.Fault{}
}

func (a *ailing) set(m faulty.Method, f faulty.Fault) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.method, a.fault = m, f
}

func (a *ailing) heal() { a.set(faulty.Append, faulty.Fault{}) }

// A store that fails in the middle of a turn, with the commit landed or not:
// streams wait, and then every event comes once.
func TestStreamsOutliveAStoreThatFails(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]faulty.Fault{"not landed": {Before: harness.ErrStorage}, "landed": {After: harness.ErrStorage}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := new(ailing)
			h := build(t, faulty.Wrap(memory.New(), st.plan), "say one\ngate fail\nsay two\ncall t => r\nsay three\n", kernel.Options{Window: -1}, feedOptions{Retry: 5 * time.Millisecond})
			t.Cleanup(st.heal)
			id := h.create("")
			all := []*listener{h.listen(string(id)), h.listen(string(id) + "?tier=default")}
			h.submit(id, "hi")
			got := [][]heard{all[0].until("token"), all[1].until("token")}
			st.set(faulty.Append, fault)
			h.engine.Open("fail")
			eventually(t, "the session died", func() bool { return h.k.Awake() == 0 })
			all, got = append(all, h.listen(string(id))), append(got, nil)
			st.heal()
			eventually(t, "it takes a prompt again", func() bool {
				_, err := h.k.Do(t.Context(), id, harness.Submit{Parts: harness.TextPart("again"), Source: harness.FromTurn, OnBusy: harness.Enqueue})
				return err == nil
			})
			eventually(t, "both turns end", func() bool { return len(h.log(id, kindBits["turn_end"])) >= 2 })
			h.asleep()
			for i, l := range all {
				want := h.log(id, []filter{everything, tierBits[harness.Default], everything}[i])
				for len(got[i]) < len(want) {
					got[i] = append(got[i], l.must())
				}
				same(t, fmt.Sprint("stream ", i), got[i], want)
			}
		})
	}
}

// Who cannot be read to is told and comes back; who needs nothing read notices
// nothing.
func TestAStreamThatCannotBeReadToEndsAndComesBack(t *testing.T) {
	t.Parallel()
	st := new(ailing)
	h := build(t, faulty.Wrap(memory.New(), st.plan), "echo", kernel.Options{IdleAfter: time.Minute}, feedOptions{})
	t.Cleanup(st.heal)
	id := h.create("")
	there := h.listen(string(id))
	h.submit(id, "hi")
	there.until("turn_end")
	st.set(faulty.Read, faulty.Fault{Before: fmt.Errorf("disk 7: %w", harness.ErrStorage)})
	l := h.listen(string(id))
	got := l.rest()
	if len(got) != 1 || got[0].name != "error" || got[0].id != "" || !strings.Contains(got[0].data, `"code":"storage"`) || strings.Contains(got[0].data, "disk 7") {
		t.Fatalf("told %v", got)
	}
	h.submit(id, "more")
	there.until("turn_end")
	st.heal()
	all := h.log(id, everything)
	back := h.listen(string(id))
	for i := range all {
		same(t, "after all", []heard{back.must()}, all[i:i+1])
	}
}
