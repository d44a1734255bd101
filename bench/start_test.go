package bench

import (
	"testing"
	"time"
)

// start is how long a server takes from exec to its answer to initialize, and
// what it has in memory then: ours and codex app-server.
type start struct{ ours, codex, oursAgain, codexAgain started }

// started are medians.
type started struct {
	took           time.Duration
	rss, anonymous int64
}

// slower and larger are the other one's time and memory in terms of ours.
func (s started) slower(other started) float64 { return float64(other.took) / float64(s.took) }
func (s started) larger(other started) float64 { return float64(other.rss) / float64(s.rss) }

// starts are samples of one kind of start.
type starts struct {
	took           []time.Duration
	rss, anonymous []int64
}

func (s *starts) add(begin func() *agent) {
	a := begin()
	s.took = append(s.took, time.Since(a.started))
	rss, anonymous := a.resident()
	s.rss, s.anonymous = append(s.rss, rss), append(s.anonymous, anonymous)
	a.end()
}

func (s *starts) median() started {
	return started{median(s.took), median(s.rss), median(s.anonymous)}
}

// measureStart starts each in an empty directory and once more in the same,
// in turns. What is on disk of both programs is in the page cache by then.
func measureStart(tb testing.TB, _ struct{}) start {
	codex, ours := codexBinary(tb), buildHarness(tb)
	forget(tb, codex)
	rounds := 15
	if long() {
		rounds = 51
	}
	var s [4]starts
	for i := range rounds + 1 {
		if i == 1 {
			s = [4]starts{} // the first round read the programs from disk
		}
		dir, home := tb.TempDir(), codexHome(tb, "http://127.0.0.1:9")
		begin := func() *agent { return startStdio(tb, ours, dir) }
		other := func() *agent { return startCodex(tb, codex, home) }
		s[0].add(begin)
		s[1].add(other)
		s[2].add(begin)
		s[3].add(other)
	}
	return start{s[0].median(), s[1].median(), s[2].median(), s[3].median()}
}

// BenchmarkStdioStart is exec to the answer to initialize.
func BenchmarkStdioStart(b *testing.B) {
	s := stdioStarts.get(b, struct{}{}, measureStart)
	b.ReportMetric(0, "ns/op")
	for _, m := range []struct {
		name string
		started
	}{{"ours", s.ours}, {"codex", s.codex}, {"ours-again", s.oursAgain}, {"codex-again", s.codexAgain}} {
		b.ReportMetric(float64(m.took.Microseconds())/1000, m.name+"-ms")
		b.ReportMetric(float64(m.rss)/1e6, m.name+"-MB")
		b.ReportMetric(float64(m.anonymous)/1e6, m.name+"-anonymous-MB")
	}
	b.ReportMetric(s.ours.slower(s.codex), "x-faster")
	b.ReportMetric(s.ours.larger(s.codex), "x-smaller")
	b.ReportMetric(s.oursAgain.slower(s.codexAgain), "x-faster-again")
	b.ReportMetric(s.oursAgain.larger(s.codexAgain), "x-smaller-again")
}
