package browsertest

import (
	"context"
	"net/url"
	"slices"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// Failed are the paths of requests that were made to fail.
type Failed struct {
	mu   sync.Mutex // guards what follows
	once map[string]bool
}

// Paths is every path of which a request failed, in order.
func (f *Failed) Paths() (all []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for path := range f.once {
		all = append(all, path)
	}
	slices.Sort(all)
	return all
}

func (f *Failed) first(path string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.once[path]
	f.once[path] = true
	return !was
}

// FailFirst has the first request of every path that is chosen break off, as
// when a network changes; the next ones are let through. Documents and
// WebSockets are let alone.
func (p *Page) FailFirst(choose func(method, path string) bool) *Failed {
	p.tb.Helper()
	return p.failFirst(fetch.RequestStageRequest, choose)
}

// LoseFirst is FailFirst for answers: the server has had the request.
func (p *Page) LoseFirst(choose func(method, path string) bool) *Failed {
	p.tb.Helper()
	return p.failFirst(fetch.RequestStageResponse, choose)
}

func (p *Page) failFirst(at fetch.RequestStage, choose func(method, path string) bool) *Failed {
	p.tb.Helper()
	f := &Failed{once: map[string]bool{}}
	p.fail(at, func(method, path string) bool { return choose(method, path) && f.first(path) })
	return f
}

// Fail has every request break off that is chosen; documents and WebSockets are
// let alone.
func (p *Page) Fail(choose func(method, path string) bool) {
	p.tb.Helper()
	p.fail(fetch.RequestStageRequest, choose)
}

func (p *Page) fail(at fetch.RequestStage, choose func(method, path string) bool) {
	p.tb.Helper()
	p.intercept(at, func(id fetch.RequestID, method string, u *url.URL) error {
		if choose(method, u.Path) {
			return call(p, fetch.FailRequest, fetch.FailRequestParams{RequestID: id, ErrorReason: network.ErrorReasonConnectionReset})
		}
		return call(p, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: id})
	})
}

// Divert has requests answered from another path, of which the page knows
// nothing; documents and WebSockets are let alone.
func (p *Page) Divert(to func(path string) string) {
	p.tb.Helper()
	p.intercept(fetch.RequestStageRequest, func(id fetch.RequestID, _ string, u *url.URL) error {
		u.Path = to(u.Path)
		return call(p, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: id, URL: u.String()})
	})
}

func (p *Page) intercept(at fetch.RequestStage, answer func(id fetch.RequestID, method string, u *url.URL) error) {
	p.tb.Helper()
	events := chromedp.Events(p.ctx, fetch.RequestPaused)
	Call(p, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{RequestStage: at}}})
	p.heard.Go(func() {
		for e, err := range events {
			if err != nil {
				return
			}
			u, err := url.Parse(e.Request.URL)
			if err != nil || e.ResourceType == network.ResourceTypeDocument {
				err = call(p, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
			} else {
				err = answer(e.RequestID, e.Request.Method, u)
			}
			if err != nil && p.ctx.Err() == nil {
				p.tb.Logf("let %s go: %v", e.Request.URL, err) // its page is another by now
			}
		}
	})
}

// call is [Call] for what may be too late.
func call[P, R any](p *Page, command cdp.Command[P, R], params P) error {
	ctx, cancel := context.WithTimeout(p.ctx, Patience)
	defer cancel()
	_, err := chromedp.Call(ctx, command, params)
	return err
}
