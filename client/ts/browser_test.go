package ts_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

const patience = 45 * time.Second

// findBrowser is the path of Chromium. Without it, or without node, a test is
// skipped, or fails where CI=true.
func findBrowser(tb testing.TB) string {
	tb.Helper()
	findNode(tb)
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		tb.Fatal("there is no chromium here: apt-get install chromium")
	}
	tb.Skip("there is no chromium here: apt-get install chromium")
	return ""
}

// page is a browser with one page. What the page complains of fails the test.
type page struct {
	t       testing.TB
	ctx     context.Context
	trouble []string // complaints that the test provokes contain one of these
}

func open(t testing.TB, browser, url string) *page {
	t.Helper()
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser), chromedp.NoSandbox, chromedp.WindowSize(1000, 800))
	alloc, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, cancel := chromedp.NewContext(alloc)
	p := &page{t: t, ctx: ctx}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	messages := chromedp.Console(ctx)
	var heard sync.WaitGroup
	var complaints []string
	heard.Go(func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.Type == "error" || m.Type == "assert" || m.Type == chromedp.ConsoleException {
				complaints = append(complaints, m.Text)
			}
		}
	})
	t.Cleanup(func() {
		cancel()
		stop()
		heard.Wait()
		for _, c := range complaints {
			if !p.provoked(c) {
				t.Errorf("on the console of the page: %s", c)
			}
		}
	})
	p.do(chromedp.Navigate(url))
	return p
}

func (p *page) provoked(complaint string) bool {
	for _, part := range p.trouble {
		if strings.Contains(complaint, part) {
			return true
		}
	}
	return false
}

func (p *page) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
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
	for !eval[bool](p, "(async () => { for (let i = 0; i < 40; i++) { if ("+expression+") return true; await new Promise((r) => setTimeout(r, 25)); } return false; })()") {
		if time.Now().After(end) {
			p.t.Fatalf("never true: %s\n%s", expression, eval[string](p, "document.body.innerText"))
		}
	}
}

// shot keeps what the page looks like, for -artifacts.
func (p *page) shot(name string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(p.t.ArtifactDir(), name+".png"), png, 0o644)
	}
	if err != nil {
		p.t.Error(err)
	}
}

// press clicks the button with a name.
func (p *page) press(name string) {
	p.t.Helper()
	find := fmt.Sprintf("[...document.querySelectorAll('button')].find((b) => b.innerText.trim() === %q && !b.disabled)", name)
	p.until(find + " !== undefined")
	eval[bool](p, find+".click(), true")
}

// say types a message and sends it.
func (p *page) say(text string) {
	p.t.Helper()
	p.do(chromedp.SendKeys(`[aria-label="Message"]`, text))
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	// The key alone: what it would write is the page's to decide.
	if _, err := chromedp.Call(ctx, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeRawKeyDown, Key: "Enter"}); err != nil {
		p.t.Fatal(err)
	}
	p.until(`document.querySelector('[aria-label="Message"]').value === ""`)
}
