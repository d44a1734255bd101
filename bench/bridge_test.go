package bench

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// bridged is what a benchmark of a bridge says, by the name of its figure. The
// benchmarks are with the bridges, whose test programs they need; each measures
// the real program behind the engine, and of each piece of text by itself when
// the program had printed it and when the engine told of it.
type bridged map[string]float64

// measureBridge runs a benchmark of an engine: "claude BenchmarkBridge".
func measureBridge(tb testing.TB, which string) bridged {
	tb.Helper()
	engine, name, _ := strings.Cut(which, " ")
	cmd := exec.CommandContext(tb.Context(), "go", "test", "-run", "^$", "-bench", "^"+name+"$", "-benchtime", "5x", "./engine/"+engine)
	cmd.Dir = ".."
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("%s: %v\n%s", which, err, out)
	}
	found := bridged{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(f[0], name) {
			continue
		}
		for i := 2; i+1 < len(f); i += 2 {
			if v, err := strconv.ParseFloat(f[i], 64); err == nil {
				found[f[i+1]] = v
			}
		}
	}
	if len(found) == 0 {
		tb.Skipf("%s has not run:\n%s", which, out)
	}
	return found
}

// BenchmarkBridges prints what the bridges' own benchmarks measure.
func BenchmarkBridges(b *testing.B) {
	for _, which := range []string{"claude BenchmarkBridge", "codex BenchmarkBridge", "acp BenchmarkBridge", "acp BenchmarkOwn"} {
		b.Run(strings.ReplaceAll(which, " Benchmark", "/"), func(b *testing.B) {
			for b.Loop() {
				for name, v := range bridges.get(b, which, measureBridge) {
					if name != "ns/op" && strings.Contains(name, "/") || strings.HasSuffix(name, "B") {
						b.ReportMetric(v, name)
					}
				}
			}
		})
	}
}
