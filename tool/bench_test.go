package tool_test

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// BenchmarkGrep searches 10,000 files of 4 kB, next to grep -r on the same files.
func BenchmarkGrep(b *testing.B) {
	s := open(b)
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("func return if else for range the quick brown fox jumps over lazy dog error nil string int bool struct package import context")
	for i := range 10_000 {
		var text strings.Builder
		for text.Len() < 4000 {
			fmt.Fprintf(&text, "%s %s %s %d\n", words[r.IntN(len(words))], words[r.IntN(len(words))], words[r.IntN(len(words))], r.IntN(1000))
		}
		if i%100 == 0 {
			text.WriteString("here is the needle of it\n")
		}
		s.put(fmt.Sprintf("d%d/e%d/f%d.txt", i%20, i/20%20, i), text.String())
	}
	for _, c := range []struct{ name, ours, theirs string }{
		{"literal", "needle", "needle"},
		{"expression", "need[a-z]+ of", "need[a-z]+ of"},
		{"nothing", "no such thing", "no such thing"},
		{"slow expression", "[a-z]+ the needle", "[a-z]+ the needle"},
	} {
		b.Run(c.name, func(b *testing.B) {
			var theirs time.Duration
			const rounds = 3
			for range rounds {
				began := time.Now()
				_ = exec.Command("grep", "-rnE", c.theirs, s.env.Directory).Run()
				if d := time.Since(began); theirs == 0 || d < theirs {
					theirs = d
				}
			}
			for b.Loop() {
				s.do("grep", in{"pattern": c.ours})
			}
			ours := b.Elapsed() / time.Duration(b.N)
			b.ReportMetric(float64(theirs.Microseconds())/1000, "grep-ms")
			b.ReportMetric(float64(ours)/float64(theirs), "ratio")
		})
	}
}

func BenchmarkGlob(b *testing.B) {
	s := open(b)
	for i := range 10_000 {
		s.put(fmt.Sprintf("d%d/e%d/f%d.txt", i%20, i/20%20, i), "x")
	}
	for b.Loop() {
		s.do("glob", in{"pattern": "**/*99.txt"})
	}
}

// BenchmarkBash is what a command costs on top of the sandbox.
func BenchmarkBash(b *testing.B) {
	s := open(b)
	for b.Loop() {
		s.do("bash", in{"command": ":"})
	}
}

func BenchmarkEdit(b *testing.B) {
	s := open(b)
	s.put("f", strings.Repeat("some line of text\n", 2000)+"the place A\n")
	s.do("read", in{"path": "f"})
	from, to := "A", "B"
	for b.Loop() {
		s.do("edit", in{"path": "f", "old_string": "place " + from, "new_string": "place " + to})
		from, to = to, from
	}
}
