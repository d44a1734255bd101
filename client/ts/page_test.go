package ts_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"harness/internal/browsertest"
)

// fed is a thread of assistant-ui: so many messages in the session, of which
// the newest are shown to it, or all.
type fed struct{ messages, window int }

func (f fed) String() string {
	if f.window == 0 {
		return fmt.Sprintf("%d_messages_all", f.messages)
	}
	return fmt.Sprintf("%d_messages_window_%d", f.messages, f.window)
}

// An update costs a page the same in a session of 10,000 messages as in one of
// 200. CPU time of the page's main thread, in one run; the gate has room for a
// busy machine, BenchmarkPage has the figures.
func TestAnUpdateCostsTheSameInAnySession(t *testing.T) {
	if os.Getenv("LONG") == "" {
		t.Skip("LONG=1 measures it, as make gates does")
	}
	t.Parallel()
	short, long := fed{200, 50}, fed{10_000, 50}
	got := costOf(t, 2, 8, short, long)
	t.Log(got)
	if got[long] > 2*got[short] {
		t.Errorf("an update takes %v with 10,000 messages, %v with 200", got[long], got[short])
	}
}

// An update through a window costs a tenth at most of what assistant-ui takes
// for 2,000 messages if it is given them all.
func TestAWindowCostsATenth(t *testing.T) {
	if os.Getenv("LONG") == "" {
		t.Skip("LONG=1 measures assistant-ui with 2,000 messages")
	}
	window, all := fed{2_000, 50}, fed{2_000, 0}
	got := costOf(t, 3, 12, window, all)
	t.Log(got)
	if got[all] < 10*got[window] {
		t.Errorf("an update takes %v through a window, %v without", got[window], got[all])
	}
}

func BenchmarkPage(b *testing.B) {
	for b.Loop() {
		for f, d := range costOf(b, 5, 20, fed{200, 50}, fed{2_000, 50}, fed{10_000, 50}, fed{200, 0}, fed{2_000, 0}) {
			b.ReportMetric(float64(d.Microseconds())/1000, "cpu-ms/"+f.String())
		}
	}
}

// costOf is what one update costs the main thread of a page, the least of some
// rounds of updates.
func costOf(tb testing.TB, rounds, updates int, pages ...fed) map[fed]time.Duration {
	tb.Helper()
	findNode(tb)
	at, _ := browsertest.Rival(tb, ".")
	p := chromium.Open(tb)
	p.CountCPU()
	costs := map[fed]time.Duration{}
	for _, f := range pages {
		url := fmt.Sprintf("%s/?messages=%d", at, f.messages)
		if f.window > 0 {
			url += fmt.Sprint("&window=", f.window)
		}
		p.Do(url, chromedp.Navigate(url))
		p.Until(`document.querySelectorAll("p").length > 40`)
		n := updates
		if f.window == 0 {
			n = 2 // each takes long
		}
		update := fmt.Sprintf("updates(%d).then(() => true)", n)
		browsertest.Eval[bool](p, update)
		for range rounds {
			before := p.CPU()
			browsertest.Eval[bool](p, update)
			if d := (p.CPU() - before) / time.Duration(n); costs[f] == 0 || d < costs[f] {
				costs[f] = d
			}
		}
		if !browsertest.Eval[bool](p, "complete()") {
			tb.Fatalf("%v: what was told is not shown", f)
		}
	}
	return costs
}
