package browsertest

import (
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// Traffic is every byte that a page has received since it began to count: HTTP
// with its headers and compressed as it came, streams that are still open, and
// the messages of WebSockets.
type Traffic struct {
	p *Page

	mu      sync.Mutex                // guards what follows
	arrived map[network.RequestID]int // of answers that may go on
	whole   map[network.RequestID]int // of those that are over
	frames  int                       // of WebSocket messages
}

// CountTraffic begins to count. What the page has in its cache is asked for
// again: a first visit has none.
func (p *Page) CountTraffic() *Traffic {
	p.tb.Helper()
	t := &Traffic{p: p, arrived: map[network.RequestID]int{}, whole: map[network.RequestID]int{}}
	Call(p, network.Enable, network.EnableParams{})
	Call(p, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
	count(t, network.DataReceived, func(e network.EventDataReceived) { t.arrived[e.RequestID] += int(e.EncodedDataLength) })
	count(t, network.LoadingFinished, func(e network.EventLoadingFinished) { t.whole[e.RequestID] = int(e.EncodedDataLength) })
	count(t, network.WebSocketFrameReceived, func(e network.EventWebSocketFrameReceived) { t.frames += len(e.Response.PayloadData) })
	return t
}

func count[E any](t *Traffic, event cdp.Event[E], add func(E)) {
	events := chromedp.Events(t.p.ctx, event)
	t.p.heard.Go(func() {
		for e, err := range events {
			if err != nil {
				return
			}
			t.mu.Lock()
			add(e)
			t.mu.Unlock()
		}
	})
}

// Bytes is what came over HTTP and over WebSockets so far.
func (t *Traffic) Bytes() (http, frames int) {
	t.p.tb.Helper()
	for before := -1; ; before = http + frames {
		Eval[bool](t.p, "true") // what happened before is reported before this is answered
		http, frames = t.sum()
		if http+frames == before {
			return http, frames
		}
	}
}

func (t *Traffic) sum() (http, frames int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, n := range t.arrived {
		http += max(n, t.whole[id])
	}
	for id, n := range t.whole {
		if _, counted := t.arrived[id]; !counted {
			http += n
		}
	}
	return http, t.frames
}
