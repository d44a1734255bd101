package browser

import "github.com/chromedp/chromedp"

// over is something that stands over a screen: where it is opened, when it can
// be, how, and what it is known by. It says nothing in a language.
type over struct {
	name, path, ready string
	open              func(*page)
	sign              string
}

// overs are all dialogs, and the menu.
func overs(c cast) []over {
	const dialog = "dialog[open]"
	key := func(k string) func(*page) { return func(p *page) { p.key(k) } }
	click := func(find string) func(*page) {
		return func(p *page) { eval[bool](p, "("+find+".click(), true)") }
	}
	menu := `document.querySelector('main [aria-haspopup="menu"]')`
	return []over{
		{"new-session", "/", "[data-session]", key("n"), dialog},
		{"keyboard", "/", "[data-session]", key("?"), dialog},
		{"palette", "/", "[data-session]", func(p *page) { p.do("palette", chromedp.KeyEvent("k", chromedp.KeyModifiers(2))) }, `dialog[open] [role="option"]`},
		{"batch", "/inbox", "[data-approval] footer", click(`[...document.querySelectorAll("main header button")].at(-1)`), dialog},
		{"always", "/s/" + c.asking, answerable, key("a"), `[data-testid="rule"]`},
		{"branch", "/s/" + c.done, "article", key("b"), dialog},
		{"rewind", "/s/" + c.done, "article button", click(`document.querySelector("article button")`), `[data-testid="rewind"] li`},
		{"menu", "/s/" + c.done, "article", click(menu), `[role="menu"]`},
		{"delete", "/s/" + c.done, "article", func(p *page) {
			click(menu)(p)
			p.see(`[role="menuitem"]`)
			click(`[...document.querySelectorAll('[role="menuitem"]')].at(-1)`)(p)
		}, dialog},
	}
}

// each opens one after the other, looks at it, and closes it.
func (p *page) each(all []over, look func(name string)) {
	p.t.Helper()
	for _, o := range all {
		p.walk(o.path)
		p.see(o.ready)
		o.open(p)
		p.see(o.sign)
		look(o.name)
		p.key(escape)
		p.gone(`dialog[open], [role="menu"], [data-testid="rule"]`)
	}
}
