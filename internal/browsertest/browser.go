package browsertest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// Browser is a Chromium that starts when it is first needed. The zero value is
// ready. Tests share one, each with a profile of its own.
type Browser struct {
	once sync.Once
	ctx  context.Context
	stop func()
	err  error
}

// Close ends it, if it runs.
func (b *Browser) Close() {
	b.once.Do(func() { b.err = errors.New("the browser was closed") })
	if b.stop != nil {
		b.stop()
	}
}

// Open is a page with nothing in it, in a profile of its own, until the test
// ends. Without Chromium the test is skipped, or fails where CI=true.
func (b *Browser) Open(tb testing.TB) *Page {
	tb.Helper()
	b.once.Do(b.start)
	if b.err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatal(b.err)
		}
		tb.Skip(b.err)
	}
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	return open(tb, ctx, cancel)
}

func (b *Browser) start() {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		b.err = errors.New("there is no chromium here: apt-get install chromium")
		return
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(width, height), chromedp.Flag("lang", "en-US"),
		// Processes in stock, and pages kept for the way back, are work for nobody.
		chromedp.Flag("disable-features", "Translate,BackForwardCache,SpareRendererForSitePerProcess"))
	alloc, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, cancel := chromedp.NewContext(alloc)
	b.ctx, b.stop = ctx, func() { cancel(); stop() }
	b.err = chromedp.Do(ctx)
}
