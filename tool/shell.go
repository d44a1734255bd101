package tool

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// inspect reads a command line and says what in it nothing can take back, each
// in a few words. It serves to warn people and never to allow anything: a
// program can do what its name does not say, and a shell has more ways to hide
// a command than can be read.
func inspect(command string) []string {
	var in inspector
	in.script(command, 0)
	return in.hints
}

type inspector struct{ hints []string }

func (in *inspector) hint(why string) {
	if len(in.hints) < 5 && !slices.Contains(in.hints, why) {
		in.hints = append(in.hints, why)
	}
}

// maxNested bounds scripts in arguments of scripts.
const maxNested = 4

func (in *inspector) script(text string, depth int) {
	if depth > maxNested {
		in.hint("scripts in scripts")
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		in.hint("cannot be read as a shell reads it")
		return
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				in.command(words(n.Args), depth)
			}
		case *syntax.Redirect:
			if to := word(n.Word); n.Op != syntax.RdrIn && strings.HasPrefix(to, "/dev/") && !harmlessDevice(to) {
				in.hint("writes to a device")
			}
		}
		return true
	})
}

func harmlessDevice(name string) bool {
	return slices.Contains([]string{"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"}, name) || strings.HasPrefix(name, "/dev/fd/") || strings.HasPrefix(name, "/dev/shm/")
}

// unknown stands for a word that is known only when the command runs.
const unknown = "\x00"

func words(list []*syntax.Word) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = word(w)
	}
	return out
}

// word is the text of a word, or unknown where an expansion decides.
func word(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	var b strings.Builder
	var add func(parts []syntax.WordPart)
	add = func(parts []syntax.WordPart) {
		for _, p := range parts {
			switch p := p.(type) {
			case *syntax.Lit:
				b.WriteString(unescape(p.Value))
			case *syntax.SglQuoted:
				b.WriteString(p.Value)
			case *syntax.DblQuoted:
				add(p.Parts)
			default:
				b.WriteString(unknown)
			}
		}
	}
	add(w.Parts)
	return b.String()
}

// unescape removes the backslashes that quote characters.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			if i++; s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// carriers run the command that their arguments hold, after options of their own.
var carriers = []string{"sudo", "doas", "env", "nohup", "time", "command", "builtin", "exec", "nice", "ionice", "timeout", "xargs", "busybox", "stdbuf", "setsid", "chroot", "unshare", "flock", "parallel", "watch"}

var shells = []string{"sh", "bash", "dash", "zsh", "ksh", "ash"}

// maxCarried bounds in how many places of a carrier's arguments a command is
// looked for.
const maxCarried = 32

// command looks at one command with its arguments.
func (in *inspector) command(argv []string, depth int) {
	in.simple(argv, depth)
	if slices.Contains(carriers, path.Base(argv[0])) { // whichever of its arguments the command is
		for i := 1; i < min(len(argv), maxCarried); i++ {
			if a := argv[i]; a != "" && a != unknown && !strings.HasPrefix(a, "-") {
				in.simple(argv[i:], depth)
			}
		}
	}
}

func (in *inspector) simple(argv []string, depth int) {
	name, args := path.Base(argv[0]), argv[1:]
	switch {
	case strings.Contains(argv[0], unknown):
		in.hint("runs a command that is known only when it runs")
	case name == "eval":
		in.script(strings.ReplaceAll(strings.Join(args, " "), unknown, "$x"), depth+1)
	case slices.Contains(shells, name):
		for i, a := range args {
			if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "c") && i+1 < len(args) {
				in.script(strings.ReplaceAll(args[i+1], unknown, "$x"), depth+1)
				break
			}
		}
	case name == "find":
		for i, a := range args {
			switch {
			case a == "-delete":
				in.hint("deletes files")
			case (strings.HasPrefix(a, "-exec") || strings.HasPrefix(a, "-ok")) && i+1 < len(args):
				in.simple(args[i+1:], depth)
			}
		}
	}
	for _, d := range dangers {
		if d.is(name, args) {
			in.hint(d.why)
		}
	}
}
