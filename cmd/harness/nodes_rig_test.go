package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"harness/store/postgres/postgrestest"
)

// startNodes runs real servers on one database, all with the same script.
func startNodes(t testing.TB, url, script string, n int, args ...string) []*process {
	t.Helper()
	file := filepath.Join(t.TempDir(), "play.script")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	nodes := make([]*process, n)
	for i := range nodes {
		nodes[i] = startNode(t, url, file, args...)
	}
	return nodes
}

// startNode runs one.
func startNode(t testing.TB, url, file string, args ...string) *process {
	t.Helper()
	return start(t, append([]string{"--store", url, "--engine", "script:" + file, "--idle-after", "100ms"}, args...)...)
}

// schema is one of its own on the one server of this binary.
func schema(t testing.TB) string {
	t.Helper()
	return postgrestest.Start(t).URL(t)
}

// follower is a client of event streams that trusts only what it is told, and
// comes back where it was, on whichever node it is sent to.
type follower struct {
	t       testing.TB
	session string
	end     context.CancelFunc
	wg      sync.WaitGroup

	mu     sync.Mutex // guards what follows
	at     *process
	events []event
	more   chan struct{}
	moves  context.CancelFunc // ends the stream that is open
}

// follow opens the stream of a session from its beginning, and again whenever it
// ends, until the test does.
func (p *process) follow(session string) *follower {
	ctx, end := context.WithCancel(context.WithoutCancel(p.t.Context()))
	f := &follower{t: p.t, session: session, end: end, at: p, more: make(chan struct{})}
	f.wg.Go(func() {
		for ctx.Err() == nil {
			f.stream(ctx)
		}
	})
	p.t.Cleanup(func() {
		end()
		f.wg.Wait()
	})
	return f
}

// move sends the follower to another node.
func (f *follower) move(to *process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = to
	if f.moves != nil {
		f.moves()
	}
}

func (f *follower) stream(ctx context.Context) {
	f.mu.Lock()
	ctx, f.moves = context.WithCancel(ctx)
	at, last := f.at, len(f.events)
	f.mu.Unlock()
	req, err := http.NewRequestWithContext(ctx, "GET", at.http+"/sessions/"+f.session+"/events/stream", nil)
	if err != nil {
		f.t.Error(err)
		return
	}
	req.Header = at.bearer(http.Header{"Accept": {"text/event-stream"}, "Last-Event-ID": {fmt.Sprint(last)}})
	r, err := http.DefaultClient.Do(req)
	if err == nil && r.StatusCode != http.StatusOK {
		r.Body.Close()
		err = errors.New(r.Status)
	}
	if err != nil { // it is down, or out of reach of its database
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
		}
		return
	}
	defer r.Body.Close()
	for lines := bufio.NewReader(r.Body); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		if e, ok := streamedEvent(f.t, line); ok && !f.take(e) {
			return
		}
	}
}

// take checks that an event is the next one.
func (f *follower) take(e event) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Type == "session" { // the hello is not of the log
		return true
	}
	if want := uint64(len(f.events) + 1); e.Seq != want {
		f.t.Errorf("event %d of %s came where %d belongs", e.Seq, f.session, want)
		return false
	}
	f.events = append(f.events, e)
	close(f.more)
	f.more = make(chan struct{})
	return true
}

// until waits for an event, from the first on.
func (f *follower) until(what string, cond func(event) bool) (found event) {
	f.t.Helper()
	late := time.After(patience)
	for i := 0; ; {
		f.mu.Lock()
		fresh, more := f.events[i:], f.more
		i = len(f.events)
		f.mu.Unlock()
		for _, e := range fresh {
			if cond(e) {
				return e
			}
		}
		select {
		case <-more:
		case <-late:
			f.t.Fatalf("%s: not in %d events; a node says\n%s", what, i, f.at.errors())
		}
	}
}

// kind is a condition on an event.
func kind(k string) func(event) bool { return func(e event) bool { return e.Type == k } }

// nth is a condition that the n-th event of a kind satisfies.
func nth(n int, k string) func(event) bool {
	return func(e event) bool {
		if e.Type == k {
			n--
		}
		return n == 0
	}
}

// told is everything so far.
func (f *follower) told() []event {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]event(nil), f.events...)
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	late := time.After(patience)
	for every := time.NewTicker(10 * time.Millisecond); !cond(); {
		select {
		case <-every.C:
		case <-late:
			t.Fatalf("%s: not after %v", what, patience)
		}
	}
}
