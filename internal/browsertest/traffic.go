package browsertest

import (
	"fmt"
	"slices"
	"strings"
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

	mu       sync.Mutex // guards what follows
	requests map[network.RequestID]*request
	frames   []frame // of WebSocket messages
}

type request struct {
	url     string
	begun   cdp.MonotonicTime
	arrived int // and it may go on
	whole   int // 0 while it is not over
}

func (r request) bytes() int { return max(r.arrived, r.whole) }

type frame struct {
	at    cdp.MonotonicTime
	bytes int
}

// CountTraffic begins to count. What the page has in its cache is asked for
// again: a first visit has none.
func (p *Page) CountTraffic() *Traffic {
	p.tb.Helper()
	t := &Traffic{p: p, requests: map[network.RequestID]*request{}}
	Call(p, network.Enable, network.EnableParams{})
	Call(p, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
	count(t, network.RequestWillBeSent, func(e network.EventRequestWillBeSent) {
		r := t.of(e.RequestID)
		r.url, r.begun = e.Request.URL, e.Timestamp
	})
	count(t, network.DataReceived, func(e network.EventDataReceived) { t.of(e.RequestID).arrived += int(e.EncodedDataLength) })
	count(t, network.LoadingFinished, func(e network.EventLoadingFinished) { t.of(e.RequestID).whole = int(e.EncodedDataLength) })
	count(t, network.WebSocketFrameReceived, func(e network.EventWebSocketFrameReceived) {
		t.frames = append(t.frames, frame{e.Timestamp, len(e.Response.PayloadData)})
	})
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

// of is a request; events of one kind come in their order, and those of two in any.
func (t *Traffic) of(id network.RequestID) *request {
	r := t.requests[id]
	if r == nil {
		r = &request{}
		t.requests[id] = r
	}
	return r
}

// Bytes is what came over HTTP and over WebSockets so far.
func (t *Traffic) Bytes() (http, frames int) {
	t.p.tb.Helper()
	t.settle()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.requests {
		http += r.bytes()
	}
	for _, f := range t.frames {
		frames += f.bytes
	}
	return http, frames
}

// Split is what a page needed until a moment of its own clock, in ms since it
// began to load, and a line for each request that began later: however busy the
// machine is, and however late a test looks. Of a request that had begun all of
// it counts, of WebSockets what had come. CountCPU must have been called.
func (t *Traffic) Split(ms float64) (http, frames int, later []string) {
	t.p.tb.Helper()
	t.settle()
	moment := cdp.MonotonicTime(t.p.metric("NavigationStart") + ms/1000)
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.requests {
		if r.begun <= moment {
			http += r.bytes()
		} else {
			later = append(later, fmt.Sprintf("%s %d", r.url[max(0, strings.LastIndex(r.url, "/")):], r.bytes()))
		}
	}
	for _, f := range t.frames {
		if f.at <= moment {
			frames += f.bytes
		}
	}
	slices.Sort(later)
	return http, frames, later
}

// settle returns when everything that has happened is counted.
func (t *Traffic) settle() {
	t.p.tb.Helper()
	for before := -1; ; {
		Eval[bool](t.p, "true") // what happened before is reported before this is answered
		t.mu.Lock()
		n := len(t.frames)
		for _, r := range t.requests {
			n += r.bytes()
		}
		t.mu.Unlock()
		if n == before {
			return
		}
		before = n
	}
}
