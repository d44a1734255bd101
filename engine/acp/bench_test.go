package acp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"harness/engine/acp"
	"harness/engine/enginetest"
	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
)

// raw runs two turns of the agent without us, of which the second is timed: in
// the first it is busy with itself. It returns the time to the first piece.
func raw(b *testing.B, bin, url string, d *bridgetest.Delays) (start time.Duration) {
	b.Helper()
	dir := b.TempDir()
	cmd := exec.Command(bin, "acp")
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + dir}, scripted(b, url)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}`)
	fmt.Fprintf(in, `{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`+"\n", dir)
	session := ""
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			break
		}
		var m struct {
			ID     int
			Params struct {
				Update struct {
					SessionUpdate string
					Content       json.RawMessage
				}
			}
			Result struct{ SessionID string }
		}
		_ = json.Unmarshal(line, &m)
		prompt := func(id int) {
			fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"go"}]}}`+"\n", id, session)
		}
		switch {
		case m.ID == 2:
			session = m.Result.SessionID
			prompt(3)
		case m.Params.Update.SessionUpdate == "agent_message_chunk":
			var c struct{ Text string }
			_ = json.Unmarshal(m.Params.Update.Content, &c)
			d.Note(c.Text)
		case m.ID == 3:
			start, d.All = d.First.Sub(began), nil
			prompt(4)
		case m.ID == 4:
			in.Close()
		}
	}
	_ = cmd.Wait()
	return start
}

// BenchmarkBridge measures, in one run, the real agent alone and behind the
// engine: the age of a piece of text when it is read, or emitted; the time from
// nothing to the first piece; what a session that is warm holds.
func BenchmarkBridge(b *testing.B) {
	bin, url := real(b), bridgetest.Clock(b)
	var alone, bridged, aloneStart, bridgedStart, warm []time.Duration
	var rss float64
	for b.Loop() {
		var d bridgetest.Delays
		start := raw(b, bin, url, &d)
		alone, aloneStart = append(alone, d.All...), append(aloneStart, start)

		var o opened
		e := o.open(b, acp.Options{Command: []string{bin, "acp"}, Base: program.Options{Env: scripted(b, url)}})
		h := &bridgetest.Timed{Host: enginetest.NewHost("ses_1")}
		for _, starts := range []*[]time.Duration{&bridgedStart, &warm} {
			h.Delays = bridgetest.Delays{}
			began := time.Now()
			if err := e.Run(b.Context(), h.Begin("go"), h); err != nil {
				b.Fatal(err)
			}
			*starts = append(*starts, h.First.Sub(began))
			h.End(nil)
		}
		bridged = append(bridged, h.All...) // of the second turn
		rss = bridgetest.Resident(bridgetest.Processes(b, o.mark))
		if err := e.(placed).Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(bridgetest.Median(alone), "alone-ms/delta")
	b.ReportMetric(bridgetest.Median(bridged), "bridged-ms/delta")
	b.ReportMetric(bridgetest.Median(bridged)-bridgetest.Median(alone), "added-ms/delta")
	b.ReportMetric(bridgetest.Median(aloneStart), "alone-ms/start")
	b.ReportMetric(bridgetest.Median(bridgedStart), "bridged-ms/start")
	b.ReportMetric(bridgetest.Median(warm), "bridged-ms/warm")
	b.ReportMetric(rss, "process-MB")
}

// BenchmarkDelta is a piece of text of an agent that says it at once: what is
// left is ours, its hand-off through a pipe included.
func BenchmarkDelta(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	var o opened
	e := o.open(b, acp.Options{Command: []string{self}, Base: program.Options{Env: []string{"HARNESS_TEST_ACP=agent", "HARNESS_TEST_STORY=clock"}}})
	var all []time.Duration
	for b.Loop() {
		h := &bridgetest.Timed{Host: enginetest.NewHost("ses_1")}
		if err := e.Run(b.Context(), h.Begin("go"), h); err != nil {
			b.Fatal(err)
		}
		all = append(all, h.All...)
	}
	b.ReportMetric(bridgetest.Median(all), "ms/delta")
}
