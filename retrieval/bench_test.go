package retrieval_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"harness/retrieval"
)

// thousands writes n files of code-like text, 6 kB on average, with words as
// frequent as words are.
func thousands(tb testing.TB, n int) (dir string, bytes int64) {
	tb.Helper()
	dir = tb.TempDir()
	r := rand.New(rand.NewPCG(5, 6))
	frequent := rand.NewZipf(r, 1.1, 4, 30_000)
	word := func() string {
		name := []byte{'w'}
		for v := frequent.Uint64(); ; v /= 20 {
			name = append(name, "bcdfghjklmnpqrstvwxz"[v%20], "aeiou"[v%5])
			if v < 20 {
				return string(name)
			}
		}
	}
	old := time.Now().Add(-time.Hour)
	for i := range n {
		var b strings.Builder
		for range 40 + r.IntN(240) {
			fmt.Fprintf(&b, "\t%s.%s(%s_%s)\n", word(), word(), word(), word())
		}
		if i%1000 == 0 {
			b.WriteString("func retryBudget() {}\n")
		}
		name := filepath.Join(dir, fmt.Sprintf("d%02d", i%97), fmt.Sprintf("file%d.go", i))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
			tb.Fatal(err)
		}
		if err := os.Chtimes(name, old, old); err != nil {
			tb.Fatal(err)
		}
		bytes += int64(b.Len())
	}
	return dir, bytes
}

// scan is how long the usual tool takes to look for a word.
func scan(tb testing.TB, dir, word string) (time.Duration, string) {
	tb.Helper()
	args := []string{"grep", "-r", "-l", word, dir}
	if _, err := exec.LookPath("rg"); err == nil {
		args = []string{"rg", "-l", "-i", word, dir}
	}
	began := time.Now()
	if out, err := exec.Command(args[0], args[1:]...).Output(); err != nil || strings.Count(string(out), "\n") != 10 {
		tb.Fatalf("%v: %d lines, %v", args, strings.Count(string(out), "\n"), err)
	}
	return time.Since(began), args[0]
}

// BenchmarkTenThousandFiles indexes a tree, looks at it again, and searches it,
// beside a scan by ripgrep (or grep) in the same run.
func BenchmarkTenThousandFiles(b *testing.B) {
	const n = 10_000
	dir, bytes := thousands(b, n)
	var build, again, find, rare, tool time.Duration
	var name string
	var memory float64
	for b.Loop() {
		before := inUse()
		x := retrieval.Open(os.DirFS(dir), nil)
		build += refresh(b, x).Took
		memory += float64(inUse()-before) / n
		if r := refresh(b, x); r.Read != 0 || r.Files != n {
			b.Fatalf("%+v", r)
		} else {
			again += r.Took
		}
		began := time.Now()
		const searches = 20
		for range searches {
			if len(search(b, x, "retry budget", 10)) != 10 {
				b.Fatal("not found")
			}
		}
		rare += time.Since(began) / searches
		began = time.Now()
		for range searches {
			search(b, x, "wba wce wdi wfo wgu wbace retry budget", 10)
		}
		find += time.Since(began) / searches
		var d time.Duration
		d, name = scan(b, dir, "retryBudget")
		tool += d
		runtime.KeepAlive(x)
	}
	each := float64(b.N)
	ms := func(d time.Duration) float64 { return d.Seconds() * 1000 / each }
	b.ReportMetric(ms(build), "build-ms")
	b.ReportMetric(float64(bytes)*each/build.Seconds()/1e6, "build-MB/s")
	b.ReportMetric(ms(again), "refresh-ms")
	b.ReportMetric(ms(rare), "search-ms")
	b.ReportMetric(ms(find), "search-common-ms")
	b.ReportMetric(ms(tool), name+"-ms")
	b.ReportMetric(tool.Seconds()/rare.Seconds(), "search-x-"+name)
	b.ReportMetric(tool.Seconds()/find.Seconds(), "search-common-x-"+name)
	b.ReportMetric(tool.Seconds()/(again+rare).Seconds(), "refresh+search-x-"+name)
	b.ReportMetric(build.Seconds()/tool.Seconds(), "build-in-"+name+"-scans")
	b.ReportMetric(memory/each, "B/file")
	b.ReportMetric(float64(bytes)/n, "text-B/file")
}

func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
