package protocoltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"harness"
	"harness/engine/script"
	"harness/kernel"
	"harness/protocol/delta"
	"harness/protocol/rest"
	"harness/store/memory"
)

// patience bounds every wait of a story.
const patience = 20 * time.Second

// stage is the server that a story is played on, and its clients.
type stage struct {
	t       testing.TB
	at      string // the line being played
	script  *script.Script
	store   *memory.Store
	ids     ids
	engine  *script.Engine
	kernel  *kernel.Kernel
	hub     *delta.Hub
	web     *httptest.Server // of hub
	rest    *rest.Server
	http    *httptest.Server // of rest
	clients []*client
	sse     *follower
	session harness.SessionID
	yard    *workplace                      // nil: the story has no files
	answers []string                        // to calls over HTTP and JSON-RPC
	states  map[harness.Seq]json.RawMessage // those that its clients had, by position
}

func newStage(t *testing.T, src, files string) *stage {
	t.Helper()
	s, err := script.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	w := &stage{t: t, script: s, store: memory.New(), states: map[harness.Seq]json.RawMessage{}}
	if files != "" {
		w.files(files)
	}
	w.start()
	t.Cleanup(w.stop)
	return w
}

// ids counts identifiers.
type ids struct {
	mu sync.Mutex // guards n
	n  map[string]int
}

func (i *ids) next(prefix string) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.n == nil {
		i.n = make(map[string]int)
	}
	i.n[prefix]++
	return fmt.Sprintf("%s%d", prefix, i.n[prefix])
}

func (w *stage) start() {
	w.engine = script.New(w.script, nil)
	// A story's commits and frames must not depend on how fast it is played:
	// nothing waits for company.
	dir := "/workspace"
	if w.yard != nil {
		dir = w.yard.dir
	}
	w.kernel = kernel.New(w.store, map[string]harness.Engine{"script": w.engine}, &kernel.Options{
		Engine: "script", Directory: dir, Window: -1, IdleAfter: time.Minute, NewID: w.ids.next, Files: w.yard.rewinder,
	})
	hub, err := delta.New(w.kernel, &delta.Options{Window: -1, NewID: w.ids.next})
	if err != nil {
		w.t.Fatal(err)
	}
	w.hub = hub
	if w.rest, err = rest.New(w.kernel, nil); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.kernel.Recover(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	w.web, w.http = httptest.NewServer(hub), httptest.NewServer(w.rest)
}

func (w *stage) stop() {
	for _, c := range w.clients {
		c.leave()
	}
	w.unfollow()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	w.hub.Shutdown(ctx)
	w.rest.Shutdown(ctx)
	w.web.Close()
	w.http.Close()
	w.kernel.Close()
}

// restart ends everything at once and starts again on what was durable at this
// moment.
func (w *stage) restart() {
	w.unfollow() // what it was told was durable
	durable := w.store.Clone()
	w.stop()
	w.store = durable
	end := harness.Seq(len(w.events()))
	maps.DeleteFunc(w.states, func(seq harness.Seq, _ json.RawMessage) bool { return seq > end })
	w.start()
}

// note keeps a state of the story's session.
func (w *stage) note(seq harness.Seq, state json.RawMessage) {
	if seq > 0 {
		w.states[seq] = state
	}
}

func (w *stage) fatalf(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("%s: %s", w.at, fmt.Sprintf(format, args...))
}

// act plays one line.
func (w *stage) act(line string) {
	w.t.Helper()
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "connect":
		name, query, _ := strings.Cut(rest, " ")
		w.connect(name, query)
	case "open":
		w.engine.Open(rest)
	case "restart":
		w.restart()
	case "write":
		w.yard.write(rest)
	case "sh":
		w.yard.sh(rest)
	case "has":
		w.yard.has(rest)
	case "http":
		w.overHTTP(rest)
	case "rpc":
		w.call(rest)
	default:
		verb, text, _ := strings.Cut(rest, " ")
		w.client(word).act(verb, text)
	}
}

func (w *stage) client(name string) *client {
	for i := len(w.clients) - 1; i >= 0; i-- {
		if w.clients[i].name == name {
			return w.clients[i]
		}
	}
	w.fatalf("nobody is called %q", name)
	return nil
}

// events is the log of the session that the story's clients saw last; none if
// it has not begun.
func (w *stage) events() (log []harness.Event) {
	if w.session == "" {
		return nil
	}
	for e, err := range w.store.Read(context.Background(), w.session, 0) {
		switch {
		case errors.Is(err, harness.ErrNotFound):
			return nil
		case err != nil:
			w.fatalf("read the log: %v", err)
		}
		log = append(log, e)
	}
	return log
}

// log is the canonical log.
func (w *stage) log() string {
	var b strings.Builder
	for _, e := range w.events() {
		fmt.Fprintln(&b, canonical(e))
	}
	if b.Len() == 0 {
		return ""
	}
	return mergeTokens(w.yard.plain(b.String()))
}

// told is what every client was told, in the order in which they connected.
func (w *stage) told() string {
	var b strings.Builder
	for _, c := range w.clients {
		c.settle()
		for _, line := range append(c.told, c.heard...) {
			fmt.Fprintln(&b, c.name, line)
		}
	}
	return w.yard.plain(b.String())
}
