package claude_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/engine/claude"
	"harness/engine/enginetest"
)

// deltas is how many pieces an answer has, gap the time between them.
const (
	deltas = 200
	gap    = 3 * time.Millisecond
)

// clockwork is a model that says what time it is, piece by piece.
func clockwork(tb testing.TB) string {
	tb.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/messages") {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		send := func(kind, data string) {
			fmt.Fprintf(w, "event: %s\ndata: {\"type\":%q%s}\n\n", kind, kind, data)
			w.(http.Flusher).Flush()
		}
		send("message_start", `,"message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`)
		send("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`)
		tick := time.NewTicker(gap)
		defer tick.Stop()
		for range deltas {
			<-tick.C
			send("content_block_delta", fmt.Sprintf(`,"index":0,"delta":{"type":"text_delta","text":"%d "}`, time.Now().UnixNano()))
		}
		send("content_block_stop", `,"index":0`)
		send("message_delta", `,"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":9}`)
		send("message_stop", "")
	}))
	tb.Cleanup(s.Close)
	return s.URL
}

// delays collects how old pieces are when they arrive.
type delays struct {
	all   []time.Duration
	first time.Time
}

func (d *delays) note(text string) {
	now := time.Now()
	if d.first.IsZero() {
		d.first = now
	}
	if sent, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil {
		d.all = append(d.all, now.Sub(time.Unix(0, sent)))
	}
}

func (d *delays) p50() time.Duration {
	slices.Sort(d.all)
	if len(d.all) == 0 {
		return 0
	}
	return d.all[len(d.all)/2]
}

// timed is a host that notes when text arrives.
type timed struct {
	*enginetest.Host
	delays
}

func (h *timed) Emit(ctx context.Context, p harness.Payload) error {
	if t, ok := p.(*harness.Token); ok {
		h.note(t.Text)
	}
	return h.Host.Emit(ctx, p)
}

// raw runs one turn of the program without us. It returns when it was started.
func raw(b *testing.B, program string, env []string, d *delays) time.Time {
	b.Helper()
	dir := b.TempDir()
	cmd := exec.Command(program, "-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose", "--include-partial-messages",
		"--permission-prompt-tool", "stdio", "--setting-sources", "", "--strict-mcp-config", "--model", "claude-opus-5-5")
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + dir, "CLAUDE_CONFIG_DIR=" + filepath.Join(dir, "config"), "TMPDIR=" + dir}, env...)
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
	fmt.Fprintln(in, `{"type":"user","message":{"role":"user","content":"go"}}`)
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			break
		}
		var m struct {
			Type  string
			Event struct{ Delta struct{ Text string } }
		}
		_ = json.Unmarshal(line, &m)
		if m.Event.Delta.Text != "" {
			d.note(m.Event.Delta.Text)
		}
		if m.Type == "result" {
			in.Close()
		}
	}
	_ = cmd.Wait()
	return began
}

// BenchmarkBridge measures, in one run, the real program alone and behind the
// engine: the age of a piece of text when it is read, or emitted; the time from
// nothing to the first piece; what a session that is warm holds.
func BenchmarkBridge(b *testing.B) {
	program := real(b)
	env := []string{"ANTHROPIC_BASE_URL=" + clockwork(b), "ANTHROPIC_API_KEY=dummy", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
	var alone, bridged delays
	var aloneStart, bridgedStart, warm []time.Duration
	var heap, rss float64
	for b.Loop() {
		d := delays{}
		began := raw(b, program, env, &d)
		alone.all, aloneStart = append(alone.all, d.all...), append(aloneStart, d.first.Sub(began))

		var o opened
		e := o.open(b, claude.Options{Program: []string{program}, Env: env})
		h := &timed{Host: enginetest.NewHost("ses_1")}
		turn := h.Begin("go")
		turn.Config.Model = "claude-opus-5-5"
		before := allocated()
		began = time.Now()
		if err := e.Run(b.Context(), turn, h); err != nil {
			b.Fatal(err)
		}
		bridgedStart = append(bridgedStart, h.first.Sub(began))
		heap, rss = float64(allocated())-float64(before), resident(b, o.stage.processes())
		h.End(nil)
		h.first = time.Time{}
		turn = h.Begin("go")
		turn.Config.Model = "claude-opus-5-5"
		began = time.Now()
		if err := e.Run(b.Context(), turn, h); err != nil {
			b.Fatal(err)
		}
		warm = append(warm, h.first.Sub(began))
		bridged.all = append(bridged.all, h.all...)
		if err := e.(placed).Close(); err != nil {
			b.Fatal(err)
		}
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(alone.p50()), "alone-ms/delta")
	b.ReportMetric(ms(bridged.p50()), "bridged-ms/delta")
	b.ReportMetric(ms(bridged.p50()-alone.p50()), "added-ms/delta")
	b.ReportMetric(ms(median(aloneStart)), "alone-ms/start")
	b.ReportMetric(ms(median(bridgedStart)), "bridged-ms/start")
	b.ReportMetric(ms(median(warm)), "bridged-ms/warm")
	b.ReportMetric(heap/1024, "engine-KB")
	b.ReportMetric(rss, "process-MB")
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// allocated is what lives on the heap.
func allocated() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// resident is the memory of processes in MB.
func resident(tb testing.TB, pids []int) (mb float64) {
	tb.Helper()
	for _, pid := range pids {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); len(f) == 3 && f[0] == "VmRSS:" {
				kb, err := strconv.Atoi(f[1])
				if err != nil {
					tb.Fatal(err)
				}
				mb += float64(kb) / 1024
			}
		}
	}
	return mb
}

// BenchmarkWarmTurn is a turn of a program that answers at once: what is left is
// ours, its hand-offs through two pipes included.
func BenchmarkWarmTurn(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	var o opened
	e := o.open(b, claude.Options{Program: []string{self}, Env: []string{"HARNESS_TEST_CLAUDE=fault", "HARNESS_TEST_STORY="}})
	h := &timed{Host: enginetest.NewHost("ses_1")}
	for b.Loop() {
		if err := e.Run(b.Context(), h.Begin("right"), h); err != nil {
			b.Fatal(err)
		}
		h.End(nil)
	}
}
