package egress_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"harness/egress"
)

// BenchmarkRequest is one small answer on a connection that is open: from the
// provider itself, through the proxy, and through relay and proxy, in turns.
func BenchmarkRequest(b *testing.B) {
	answer := []byte(`{"model":"m-1","usage":{"input_tokens":10,"output_tokens":2},"content":[{"type":"text","text":"Hello there."}]}`)
	url := provider(b, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	})
	body := forms[0].body + "," + `"system":"` + strings.Repeat("word ", 4000) + `"}` // 20 kB, as agents send at least
	ways := newWays(b, url)
	for _, w := range ways {
		w.once(b, body) // opens the connections
	}
	for b.Loop() {
		for _, w := range ways {
			begin := time.Now()
			w.once(b, body)
			w.took = append(w.took, time.Since(begin))
		}
	}
	for _, w := range ways {
		slices.Sort(w.took)
		b.ReportMetric(float64(w.took[len(w.took)/2].Microseconds()), w.name+"-µs-p50")
		b.ReportMetric(float64(w.took[0].Microseconds()), w.name+"-µs-min")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkStream is an answer of 40,000 events, as fast as it goes.
func BenchmarkStream(b *testing.B) {
	event := []byte("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" some words of it\"}}\n\n")
	const events, batch = 40_000, 16 // a provider's packets have some
	url := provider(b, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		part := slices.Repeat(event, batch)
		for range events / batch {
			if _, err := w.Write(part); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	})
	ways := newWays(b, url)
	for b.Loop() {
		for _, w := range ways {
			begin := time.Now()
			if n := w.once(b, forms[0].body+`,"stream":true}`); n != int64(events*len(event)) {
				b.Fatalf("%s: %d bytes", w.name, n)
			}
			w.took = append(w.took, time.Since(begin))
		}
	}
	rate := func(w *way) float64 {
		slices.Sort(w.took)
		return float64(events*len(event)) / 1e6 / w.took[len(w.took)/2].Seconds()
	}
	for _, w := range ways {
		b.ReportMetric(rate(w), w.name+"-MB/s")
		b.ReportMetric(rate(w)/rate(ways[0]), w.name+"-ratio")
	}
	b.ReportMetric(0, "ns/op")
}

// way is how a request gets to the provider.
type way struct {
	name, url, key string
	client         *http.Client
	took           []time.Duration
}

func newWays(b *testing.B, url string) []*way {
	p, err := egress.New(map[string]egress.Provider{"anthropic": {Base: url, Dialect: egress.DialectAnthropic, Key: key}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	token, _, err := p.Grant(egress.Grant{Provider: "anthropic", MaxTokens: 1 << 40})
	if err != nil {
		b.Fatal(err)
	}
	socket := b.TempDir() + "/s"
	unix, err := net.Listen("unix", socket)
	if err != nil {
		b.Fatal(err)
	}
	tcp, relay := loopback(b), loopback(b)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = p.Serve(unix) })
	wg.Go(func() { _ = p.Serve(tcp) })
	wg.Go(func() { _ = egress.Relay(ctx, relay, socket) })
	b.Cleanup(func() {
		cancel()
		p.Close()
		wg.Wait()
	})
	return []*way{
		{name: "direct", url: url, key: canary, client: client(b)},
		{name: "proxy", url: "http://" + tcp.Addr().String() + "/anthropic", key: token, client: client(b)},
		{name: "relay+proxy", url: "http://" + relay.Addr().String() + "/anthropic", key: token, client: client(b)},
	}
}

func loopback(b *testing.B) net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	return l
}

// once asks and reads the whole answer.
func (w *way) once(b *testing.B, body string) int64 {
	r, err := http.NewRequest(http.MethodPost, w.url+"/v1/messages", strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("X-Api-Key", w.key)
	res, err := w.client.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	n, err := io.Copy(io.Discard, res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		b.Fatalf("%s: %s, %v", w.name, res.Status, err)
	}
	return n
}
