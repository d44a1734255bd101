package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

var (
	browserOnce sync.Once
	browserCtx  context.Context
	browserEnd  = func() {}
	browserErr  error
)

func endBrowser() { browserEnd() }

// chromium is the browser that all tests share; each has its own profile in it.
func chromium(t testing.TB) context.Context {
	t.Helper()
	browserOnce.Do(func() {
		var path string
		for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
			if p, err := exec.LookPath(name); err == nil {
				path = p
				break
			}
		}
		if path == "" {
			browserErr = fmt.Errorf("there is no chromium here: apt-get install chromium")
			return
		}
		opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(1360, 860), chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("lang", "en-US"))
		alloc, stop := chromedp.NewExecAllocator(context.Background(), opts...)
		ctx, cancel := chromedp.NewContext(alloc)
		browserCtx, browserEnd = ctx, func() { cancel(); stop() }
		browserErr = chromedp.Do(ctx)
	})
	if browserErr != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(browserErr)
		}
		t.Skip(browserErr)
	}
	return browserCtx
}

// page is a tab of a browser that is logged in.
type page struct {
	t     testing.TB
	h     *house
	ctx   context.Context
	close func()

	mu     sync.Mutex // guards what follows
	errors []string
	allow  []string // errors that a test provokes contain one of these
}

// visit opens a path of the console in a browser of its own.
func (h *house) visit(t testing.TB, path string) *page {
	t.Helper()
	ctx, cancel := chromedp.NewContext(chromium(t), chromedp.WithNewBrowserContext())
	p := h.open(t, ctx, cancel)
	p.do("log in", chromedp.Navigate(h.loginURL()))
	p.see(`[data-testid="lamp"][data-phase="open"]`)
	if path != "/" {
		p.goTo(path)
	}
	return p
}

// tab is another tab of the same browser.
func (p *page) tab(path string) *page {
	p.t.Helper()
	ctx, cancel := chromedp.NewContext(p.ctx)
	q := p.h.open(p.t, ctx, cancel)
	q.goTo(path)
	return q
}

// open opens a tab and listens to its console until the test is over.
func (h *house) open(t testing.TB, ctx context.Context, cancel func()) *page {
	t.Helper()
	p := &page{t: t, h: h, ctx: ctx, close: cancel}
	p.do("open a tab", chromedp.EmulateViewport(1360, 860))
	messages := chromedp.Console(ctx)
	var heard sync.WaitGroup
	heard.Go(func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.Type == "error" || m.Type == "assert" || m.Type == chromedp.ConsoleException || strings.Contains(m.Text, "Content Security Policy") {
				p.mu.Lock()
				p.errors = append(p.errors, m.Text)
				p.mu.Unlock()
			}
		}
	})
	t.Cleanup(func() {
		if t.Failed() {
			p.shot("failed")
		}
		cancel()
		heard.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, e := range p.errors {
			if !p.allowed(e) {
				t.Errorf("on the console of the page: %s", e)
			}
		}
	})
	return p
}

func (p *page) allowed(e string) bool {
	for _, a := range p.allow {
		if strings.Contains(e, a) {
			return true
		}
	}
	return false
}

// expect allows errors of the browser that contain one of these.
func (p *page) expect(parts ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.allow = append(p.allow, parts...)
}

func (p *page) do(what string, actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	if what == "open a tab" { // the first call's context is the tab's
		ctx = p.ctx
	}
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
}

func (p *page) goTo(path string) {
	p.t.Helper()
	p.do("go to "+path, chromedp.Navigate(p.h.url+path))
}

// walk goes to a path as a link of the page does, without loading it anew.
func (p *page) walk(path string) {
	p.t.Helper()
	eval[bool](p, "(history.pushState(null, '', "+quote(path)+"), true)")
}

// eval is the value of an expression.
func eval[T any](p *page, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits until an expression is true.
func (p *page) until(expression string) {
	p.t.Helper()
	end := time.Now().Add(patience)
	for {
		ctx, cancel := context.WithTimeout(p.ctx, patience)
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("(async () => { for (let i = 0; i < 40; i++) { if ("+expression+") return true; await new Promise((r) => setTimeout(r, 25)); } return false; })()", chromedp.EvalAwaitPromise))
		cancel()
		if ok {
			return
		}
		if time.Now().After(end) {
			p.t.Fatalf("never true: %s (%v)\n%s", expression, err, p.text("body"))
		}
	}
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// see waits for an element that matches.
func (p *page) see(selector string) {
	p.t.Helper()
	p.until("document.querySelector(" + quote(selector) + ") !== null")
}

// gone waits until no element matches.
func (p *page) gone(selector string) {
	p.t.Helper()
	p.until("document.querySelector(" + quote(selector) + ") === null")
}

// read waits for a text to be on the page.
func (p *page) read(text string) {
	p.t.Helper()
	p.until("document.body.innerText.toLowerCase().includes(" + quote(strings.ToLower(text)) + ")")
}

func (p *page) text(selector string) string {
	p.t.Helper()
	return eval[string](p, "document.querySelector("+quote(selector)+")?.innerText ?? ''")
}

// press clicks the button or link with a name.
func (p *page) press(name string) {
	p.t.Helper()
	find := "[...document.querySelectorAll('button, a, [role=option]')].find((b) => (b.getAttribute('aria-label') ?? b.innerText).trim().startsWith(" + quote(name) + ") && b.offsetParent !== null && !b.disabled)"
	p.until(find + " !== undefined")
	eval[bool](p, find+".click(), true")
}

// key presses keys, one after the other. One character is a key and nothing
// else: what it would write is the page's to decide.
func (p *page) key(keys ...string) {
	p.t.Helper()
	for _, k := range keys {
		if len(k) > 1 || k[0] < ' ' {
			p.do("key "+k, chromedp.KeyEvent(k))
			continue
		}
		for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
			ctx, cancel := context.WithTimeout(p.ctx, patience)
			_, err := chromedp.Call(ctx, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: k})
			cancel()
			if err != nil {
				p.t.Fatalf("key %s: %v", k, err)
			}
		}
	}
}

// write types into what matches.
func (p *page) write(selector, text string) {
	p.t.Helper()
	p.see(selector)
	p.do("write into "+selector, chromedp.SendKeys(selector, text))
}

// shot keeps what the page looks like.
func (p *page) shot(name string) {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(p.t.ArtifactDir(), name+".png"), png, 0o644)
	}
	if err != nil {
		p.t.Logf("screenshot %s: %v", name, err)
	}
}

// theme makes the page light or dark.
func (p *page) theme(name string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	want := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"}}}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, want); err != nil {
		p.t.Fatal(err)
	}
	p.see(`html[data-theme="` + name + `"]`)
}

const (
	enter  = kb.Enter
	escape = kb.Escape
)
