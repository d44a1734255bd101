package retrieval_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"harness/retrieval"
)

// sources is a tree of some ten thousand real files: Go's own.
func sources(tb testing.TB) string {
	tb.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	dir := filepath.Join(strings.TrimSpace(string(out)), "src")
	if _, missing := os.Stat(dir); err != nil || missing != nil {
		tb.Skip("Go's sources are not here")
	}
	return dir
}

// scan is how long the usual tool takes to find the files with a word, with its
// cache warm.
func scan(tb testing.TB, dir, word string) (time.Duration, string) {
	tb.Helper()
	args := []string{"grep", "-r", "-i", "-l", word, dir}
	if _, err := exec.LookPath("rg"); err == nil {
		args = []string{"rg", "-i", "-l", word, dir}
	}
	began := time.Now()
	if out, err := exec.Command(args[0], args[1:]...).Output(); err != nil || len(out) == 0 {
		tb.Fatalf("%v: %v", args, err)
	}
	return time.Since(began), args[0]
}

// BenchmarkTenThousandFiles indexes a tree, looks at it again, and searches it,
// beside a scan by ripgrep (or grep) in the same run.
func BenchmarkTenThousandFiles(b *testing.B) {
	dir := sources(b)
	scan(b, dir, "writeBarrier")
	var build, again, find, rare, tool time.Duration
	var name string
	var memory int64
	var r retrieval.Report
	for b.Loop() {
		before := inUse()
		x := retrieval.Open(os.DirFS(dir), nil)
		r = refresh(b, x)
		build += r.Took
		memory += inUse() - before
		again += refresh(b, x).Took
		d, by := scan(b, dir, "writeBarrier")
		tool, name = tool+d, by
		rare += often(b, x, "writeBarrier")
		find += often(b, x, "where does the runtime return an error of a file that is not open")
		runtime.KeepAlive(x)
	}
	each := float64(b.N)
	ms := func(d time.Duration) float64 { return d.Seconds() * 1000 / each }
	for unit, value := range map[string]float64{
		"files":                       float64(r.Files),
		"text-B/file":                 float64(r.Bytes) / float64(r.Files),
		"index-B/file":                float64(memory) / each / float64(r.Files),
		"build-ms":                    ms(build),
		"build-MB/s":                  float64(r.Bytes) * each / build.Seconds() / 1e6,
		"build-in-" + name + "-scans": build.Seconds() / tool.Seconds(),
		"refresh-ms":                  ms(again),
		"word-ms":                     ms(rare),
		"sentence-ms":                 ms(find),
		name + "-ms":                  ms(tool),
		"word-x-" + name:              tool.Seconds() / rare.Seconds(),
		"sentence-x-" + name:          tool.Seconds() / find.Seconds(),
		"refresh+sentence-x-" + name:  tool.Seconds() / (again + find).Seconds(),
	} {
		b.ReportMetric(value, unit)
	}
}

// often is the time of one search out of several.
func often(b *testing.B, x *retrieval.Index, query string) time.Duration {
	const n = 20
	began := time.Now()
	for range n {
		if len(search(b, x, query, 10)) != 10 {
			b.Fatal("not found")
		}
	}
	return time.Since(began) / n
}

func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
