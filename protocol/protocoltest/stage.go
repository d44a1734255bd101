package protocoltest

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"harness"
	"harness/engine/script"
	"harness/kernel"
	"harness/protocol/delta"
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
	web     *httptest.Server
	clients []*client
	session harness.SessionID
}

func newStage(t *testing.T, src string) *stage {
	t.Helper()
	s, err := script.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	w := &stage{t: t, script: s, store: memory.New()}
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
	w.kernel = kernel.New(w.store, map[string]harness.Engine{"script": w.engine}, &kernel.Options{
		Engine: "script", Directory: "/workspace", Window: -1, IdleAfter: time.Minute, NewID: w.ids.next,
	})
	hub, err := delta.New(w.kernel, &delta.Options{Window: -1, NewID: w.ids.next})
	if err != nil {
		w.t.Fatal(err)
	}
	w.hub = hub
	if _, err := w.kernel.Recover(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	w.web = httptest.NewServer(hub)
}

func (w *stage) stop() {
	for _, c := range w.clients {
		c.leave()
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	w.hub.Shutdown(ctx)
	w.web.Close()
	w.kernel.Close()
}

// restart ends everything at once and starts again on what was durable at this
// moment.
func (w *stage) restart() {
	durable := w.store.Clone()
	w.stop()
	w.store = durable
	w.start()
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

// log is the canonical log of the session that the story's clients saw last.
func (w *stage) log() string {
	var b strings.Builder
	if w.session == "" {
		return ""
	}
	for e, err := range w.kernel.Read(context.Background(), w.session, 0) {
		if err != nil {
			w.fatalf("read the log: %v", err)
		}
		fmt.Fprintln(&b, canonical(e))
	}
	return mergeTokens(b.String())
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
	return b.String()
}
