package codex_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"harness/engine/codex"
	"harness/engine/enginetest"
	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
)

// raw runs one turn of the program without us. It returns when it was started.
func raw(b *testing.B, bin, url string, d *bridgetest.Delays) time.Time {
	b.Helper()
	dir := b.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o755); err != nil {
		b.Fatal(err)
	}
	var args []string
	for _, c := range append(scripted(url), "features.plugins=false", "features.apps=false") {
		args = append(args, "-c", c)
	}
	cmd := exec.Command(bin, append(args, "app-server")...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + dir, "CODEX_HOME=" + dir, "TMPDIR=" + filepath.Join(dir, "tmp")}
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
	fmt.Fprintln(in, `{"id":1,"method":"initialize","params":{"clientInfo":{"name":"bench","version":"0"}}}`+"\n"+`{"method":"initialized"}`)
	fmt.Fprintln(in, `{"id":2,"method":"thread/start","params":{}}`)
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			break
		}
		var m struct {
			ID     int
			Method string
			Params struct{ Delta string }
			Result struct{ Thread struct{ ID string } }
		}
		_ = json.Unmarshal(line, &m)
		switch {
		case m.ID == 2:
			fmt.Fprintf(in, `{"id":3,"method":"turn/start","params":{"threadId":%q,"input":[{"type":"text","text":"go"}]}}`+"\n", m.Result.Thread.ID)
		case m.Method == "item/agentMessage/delta":
			d.Note(m.Params.Delta)
		case m.Method == "turn/completed":
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
	bin, url := real(b), bridgetest.Clock(b)
	var alone, bridged, aloneStart, bridgedStart, warm []time.Duration
	var rss float64
	for b.Loop() {
		var d bridgetest.Delays
		began := raw(b, bin, url, &d)
		alone, aloneStart = append(alone, d.All...), append(aloneStart, d.First.Sub(began))

		var o opened
		e := o.open(b, codex.Options{Program: []string{bin}, Config: scripted(url)})
		h := &bridgetest.Timed{Host: enginetest.NewHost("ses_1")}
		for _, starts := range []*[]time.Duration{&bridgedStart, &warm} {
			h.First = time.Time{}
			began = time.Now()
			if err := e.Run(b.Context(), h.Begin("go"), h); err != nil {
				b.Fatal(err)
			}
			*starts = append(*starts, h.First.Sub(began))
			h.End(nil)
		}
		rss = bridgetest.Resident(bridgetest.Processes(b, o.mark))
		bridged = append(bridged, h.All...)
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

// BenchmarkWarmTurn is a turn of a program that answers at once: what is left is
// ours, its hand-offs through two pipes included.
func BenchmarkWarmTurn(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	var o opened
	e := o.open(b, codex.Options{Program: []string{self}, Base: program.Options{Env: []string{"HARNESS_TEST_CODEX=fault", "HARNESS_TEST_STORY="}}})
	h := enginetest.NewHost("ses_1")
	for b.Loop() {
		if err := e.Run(b.Context(), h.Begin("right"), h); err != nil {
			b.Fatal(err)
		}
		h.End(nil)
	}
}
