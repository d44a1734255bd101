package browsertest

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// The size of a window.
const width, height = 1360, 860

// Patience is how long a page may take for anything.
const Patience = 45 * time.Second

// Page is a tab. An error on its console, or a violation of its content policy,
// fails the test when that ends, unless it was expected.
type Page struct {
	tb    testing.TB
	ctx   context.Context
	heard sync.WaitGroup // who listens to it, until it ends

	mu         sync.Mutex // guards what follows
	complaints []string
	expected   []string
}

func open(tb testing.TB, ctx context.Context, cancel func()) *Page {
	tb.Helper()
	p := &Page{tb: tb, ctx: ctx}
	// The first call's context is the tab's, so that it has no deadline.
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, height)); err != nil {
		tb.Fatalf("open a tab: %v", err)
	}
	messages := chromedp.Console(ctx)
	p.heard.Go(func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			p.hear(m)
		}
	})
	tb.Cleanup(func() {
		if tb.Failed() {
			p.keep("failed")
		}
		cancel()
		p.heard.Wait()
		for _, c := range p.complaints {
			if !p.isExpected(c) {
				tb.Errorf("on the console of the page: %s", c)
			}
		}
	})
	return p
}

// Tab is another tab of the same profile.
func (p *Page) Tab() *Page {
	p.tb.Helper()
	ctx, cancel := chromedp.NewContext(p.ctx)
	return open(p.tb, ctx, cancel)
}

func (p *Page) hear(m chromedp.ConsoleMessage) {
	if m.Type == "error" || m.Type == "assert" || m.Type == chromedp.ConsoleException || strings.Contains(m.Text, "Content Security Policy") {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.complaints = append(p.complaints, m.Text)
	}
}

// Expect allows complaints that contain one of these: the test provokes them.
func (p *Page) Expect(parts ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expected = append(p.expected, parts...)
}

func (p *Page) isExpected(complaint string) bool {
	for _, part := range p.expected {
		if strings.Contains(complaint, part) {
			return true
		}
	}
	return false
}

// Do carries actions out.
func (p *Page) Do(what string, actions ...chromedp.Action[chromedp.Void]) {
	p.tb.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.tb.Fatalf("%s: %v", what, err)
	}
}

// Call asks the browser for something that is no action.
func Call[P, R any](p *Page, command cdp.Command[P, R], params P) R {
	p.tb.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Patience)
	defer cancel()
	r, err := chromedp.Call(ctx, command, params)
	if err != nil {
		p.tb.Fatal(err)
	}
	return r
}

// Eval is the value of an expression, or of the promise that it is.
func Eval[T any](p *Page, expression string) T {
	p.tb.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.tb.Fatalf("%s: %v", expression, err)
	}
	return v
}

// Until waits until an expression is true. It may be asked again in another
// document: a page may load meanwhile.
func (p *Page) Until(expression string) {
	p.tb.Helper()
	ask := chromedp.Evaluate[bool]("(async () => { for (let i = 0; i < 40; i++) { if ("+expression+") return true; await new Promise((r) => setTimeout(r, 25)); } return false; })()", chromedp.EvalAwaitPromise)
	ctx, cancel := context.WithTimeout(p.ctx, Patience)
	defer cancel()
	for {
		ok, err := chromedp.Run(ctx, ask)
		if ok {
			return
		}
		if ctx.Err() != nil {
			p.tb.Fatalf("never true: %s (%v)\n%s", expression, err, Eval[string](p, "document.body?.innerText ?? ''"))
		}
	}
}

// Quote is a text as JavaScript writes it.
func Quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string has a form
	}
	return string(b)
}

// gallery is a folder for pictures that CI names: with -artifacts go test would
// remember no result.
func gallery() string { return os.Getenv("HARNESS_TEST_PICTURES") }

// Keeps reports whether the test was asked to keep artefacts: to paint a page
// costs more than most tests.
func (p *Page) Keeps() bool {
	return gallery() != "" || slices.Contains(strings.Split(filepath.ToSlash(p.tb.ArtifactDir()), "/"), "_artifacts") // go test -artifacts
}

// Shot keeps what the page looks like now, if the test keeps artefacts.
func (p *Page) Shot(name string) {
	p.tb.Helper()
	if p.Keeps() {
		p.keep(name)
	}
}

func (p *Page) keep(name string) {
	p.tb.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	for _, dir := range []string{p.tb.ArtifactDir(), gallery()} {
		if err == nil && dir != "" {
			err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
		}
	}
	if err != nil {
		p.tb.Logf("screenshot %s: %v", name, err)
	}
}
