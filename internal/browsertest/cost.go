package browsertest

import (
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/performance"
)

// CountCPU begins to count what the page's main thread works.
func (p *Page) CountCPU() {
	p.tb.Helper()
	Call(p, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
}

// CPU is how long the page's main thread has worked since CountCPU, whatever
// else the machine does.
func (p *Page) CPU() time.Duration {
	p.tb.Helper()
	return time.Duration(p.metric("TaskDuration") * float64(time.Second))
}

// Heap is what the page's scripts hold after a collection, in bytes.
func (p *Page) Heap() float64 {
	p.tb.Helper()
	Call(p, heapprofiler.CollectGarbage, cdp.Empty{})
	return p.metric("JSHeapUsedSize")
}

func (p *Page) metric(name string) float64 {
	p.tb.Helper()
	for _, m := range Call(p, performance.GetMetrics, cdp.Empty{}).Metrics {
		if m.Name == name {
			return m.Value
		}
	}
	p.tb.Fatalf("there is no %s", name)
	return 0
}
