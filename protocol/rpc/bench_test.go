package rpc_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/protocol/rpc"
	"harness/store/sqlite"
)

// pipe serves a connection whose answers are counted by lines.
func (s *server) pipe(b *testing.B) (in *io.PipeWriter, lines *bufio.Reader) {
	b.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- rpc.Serve(context.Background(), s.k, inR, outW, &rpc.Options{Version: "1.0.0"})
		outW.Close()
	}()
	b.Cleanup(func() {
		inW.Close()
		go io.Copy(io.Discard, outR)
		if err := <-done; err != nil {
			b.Error(err)
		}
	})
	return inW, bufio.NewReaderSize(outR, 1<<20)
}

// Requests a second through one connection, pipelined.
func BenchmarkRequests(b *testing.B) {
	for _, method := range []string{"none", "initialize", "thread.health"} {
		b.Run(method, func(b *testing.B) {
			sv := serve(b, "echo")
			id, err := sv.k.Create(b.Context(), harness.NewSession{})
			if err != nil {
				b.Fatal(err)
			}
			in, out := sv.pipe(b)
			params := ""
			if method == "thread.health" {
				params = fmt.Sprintf(`,"params":{"threadId":%q}`, id)
			}
			chunk := strings.Repeat(fmt.Sprintf(`{"jsonrpc":"2.0","id":123,"method":%q%s}`, method, params)+"\n", 500)
			b.ReportAllocs()
			b.ResetTimer()
			go func() {
				for n := 0; n < b.N; n += 500 {
					io.WriteString(in, chunk)
				}
			}()
			for n := 0; n < (b.N+499)/500*500; n++ {
				if _, err := out.ReadSlice('\n'); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
		})
	}
}

// Deltas a second from the engine through kernel, store and connection. Each
// is durable before it is told.
func BenchmarkDeltas(b *testing.B) {
	sv := serve(b, fmt.Sprintf("stream %d 0s \"word \"\n", max(b.N, 1)))
	in, out := sv.pipe(b)
	id, err := sv.k.Create(b.Context(), harness.NewSession{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	go fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":"turn.start","params":{"threadId":%q,"input":[{"type":"text","text":"go"}]}}`+"\n", id)
	got := 0
	for {
		line, err := out.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull {
			b.Fatal(err)
		}
		if strings.Contains(string(line[:min(len(line), 64)]), `"item.delta"`) {
			got++
		}
		if strings.Contains(string(line[:min(len(line), 64)]), `"turn.completed"`) {
			break
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
	b.ReportMetric(float64(got)/b.Elapsed().Seconds(), "deltas/s")
}

func BenchmarkThreadList(b *testing.B) {
	st, err := sqlite.Open(b.Context(), b.TempDir()+"/harness.db", nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { st.Close() })
	sv := serveOn(b, st, "echo")
	for i := range 10_000 { // one a minute, as people make them
		id := harness.SessionID(fmt.Sprintf("ses_%05d", i))
		made := harness.NewEvent(id, 1, time.UnixMilli(0).Add(time.Duration(i)*time.Minute), "", &harness.SessionState{SessionID: id, Status: harness.Idle})
		var state harness.State
		state.Apply(made)
		if err := st.Append(b.Context(), harness.Commit{Session: id, Events: []harness.Event{made}, Summary: state.Summary()}); err != nil {
			b.Fatal(err)
		}
	}
	for _, limit := range []int{10, 100, 1000, 0} {
		b.Run(fmt.Sprintf("limit=%d", limit), func(b *testing.B) {
			in, out := sv.pipe(b)
			for b.Loop() {
				fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":"thread.list","params":{"limit":%d}}`+"\n", limit)
				skipLine(b, out)
			}
		})
	}
}

// One page of a long thread costs what it returns, wherever it is; the whole in
// pages costs what the whole costs at once.
func BenchmarkThreadGet(b *testing.B) {
	const turns, calls = 100, 200 // of five events each
	sv := serve(b, fmt.Sprintf("repeat %d\nsay \"word \"\ncall t => r\nend\n", calls))
	c := sv.connect()
	id := c.thread()
	for range turns {
		c.start(id, "go")
		for l := c.read(); l.Method != "turn.completed"; l = c.read() {
			c.seen = c.seen[:0]
		}
	}
	var h struct{ Seq int }
	c.must(&h, "thread.health", fmt.Sprintf(`{"threadId":%q}`, id))
	for _, limit := range []int{100, 1000, 10_000, 0} {
		b.Run(fmt.Sprintf("all/limit=%d", limit), func(b *testing.B) {
			in, out := sv.pipe(b)
			for b.Loop() {
				for after := 0; ; {
					fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":"thread.get","params":{"threadId":%q,"after":%d,"limit":%d}}`+"\n", id, after, limit)
					if after = next(b, out); after == 0 {
						break
					}
				}
			}
			b.ReportMetric(float64(h.Seq)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
	for _, at := range []int{0, h.Seq / 2, h.Seq - 1000} {
		b.Run(fmt.Sprintf("page/after=%d", at), func(b *testing.B) {
			in, out := sv.pipe(b)
			for b.Loop() {
				fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":"thread.get","params":{"threadId":%q,"after":%d,"limit":100}}`+"\n", id, at)
				skipLine(b, out)
			}
		})
	}
}

func skipLine(b *testing.B, r *bufio.Reader) []byte {
	b.Helper()
	for {
		line, err := r.ReadSlice('\n')
		switch err {
		case nil:
			return line
		case bufio.ErrBufferFull:
		default:
			b.Fatal(err)
		}
	}
}

// next is the cursor at the end of a page.
func next(b *testing.B, r *bufio.Reader) int {
	b.Helper()
	line := string(skipLine(b, r))
	i := strings.LastIndex(line, `"next":`)
	if i < 0 || len(line)-i > 32 {
		return 0
	}
	n := 0
	fmt.Sscanf(line[i+7:], "%d", &n)
	return n
}
