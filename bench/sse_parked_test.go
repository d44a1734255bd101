package bench

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/kernel"
	"harness/store/sqlite"
)

// The processes that hold idle event streams.

// holdSSE is the product. Who asks for the stream of a session that is not
// there gets one that has a turn.
func holdSSE() error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	st, err := sqlite.Open(context.Background(), filepath.Join(dir, "harness.db"), &sqlite.Options{CacheKB: 256}) // see holdHarness
	if err != nil {
		return err
	}
	defer st.Close()
	s, err := serveREST(st, newFaucet(), kernel.Options{IdleAfter: 200 * time.Millisecond}, func(k *kernel.Kernel, r *http.Request) error {
		id := harness.SessionID(strings.Clone(strings.Split(r.URL.Path, "/")[2]))
		if _, err := k.Create(r.Context(), harness.NewSession{ID: id}); err != nil {
			if harness.AsError(err) == harness.ErrExists {
				return nil
			}
			return err
		}
		_, err := k.Do(r.Context(), id, harness.Submit{Parts: harness.TextPart("hello"), Source: harness.FromTurn})
		return err
	})
	if err != nil {
		return err
	}
	defer s.close()
	return serveAsks(func(q ask) (answer, error) {
		if q.Do == "asleep" {
			for s.k.Awake() > 0 {
				time.Sleep(10 * time.Millisecond)
			}
		}
		return measured(s.addr, s.k.Awake()), nil
	})
}

// holdPlainSSE is the usual handler on net/http, with no session at all.
func holdPlainSSE() error {
	turn := strings.Repeat("id: 1\nevent: token\ndata: "+chunk(220)+"\n\n", turnEvents)
	p, err := servePlainSSE([]byte(turn))
	if err != nil {
		return err
	}
	defer p.close()
	return serveAsks(func(ask) (answer, error) { return measured(p.addr, 0), nil })
}

// turnEvents is how many events a session with one turn has at least, with the
// first word of a stream.
const turnEvents = 6

// measureParkedSSE opens streams, lets each hear a whole turn, waits until all
// is quiet, and compares the process with what it was when a thousand others
// had been through the same.
func measureParkedSSE(tb testing.TB, name string) parked {
	const n, warm, batch = 10_000, 1000, 100
	h := sseHolders[name]
	srv := startChild(tb, h.role)
	defer srv.end()
	c := startChild(tb, "audience")
	defer c.end()
	addr := srv.ask(ask{Do: "memory"}).Addr
	come := func(first, n int) {
		for at := first; at < first+n; at += batch {
			c.ask(ask{Do: "dial", Addr: addr, Path: h.path, First: at, N: batch})
			c.ask(ask{Do: "await", Total: turnEvents})
		}
	}
	come(0, warm)
	before := srv.ask(ask{Do: "asleep"})
	come(warm, n)
	after := srv.ask(ask{Do: "asleep"})
	if a := c.ask(ask{Do: "stats"}); a.Closed > 0 {
		tb.Fatalf("%d streams ended", a.Closed)
	}
	per := func(a, b int64) float64 { return float64(b-a) / n }
	return parked{
		per(before.RSS, after.RSS), per(before.Heap, after.Heap), per(before.Stacks, after.Stacks),
		float64(after.Goroutines-before.Goroutines) / n, after.Awake,
	}
}

// sseHolders are servers that hold idle event streams, and what is asked of
// them.
var sseHolders = map[string]holder{
	"harness":        {role: "hold-sse", path: streamPath("ses_%d")},
	"harness-shared": {role: "hold-sse", path: streamPath("ses_shared")},
	"nethttp":        {role: "hold-sse-plain", path: "/"},
}

// BenchmarkParkedSSE is the memory of 10,000 idle event streams: with the
// product, each of a session of its own that has had a turn and sleeps, or all
// of one such session; with net/http, no session at all.
func BenchmarkParkedSSE(b *testing.B) {
	for _, name := range []string{"harness", "harness-shared", "nethttp"} {
		b.Run(fmt.Sprintf("server=%s", name), func(b *testing.B) {
			p := parkedSSE.get(b, name, measureParkedSSE)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(p.rss, "B-rss/stream")
			b.ReportMetric(p.heap, "B-heap/stream")
			b.ReportMetric(p.stacks, "B-stack/stream")
			b.ReportMetric(p.goroutines, "goroutines/stream")
			b.ReportMetric(float64(p.awake), "awake")
		})
	}
}

var parkedSSE memo[string, parked]
