package bench

import (
	"fmt"
	"testing"
)

// parked is the cost of one idle socket, with whatever the server keeps for it.
type parked struct {
	rss, heap, stacks, goroutines float64
	awake                         int
}

// holder is a server that holds idle sockets, and how its clients behave.
type holder struct {
	role, path, kind, text string
}

var holders = map[string]holder{
	"harness":    {"hold-harness", "/ws?userId=u%d", "harness", `{"type":"commands","commands":[{"type":"submit","prompt":"hello"}]}`},
	"coder":      {"hold-coder", "/", "plain", `{"hello":"there"}`},
	"centrifuge": {"hold-centrifuge", "/", "centrifuge", `{"id":3,"rpc":{"data":{"hello":"there"}}}`},
}

// measureParked opens sockets, lets each have its snapshot and one exchange (a
// whole turn of a session of its own, with the product), waits until all is
// quiet, and compares the process with what it was when a thousand others had
// been through the same: those pay for pools, page cache and code.
func measureParked(tb testing.TB, name string) parked {
	const n, warm, batch = 10_000, 1000, 100
	h := holders[name]
	srv := startChild(tb, h.role)
	defer srv.end()
	c := startChild(tb, "crowd")
	defer c.end()
	addr := srv.ask(ask{Do: "memory"}).Addr
	come := func(first, n int) {
		for at := first; at < first+n; at += batch {
			c.ask(ask{Do: "dial", Addr: addr, Path: h.path, First: at, N: batch, Kind: h.kind, Size: 1 << 20})
			c.ask(ask{Do: "heard", First: at, N: batch, Total: 1})
			c.ask(ask{Do: "send", First: at, N: batch, Text: h.text})
			c.ask(ask{Do: "heard", First: at, N: batch, Total: 2})
		}
	}
	come(0, warm)
	before := srv.ask(ask{Do: "asleep"})
	come(warm, n)
	after := srv.ask(ask{Do: "asleep"})
	if a := c.ask(ask{Do: "stats"}); a.Closed > 0 {
		tb.Fatalf("%d connections ended", a.Closed)
	}
	per := func(a, b int64) float64 { return float64(b-a) / n }
	return parked{
		per(before.RSS, after.RSS), per(before.Heap, after.Heap), per(before.Stacks, after.Stacks),
		float64(after.Goroutines-before.Goroutines) / n, after.Awake,
	}
}

// BenchmarkParked is the memory of 10,000 idle sockets: with the product, each
// of a session of its own that has had a turn and sleeps; with the others, no
// session at all.
func BenchmarkParked(b *testing.B) {
	for _, name := range []string{"harness", "coder", "centrifuge"} {
		b.Run(fmt.Sprintf("server=%s", name), func(b *testing.B) {
			p := parkeds.get(b, name, measureParked)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(p.rss, "B-rss/socket")
			b.ReportMetric(p.heap, "B-heap/socket")
			b.ReportMetric(p.stacks, "B-stack/socket")
			b.ReportMetric(p.goroutines, "goroutines/socket")
			b.ReportMetric(float64(p.awake), "awake")
		})
	}
}
