package policy

import (
	"path"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// command is one simple command of a line, wherever in it, also inside of what
// another one runs.
type command struct {
	argv   []word
	env    []string // variables that it sets
	files  []place  // what its redirections name
	names  []string // how they were written
	opaque string   // why no rule about commands can allow it; "" if one can
	hidden bool     // it runs something that cannot be read

	named []place // see filesOf, which has found them if read is set
	read  bool
}

// name is the program; "" if there is none, or nobody can tell.
func (c command) name() string {
	if len(c.argv) == 0 || !c.argv[0].sure {
		return ""
	}
	return c.argv[0].text
}

// String is the command for people.
func (c command) String() string {
	var parts []string
	for _, w := range c.argv {
		switch {
		case w.sure:
			parts = append(parts, quoted(w.text))
		case w.glob:
			parts = append(parts, w.text)
		default:
			parts = append(parts, "…")
		}
	}
	s := strings.Join(parts, " ")
	if len(s) > 200 {
		s = s[:200]
		for !utf8.ValidString(s) {
			s = s[:len(s)-1]
		}
		s += "…"
	}
	return s
}

// moved takes the command to where the line runs; moving says that the line
// itself goes on to elsewhere.
func (c *command) moved(of *call, at place, moving bool) {
	for i, name := range c.names {
		if c.files[i] = of.placeFrom(at, name); moving && !path.IsAbs(name) {
			c.files[i] = place{}
		}
	}
	if n := c.name(); strings.Contains(n, "/") && !path.IsAbs(n) {
		c.opaque = firstOf(c.opaque, "it runs a program of another directory")
	}
}

// maxLine bounds the lines that are read; nobody could say what a longer one
// does. maxNested bounds lines in arguments of lines, maxCommands what they run
// together.
const (
	maxLine     = 16 << 10
	maxNested   = 4
	maxCommands = 256
)

// reader collects the commands of a line.
type reader struct {
	call     *call
	commands []command
}

// dark adds something of which nobody knows what it runs.
func (r *reader) dark(why string) {
	r.commands = append(r.commands, command{opaque: why, hidden: true})
}

// script reads a line. What is not an ordinary line of text is not read.
func (r *reader) script(text string, depth int) {
	switch {
	case len(r.commands) > maxCommands:
		return
	case depth > maxNested:
		r.dark("it has lines in lines in lines")
		return
	case len(text) > maxLine:
		r.dark("it is too long to be read")
		return
	case !utf8.ValidString(text) || strings.ContainsFunc(text, odd):
		r.dark("it has characters that are not seen")
		return
	case strings.Contains(text, "\\\n") && strings.Contains(text, "#"): // a comment ends there for shells, not for the parser
		r.dark("it has a comment that nobody can tell the end of")
		return
	}
	p := parsers.Get().(*parser)
	p.text.Reset(text)
	file, err := p.Parse(&p.text, "")
	p.text.Reset("")
	parsers.Put(p)
	if err != nil {
		r.dark("it cannot be read as a shell reads it")
		return
	}
	first := len(r.commands)
	why := ""
	syntax.Walk(file, func(node syntax.Node) bool {
		if len(r.commands) > maxCommands {
			return false
		}
		why = firstOf(why, r.node(node, depth))
		return true
	})
	if len(r.commands) > maxCommands {
		r.dark("it has too many commands")
	}
	if why == "" {
		return
	}
	if len(r.commands) == first {
		r.dark(why)
		return
	}
	for i := first; i < len(r.commands); i++ {
		r.commands[i].opaque = firstOf(r.commands[i].opaque, why)
	}
}

// parser is a parser with what it reads from.
type parser struct {
	*syntax.Parser
	text strings.Reader
}

var parsers = sync.Pool{New: func() any { return &parser{Parser: syntax.NewParser(syntax.Variant(syntax.LangBash))} }}

// odd reports whether a character is one that people do not see, or that shells
// and their readers take for different things.
func odd(c rune) bool {
	return c < ' ' && c != '\n' && c != '\t' || c == 0x7f || c >= 0x80 && c < 0xa0 ||
		c == 0x85 || c == 0xa0 || c == 0xad || c >= 0x2000 && c <= 0x200f || c >= 0x2028 && c <= 0x202f || c >= 0x205f && c <= 0x206f || c == 0x3000 || c == 0xfeff || c == utf8.RuneError
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// node takes one piece of a line, and says why the line as a whole cannot be
// allowed, if it is a piece that makes it so.
func (r *reader) node(node syntax.Node, depth int) string {
	switch n := node.(type) {
	case *syntax.Stmt:
		return r.statement(n, depth)
	case *syntax.DeclClause:
		if !slices.Contains([]string{"export", "readonly", "local"}, n.Variant.Value) {
			return "it declares variables"
		}
		for _, a := range n.Args {
			if a.Naked {
				return "it declares variables"
			}
		}
		r.set(n.Args, depth)
	case *syntax.ForClause:
		if _, ok := n.Loop.(*syntax.WordIter); !ok || n.Select {
			return "it computes"
		}
	case *syntax.WordIter:
		r.commands = append(r.commands, command{env: []string{n.Name.Value}})
	case *syntax.ParamExp:
		if n.Param == nil || n.Excl || n.Length || n.Index != nil || n.Slice != nil || n.Repl != nil || n.Exp != nil || n.Names != 0 {
			return "it computes with variables"
		}
	case *syntax.ArithmCmd, *syntax.ArithmExp, *syntax.LetClause, *syntax.CStyleLoop, *syntax.TestClause:
		return "it computes"
	case *syntax.TimeClause: // a word or a program, by where it stands
		return "it measures time"
	case *syntax.CoprocClause:
		return "it runs a coprocess"
	case *syntax.ProcSubst:
		return "it runs commands as files"
	case *syntax.ArrayExpr, *syntax.ExtGlob:
		return "it has lists or patterns of patterns"
	case *syntax.File, *syntax.Comment, *syntax.CallExpr, *syntax.Subshell, *syntax.Block, *syntax.IfClause, *syntax.WhileClause,
		*syntax.BinaryCmd, *syntax.FuncDecl, *syntax.CaseClause, *syntax.CaseItem, *syntax.Assign, *syntax.Redirect,
		*syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted, *syntax.CmdSubst, nil:
	default:
		return "it has syntax that is not known here"
	}
	return ""
}

// statement takes a command with its redirections.
func (r *reader) statement(s *syntax.Stmt, depth int) string {
	var c command
	why := ""
	if s.Coprocess || s.Disown {
		why = "it runs a coprocess"
	}
	for _, d := range s.Redirs {
		why = firstOf(why, c.redirect(r.call, d))
	}
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		if len(call.Args) > 0 {
			c.argv = make([]word, len(call.Args))
		}
		for i, w := range call.Args {
			c.argv[i] = wordOf(w)
		}
		c.assign(call.Assigns)
		r.add(c, depth)
	} else if len(s.Redirs) > 0 { // of several commands, or of none
		r.commands = append(r.commands, c)
	}
	return why
}

// set takes variables that are set without a command.
func (r *reader) set(assigns []*syntax.Assign, depth int) {
	var c command
	c.assign(assigns)
	r.add(c, depth)
}

func (c *command) assign(assigns []*syntax.Assign) {
	for _, a := range assigns {
		if a.Name == nil || a.Index != nil || a.Array != nil || a.Append {
			c.opaque = "it sets a part of a variable"
			continue
		}
		c.env = append(c.env, a.Name.Value)
		if a.Value != nil && !wordOf(a.Value).sure {
			c.opaque = "it sets a variable to something that is known only when it runs"
		}
	}
}

// redirect takes one redirection, and says what is strange about it.
func (c *command) redirect(of *call, d *syntax.Redirect) string {
	if d.N != nil && strings.Trim(d.N.Value, "0123456789") != "" {
		return "it sets a variable to a file"
	}
	w := wordOf(d.Word)
	switch d.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return ""
	case syntax.DplIn, syntax.DplOut:
		lit := d.Word.Lit() // without quotes: bash ends the word behind a hyphen
		if lit == "-" || lit != "" && strings.Trim(lit, "0123456789") == "" {
			return ""
		}
		if strings.HasPrefix(w.text, "-") {
			return "it closes a file, or opens one"
		}
	case syntax.RdrOut, syntax.AppOut, syntax.RdrIn, syntax.RdrInOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
	default:
		return "it has a redirection that is not known here"
	}
	if w.sure && w.text == "/dev/null" {
		return ""
	}
	name := w.text
	if !w.sure || strings.HasPrefix(name, "/dev/tcp/") || strings.HasPrefix(name, "/dev/udp/") {
		name = "\x00"
	}
	c.names = append(c.names, name)
	c.files = append(c.files, of.place(name))
	return ""
}
