package tool

import (
	"html"
	"net/url"
	"strings"

	tokens "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// readable makes text of HTML: what people would read, with headings, lists and
// links in Markdown. It looks at one token at a time, so it costs what the page
// is long, however it is nested.
func readable(page string, base *url.URL) string {
	p := reading{base: base}
	z := tokens.NewTokenizer(strings.NewReader(page))
	z.SetMaxBuf(maxBody + 1)
	for {
		kind := z.Next()
		raw := string(z.Raw())
		switch kind {
		case tokens.ErrorToken:
			return strings.TrimSpace(p.out.String()) + "\n"
		case tokens.TextToken:
			p.text(html.UnescapeString(raw))
		case tokens.StartTagToken, tokens.SelfClosingTagToken:
			name, _ := z.TagName()
			p.start(atom.Lookup(name), raw, kind == tokens.SelfClosingTagToken)
		case tokens.EndTagToken:
			name, _ := z.TagName()
			p.end(atom.Lookup(name))
		}
	}
}

type reading struct {
	base   *url.URL
	out    strings.Builder
	hidden atom.Atom // the element whose content is not for people
	deep   int       // how many of its kind are open in it
	pre    int
	link   string // where the open link goes
	breaks int    // line breaks at the end of what is written
	space  bool   // a space is due before the next word
}

// unread are elements whose content people do not see.
func unread(a atom.Atom) bool {
	switch a {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Iframe, atom.Object, atom.Select, atom.Button, atom.Canvas, atom.Audio, atom.Video:
		return true
	}
	return false
}

func (p *reading) start(a atom.Atom, tag string, closed bool) {
	if p.hidden != 0 {
		if a == p.hidden && !closed {
			p.deep++
		}
		return
	}
	if unread(a) {
		if !closed {
			p.hidden, p.deep = a, 1
		}
		return
	}
	switch a {
	case atom.Br:
		p.line(1)
	case atom.Hr:
		p.line(2)
		p.write("---")
		p.line(2)
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		p.line(2)
		p.write(strings.Repeat("#", int(a.String()[1]-'0')) + " ")
	case atom.Li:
		p.line(1)
		p.write("- ")
	case atom.Td, atom.Th:
		if p.breaks == 0 {
			p.write(" | ")
			p.space = false
		}
	case atom.Pre:
		p.line(2)
		p.write("```\n")
		p.pre++
	case atom.A:
		p.link = p.target(tag)
		if p.link != "" {
			p.flush()
			p.write("[")
		}
	case atom.Img:
		if alt := attribute(tag, "alt"); alt != "" {
			p.text(" [picture: " + alt + "] ")
		}
	default:
		p.line(block(a))
	}
}

func (p *reading) end(a atom.Atom) {
	if p.hidden != 0 {
		if a == p.hidden {
			if p.deep--; p.deep == 0 {
				p.hidden = 0
			}
		}
		return
	}
	switch a {
	case atom.A:
		if p.link != "" {
			p.write("](" + p.link + ")")
			p.link = ""
		}
	case atom.Pre:
		if p.pre > 0 {
			p.pre--
			p.line(1)
			p.write("```")
			p.line(2)
		}
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Title:
		p.line(2)
	default:
		p.line(block(a))
	}
}

// block is how many line breaks stand around an element.
func block(a atom.Atom) int {
	switch a {
	case atom.P, atom.Blockquote, atom.Table, atom.Ul, atom.Ol, atom.Dl, atom.Section, atom.Article, atom.Figure:
		return 2
	case atom.Div, atom.Tr, atom.Li, atom.Header, atom.Footer, atom.Main, atom.Nav, atom.Aside, atom.Form, atom.Dt, atom.Dd, atom.Figcaption, atom.Option, atom.Fieldset, atom.Body:
		return 1
	}
	return 0
}

// line makes sure that at least this many line breaks end what is written.
func (p *reading) line(n int) {
	if p.out.Len() == 0 {
		return
	}
	if n > 0 {
		p.space = false
	}
	for ; p.breaks < n; p.breaks++ {
		p.out.WriteByte('\n')
	}
}

// text writes what stands between tags.
func (p *reading) text(s string) {
	if p.hidden != 0 || s == "" {
		return
	}
	if p.pre > 0 {
		p.write(s)
		return
	}
	fields := strings.Fields(s)
	if strings.TrimLeft(s, " \t\r\n") != s {
		p.space = true
	}
	for i, w := range fields {
		p.space = p.space || i > 0
		p.flush()
		p.write(w)
	}
	if len(fields) > 0 && strings.TrimRight(s, " \t\r\n") != s {
		p.space = true
	}
}

// flush writes the space that is due, unless a line begins here.
func (p *reading) flush() {
	if p.space && p.breaks == 0 && p.out.Len() > 0 {
		p.out.WriteByte(' ')
	}
	p.space = false
}

func (p *reading) write(s string) {
	p.out.WriteString(s)
	p.breaks = len(s) - len(strings.TrimRight(s, "\n"))
}

// target is where a link goes, "" if it is nothing to follow.
func (p *reading) target(tag string) string {
	href := strings.TrimSpace(attribute(tag, "href"))
	if href == "" || strings.HasPrefix(href, "#") || len(href) > 2000 {
		return ""
	}
	u, err := p.base.Parse(href)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.String()
}
