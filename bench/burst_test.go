package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A burst is one turn of so many tokens, this one each.
const (
	burstTokens = 20_000
	burstToken  = "streamed "
)

// bursts is what came of a burst through each server, as medians.
type bursts struct {
	ours  burst // text that is said at once is merged into one event and one notification
	apart burst // each token an event and a notification of its own
	codex burst // which never merges
	bare  burst // the model's stream, read and decoded by a loop that does nothing else
}

// burst is one.
type burst struct {
	whole float64 // tokens/s from the request to the last of the text
	flow  float64 // tokens/s from the first of the text to the last; no use if all came at once
	notes float64 // notifications with text
	bytes float64 // of these
	cpu   float64 // seconds of the server's process per 1,000 tokens
}

func measureBursts(tb testing.TB, _ struct{}) bursts {
	codex, ours := codexBinary(tb), buildHarness(tb)
	rounds := 7
	if long() {
		rounds = 21
	}
	model := serveModel(tb, slices.Repeat([]string{burstToken}, burstTokens))
	merged := fmt.Sprintf("say hello\n===\nstream %d 0s %q\n", burstTokens, burstToken)
	apart := fmt.Sprintf("say hello\n===\nrepeat %d\nsay %q\nthink %q\nend\n", burstTokens/2, burstToken, burstToken)
	var all [4][]burst
	for range rounds {
		all[0] = append(all[0], burstStdio(tb, ours, merged))
		all[1] = append(all[1], burstStdio(tb, ours, apart))
		all[2] = append(all[2], burstCodex(tb, codex, model.URL))
		all[3] = append(all[3], burstBare(tb, model.URL))
	}
	return bursts{medians(all[0]), medians(all[1]), medians(all[2]), medians(all[3])}
}

func medians(all []burst) burst {
	of := func(field func(burst) float64) float64 {
		var v []float64
		for _, b := range all {
			v = append(v, field(b))
		}
		return median(v)
	}
	return burst{
		of(func(b burst) float64 { return b.whole }), of(func(b burst) float64 { return b.flow }),
		of(func(b burst) float64 { return b.notes }), of(func(b burst) float64 { return b.bytes }),
		of(func(b burst) float64 { return b.cpu }),
	}
}

// burstStdio plays a script of two turns in harness stdio, and finds all of
// the second one's text in the thread's log.
func burstStdio(tb testing.TB, bin, script string) burst {
	tb.Helper()
	dir := tb.TempDir()
	file := filepath.Join(dir, "burst.script")
	if err := os.WriteFile(file, []byte(script), 0o644); err != nil {
		tb.Fatal(err)
	}
	a := startStdio(tb, bin, dir, "--engine", "script:"+file)
	defer a.end()
	id := stdioThread(a)
	b := a.burst(stdioTurn(id, burstMark), `"item.delta"`, `"turn.completed"`)
	log, err := os.ReadFile(filepath.Join(dir, ".harness", "threads", id, "events.jsonl"))
	if err != nil {
		tb.Fatal(err)
	}
	kept := 0
	for line := range bytes.Lines(log) {
		if bytes.Contains(line, []byte(`"type":"token"`)) || bytes.Contains(line, []byte(`"type":"thinking"`)) {
			kept += bytes.Count(line, []byte(burstToken))
		}
	}
	if kept != burstTokens {
		tb.Fatalf("the log has %d of %d tokens", kept, burstTokens)
	}
	return b
}

func burstCodex(tb testing.TB, bin, url string) burst {
	tb.Helper()
	a := startCodex(tb, bin, codexHome(tb, url))
	defer a.end()
	id := codexThread(a)
	return a.burst(codexTurn(id, burstMark), `"item/agentMessage/delta"`, `"turn/completed"`)
}

// burst starts a turn and reads it to its end.
func (a *agent) burst(turn, delta, end string) burst {
	a.tb.Helper()
	a.wait()
	cpu, sent := a.cpu(), time.Now()
	a.send(turn)
	var first, last time.Time
	var notes, size, text int
	for {
		line := a.line()
		if bytes.Contains(head(line), []byte(end)) {
			break
		}
		if !bytes.Contains(head(line), []byte(delta)) {
			continue
		}
		last = time.Now()
		if notes == 0 {
			first = last
		}
		notes++
		size += len(line)
		text += deltaLength(line)
	}
	used := a.cpu() - cpu
	if text != burstTokens*len(burstToken) {
		a.tb.Fatalf("%d bytes of text came of %d", text, burstTokens*len(burstToken))
	}
	took := last.Sub(sent).Seconds()
	return burst{
		whole: burstTokens / took, flow: burstTokens / last.Sub(first).Seconds(),
		notes: float64(notes) / took, bytes: float64(size) / took, cpu: used.Seconds() / (burstTokens / 1000),
	}
}

// deltaLength is how long a notification's text is, which needs no escapes.
func deltaLength(line []byte) int {
	_, rest, _ := bytes.Cut(line, []byte(`"delta":"`))
	return max(0, bytes.IndexByte(rest, '"'))
}

// burstBare is what the model can give, and what it costs to decode it.
func burstBare(tb testing.TB, url string) burst {
	tb.Helper()
	sent := time.Now()
	res, err := http.Post(url+"/v1/responses", "application/json", strings.NewReader(burstMark))
	if err != nil {
		tb.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewReaderSize(res.Body, 1<<20)
	text := 0
	for {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			tb.Fatal(err)
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		var e struct{ Type, Delta string }
		if err := json.Unmarshal(data, &e); err != nil {
			tb.Fatal(err)
		}
		text += len(e.Delta)
	}
	if text != burstTokens*len(burstToken) {
		tb.Fatalf("%d bytes of text came of %d", text, burstTokens*len(burstToken))
	}
	return burst{whole: burstTokens / time.Since(sent).Seconds()}
}

// afterBare is the rate of what first decodes the model's stream, and only
// then goes through the server: no less than a server with a model client
// could do on one core.
func (b bursts) afterBare(through burst) float64 { return 1 / (1/through.whole + 1/b.bare.whole) }

// BenchmarkStdioDeltas is a turn of 20,000 tokens at the client.
func BenchmarkStdioDeltas(b *testing.B) {
	m := stdioBursts.get(b, struct{}{}, measureBursts)
	b.ReportMetric(0, "ns/op")
	for _, s := range []struct {
		name string
		burst
	}{{"ours", m.ours}, {"apart", m.apart}, {"codex", m.codex}} {
		b.ReportMetric(s.whole, s.name+"-tokens/s")
		b.ReportMetric(s.notes, s.name+"-notes/s")
		b.ReportMetric(s.bytes/1e6, s.name+"-MB/s")
		b.ReportMetric(s.cpu*1e3, s.name+"-cpu-ms/1k")
	}
	b.ReportMetric(m.codex.flow, "codex-flow-tokens/s")
	b.ReportMetric(m.bare.whole, "bare-tokens/s")
	b.ReportMetric(m.ours.whole/m.codex.flow, "x-codex")
	b.ReportMetric(m.apart.whole/m.codex.flow, "apart-x-codex")
	b.ReportMetric(m.afterBare(m.ours)/m.codex.flow, "after-bare-x-codex")
	b.ReportMetric(m.afterBare(m.apart)/m.codex.flow, "apart-after-bare-x-codex")
}
