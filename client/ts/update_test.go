package ts_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// cost is what one frame costs, in CPU microseconds, with so many messages in
// the state and so many operations in the frame.
type cost struct {
	Messages, Ops int
	Apply         float64 // applyBatch
	Update        float64 // from the frame's text to the messages that are shown
	Reducer       float64 // assistant-stream, on the same frames in the same run
}

// A frame costs the same in a session of 10,000 messages as in one of 200. The
// gates have room for a busy machine; BenchmarkUpdate has the figures.
func TestUpdatesStayCheap(t *testing.T) {
	t.Parallel()
	costs := measure(t, "quick")
	small, large := costs[[2]int{200, 17}], costs[[2]int{10_000, 17}]
	if large.Update > 2*small.Update || large.Apply > 2.5*small.Apply {
		t.Errorf("an update costs %.1f µs with 10,000 messages, %.1f µs with 200; applyBatch %.1f and %.1f µs", large.Update, small.Update, large.Apply, small.Apply)
	}
	if large.Reducer < 8*large.Apply {
		t.Errorf("assistant-stream's reducer takes %.1f µs where applyBatch takes %.1f µs", large.Reducer, large.Apply)
	}
}

func BenchmarkUpdate(b *testing.B) {
	for b.Loop() {
		for key, c := range measure(b) {
			name := fmt.Sprintf("%d_messages_%d_ops", key[0], key[1])
			b.ReportMetric(c.Apply, "apply_µs/"+name)
			b.ReportMetric(c.Update, "update_µs/"+name)
			b.ReportMetric(c.Reducer, "assistant-stream_µs/"+name)
		}
	}
}

func measure(tb testing.TB, args ...string) map[[2]int]cost {
	tb.Helper()
	var list []cost
	bench(tb, "apply.bench.ts", &list, args...)
	costs := map[[2]int]cost{}
	for _, c := range list {
		tb.Logf("%+v", c)
		costs[[2]int{c.Messages, c.Ops}] = c
	}
	return costs
}

// bench runs a script of the folder bench and reads what it prints.
func bench(tb testing.TB, name string, into any, args ...string) {
	tb.Helper()
	node, dir := findNode(tb), tb.TempDir()
	script := filepath.Join(dir, "bench.mjs")
	run(tb, "node_modules/esbuild/bin/esbuild", "bench/"+name, "--bundle", "--format=esm", "--platform=node", "--packages=external", "--jsx=automatic", "--log-level=warning", "--outfile="+script)
	if err := os.Symlink(absolute(tb, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(node, append([]string{script}, args...)...)
	cmd.Env = append(os.Environ(), "NODE_ENV=production")
	cmd.Stderr = tb.Output()
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, into)
	}
	if err != nil {
		tb.Fatalf("%s: %v\n%s", name, err, out)
	}
}
