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
	"harness/engine/script"
	"harness/kernel"
	"harness/node"
	"harness/store/postgres"
	"harness/store/postgres/postgrestest"
)

// quiet keeps sessions awake for so long.
func quiet(d time.Duration) kernel.Options { return kernel.Options{IdleAfter: d} }

const patience = time.Minute // longer than anything takes that works, also where a lease is too short for the machine

// member is a node with a kernel, on a store of its own.
type member struct {
	*kernel.Kernel
	t      testing.TB
	name   string
	node   *node.Node
	store  *postgres.Store
	engine *script.Engine

	closing sync.Once
}

// setting is how a member is made; the zero value works.
type setting struct {
	script string        // what turns play; "echo" if it is empty
	lease  time.Duration // 1 s if it is 0
	wrap   func(node.Shared) node.Shared
	opts   kernel.Options
}

// join starts a node on the database that url names.
func join(t testing.TB, url, name string, s setting) *member {
	t.Helper()
	if s.script == "" {
		s.script = "echo"
	}
	if s.lease == 0 {
		s.lease = time.Second
	}
	src, err := script.Parse(s.script)
	if err != nil {
		t.Fatal(err)
	}
	st, err := postgres.Open(t.Context(), url, &postgres.Options{Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	m := &member{t: t, name: name, store: st, engine: script.New(src, nil)}
	shared := node.Shared(st)
	if s.wrap != nil {
		shared = s.wrap(shared)
	}
	m.node = node.New(shared, &node.Options{Lease: s.lease})
	s.opts.Engine, s.opts.Cluster = "e", m.node
	if s.opts.TailEvents == 0 {
		s.opts.TailEvents = 1 << 16 // a busy machine may be behind by seconds
	}
	if s.opts.IdleAfter == 0 {
		s.opts.IdleAfter = 100 * time.Millisecond
	}
	m.Kernel = kernel.New(st, map[string]harness.Engine{"e": m.engine}, &s.opts)
	if err := m.node.Start(t.Context(), m.Kernel); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.close)
	return m
}

// close ends the node as a server that stops does.
func (m *member) close() {
	m.closing.Do(func() {
		m.Kernel.Close()
		if err := m.node.Close(); err != nil && !errors.Is(err, harness.ErrStorage) {
			m.t.Error(err)
		}
		m.store.Close()
	})
}

// cluster is nodes a, b, c, … with the same setting.
func cluster(t testing.TB, n int, s setting) []*member {
	t.Helper()
	url := postgrestest.Start(t).URL(t)
	var all []*member
	for i := range n {
		all = append(all, join(t, url, string(rune('a'+i)), s))
	}
	return all
}

func (m *member) create(n harness.NewSession) harness.SessionID {
	m.t.Helper()
	id, err := m.Create(m.t.Context(), n)
	if err != nil {
		m.t.Fatal(err)
	}
	return id
}

func (m *member) do(id harness.SessionID, cmd harness.Command) harness.Receipt {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	for {
		r, err := m.Do(ctx, id, cmd)
		switch {
		case err == nil:
			return r
		case errors.Is(err, harness.ErrStorage), errors.Is(err, harness.ErrUnavailable): // the outcome is unknown, so a client says it again
			if ctx.Err() == nil {
				continue
			}
		}
		m.t.Fatalf("%s: %T: %v", m.name, cmd, err)
	}
}

// submit is a prompt that takes effect once however often it is sent.
func submit(text string) harness.Submit {
	return harness.Submit{Parts: harness.TextPart(text), OnBusy: harness.Enqueue, ClientKey: "key of " + text}
}

// watching is a watcher of a session that keeps the log as it is told.
type watching struct {
	t    testing.TB
	name string
	end  func()

	mu     sync.Mutex // guards what follows
	events []harness.Event
	state  *harness.State // the last
	states int
	err    error
	more   chan struct{}
}

// watch follows a session on a node until the test ends, after a position.
func (m *member) watch(id harness.SessionID, after harness.Seq) *watching {
	m.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(m.t.Context()))
	w := &watching{t: m.t, name: m.name, more: make(chan struct{})}
	var wg sync.WaitGroup
	w.end = func() {
		cancel()
		wg.Wait()
	}
	wg.Go(func() {
		for up, err := range m.Watch(ctx, id, after) {
			if up.State != nil { // it says where the log is; what was skipped is read, as protocols do
				up.Events = m.between(ctx, id, after, up.State.Seq)
				after = max(after, up.State.Seq)
			} else if n := len(up.Events); n > 0 {
				after = up.Events[n-1].Seq
			}
			w.take(up, err)
		}
	})
	m.t.Cleanup(w.end)
	return w
}

// between is the log behind a position, up to another.
func (m *member) between(ctx context.Context, id harness.SessionID, after, end harness.Seq) (events []harness.Event) {
	for e, err := range m.Read(ctx, id, after) {
		if err != nil || e.Seq > end {
			break
		}
		events = append(events, e)
	}
	return events
}

func (w *watching) take(up harness.Update, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if up.State != nil {
		w.state = up.State
		w.states++
	}
	w.events = append(w.events, up.Events...)
	w.err = errors.Join(w.err, err)
	close(w.more)
	w.more = make(chan struct{})
}

// until waits until what was told satisfies a condition.
func (w *watching) until(what string, cond func(events []harness.Event) bool) {
	w.t.Helper()
	late := time.After(patience)
	for {
		w.mu.Lock()
		done, more, err := cond(w.events), w.more, w.err
		said := tell(w.events)
		w.mu.Unlock()
		switch {
		case done:
			return
		case err != nil:
			w.t.Fatalf("watching on %s for %s: %v", w.name, what, err)
		}
		select {
		case <-more:
		case <-late:
			w.t.Fatalf("watching on %s for %s: it does not come. So far:\n%s", w.name, what, said)
		}
	}
}

// has reports whether there is an event of a type at least n times.
func has[P harness.Payload](n int) func([]harness.Event) bool {
	return func(events []harness.Event) bool { return count[P](events) >= n }
}

func count[P harness.Payload](events []harness.Event) (n int) {
	for _, e := range events {
		if _, ok := e.Payload.(P); ok {
			n++
		}
	}
	return n
}

// dense checks that a watcher that began after a position was told every event
// once and in order, and never a state instead.
func (w *watching) dense(after harness.Seq) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, e := range w.events {
		if want := after + 1 + harness.Seq(i); e.Seq != want {
			w.t.Fatalf("on %s event %d came where %d belongs", w.name, e.Seq, want)
		}
	}
	if w.states > 0 {
		w.t.Errorf("on %s a state came where events belong", w.name)
	}
}

// log is a session's log as the store has it.
func (m *member) log(id harness.SessionID) []harness.Event {
	m.t.Helper()
	var all []harness.Event
	for e, err := range m.Read(m.t.Context(), id, 0) {
		if err != nil {
			m.t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// eventually waits until a condition on a session's log holds.
func (m *member) eventually(id harness.SessionID, what string, cond func([]harness.Event) bool) []harness.Event {
	m.t.Helper()
	late := time.After(patience)
	for every := time.NewTicker(5 * time.Millisecond); ; {
		events := m.log(id)
		if cond(events) {
			every.Stop()
			return events
		}
		select {
		case <-every.C:
		case <-late:
			m.t.Fatalf("%s: not yet in\n%s", what, tell(events))
		}
	}
}

func tell(events []harness.Event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%d %s\n", e.Seq, e.Payload.Type())
	}
	return b.String()
}
