package native_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"harness"
	"harness/model/modeltest"
	"harness/tool"
)

// calling makes so many calls, one after the other, and ends.
func calling(calls int) string {
	var b strings.Builder
	for i := range calls {
		fmt.Fprintf(&b, "when step %d\n  call look {\"n\":%d}\n", i+1, i)
	}
	b.WriteString("else\n  say Done.\n")
	return b.String()
}

// BenchmarkTurn is a whole turn: command, kernel, store in memory, engine, HTTP,
// scripted server. The floor makes the same requests and reads the same answers
// in a plain loop, so that the difference is ours.
func BenchmarkTurn(b *testing.B) {
	for _, calls := range []int{0, 1, 10} {
		var bodies [][]byte
		b.Run(fmt.Sprintf("calls=%d/native", calls), func(b *testing.B) {
			r := newRig(b, "anthropic", calling(calls), func(r *rig) {
				r.opts.Tools = []tool.Tool{&toy{name: "look", access: harness.AccessRead}}
			})
			r.prompt("warm up")
			for _, q := range r.server.Requests() {
				bodies = append(bodies, q.Body)
			}
			for b.Loop() {
				r.do(harness.Submit{Source: harness.FromSubmit, Parts: harness.TextPart("go")})
				r.rest()
			}
			report(b, calls+1)
		})
		b.Run(fmt.Sprintf("calls=%d/floor", calls), func(b *testing.B) {
			server := modeltest.Serve(b, calling(calls))
			for b.Loop() {
				for _, body := range bodies[:min(len(bodies), calls+1)] {
					post(b, server.URL+"/v1/messages", body)
				}
			}
			report(b, calls+1)
		})
	}
}

func report(b *testing.B, requests int) {
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(requests), "µs/request")
}

func post(b *testing.B, url string, body []byte) {
	q, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("X-Api-Key", "k")
	q.Header.Set("Anthropic-Version", "2023-06-01")
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		b.Fatal(err)
	}
	defer a.Body.Close()
	if text, err := io.ReadAll(a.Body); err != nil || a.StatusCode != http.StatusOK {
		b.Fatalf("%v, %s: %s", err, a.Status, text)
	}
}
