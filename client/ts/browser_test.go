package ts_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"harness/internal/browsertest"
)

var chromium browsertest.Browser

func TestMain(m *testing.M) {
	defer chromium.Close()
	m.Run()
}

// page is a page of the example, in the words of its tests.
type page struct{ *browsertest.Page }

func open(t testing.TB, url string) *page {
	t.Helper()
	p := &page{chromium.Open(t)}
	p.Do("go to "+url, chromedp.Navigate(url))
	return p
}

// press clicks the button with a name.
func (p *page) press(name string) {
	find := fmt.Sprintf("[...document.querySelectorAll('button')].find((b) => b.innerText.trim() === %q && !b.disabled)", name)
	p.Until(find + " !== undefined")
	browsertest.Eval[bool](p.Page, find+".click(), true")
}

// say types a message and sends it.
func (p *page) say(text string) {
	p.Do("write", chromedp.SendKeys(`[aria-label="Message"]`, text))
	// The key alone: what it would write is the page's to decide.
	browsertest.Call(p.Page, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeRawKeyDown, Key: "Enter"})
	p.Until(`document.querySelector('[aria-label="Message"]').value === ""`)
}
