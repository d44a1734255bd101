package main

import (
	"bufio"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkFrame is the way of a word from the moment its event is made on one
// node to the frame that a client reads: on the same node, and on another. Real
// processes, one clock; what is between is the append, the database and the
// other node. Events have milliseconds.
func BenchmarkFrame(b *testing.B) {
	nodes := startNodes(b, schema(b), "stream 100000 20ms word", 2)
	id := nodes[0].make(b, "")
	n := max(b.N, 200)
	type measured struct {
		where string
		took  []time.Duration
	}
	results := make(chan measured)
	for i, where := range []string{"here", "elsewhere"} {
		stream := nodes[i].open(b, "/sessions/"+id+"/events/stream?types=token")
		b.Cleanup(func() { stream.Close() })
		go func() {
			m := measured{where: where}
			for lines := bufio.NewScanner(stream); len(m.took) < n && lines.Scan(); {
				now := time.Now()
				data, ok := strings.CutPrefix(lines.Text(), "data: ")
				var e struct {
					Type string
					TS   time.Time
				}
				if ok && json.Unmarshal([]byte(data), &e) == nil && e.Type == "token" {
					m.took = append(m.took, now.Sub(e.TS))
				}
			}
			results <- m
		}()
	}
	nodes[0].post(b, "/chat/sessions/"+id+"/turns", []byte(`{"prompt":"go"}`))
	for range 2 {
		m := <-results
		if len(m.took) < n {
			b.Fatalf("%s: the stream ended after %d words", m.where, len(m.took))
		}
		slices.Sort(m.took)
		b.ReportMetric(float64(m.took[n/2].Microseconds())/1e3, m.where+"-p50-ms")
		b.ReportMetric(float64(m.took[n*99/100].Microseconds())/1e3, m.where+"-p99-ms")
	}
}
