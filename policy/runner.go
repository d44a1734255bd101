package policy

import (
	"path"
	"slices"
	"strings"

	"harness/internal/lazy"
)

// carriers run the command that their arguments hold, after options of their
// own.
var carriers = lazy.Words{Text: `sudo doas su runuser pkexec env nohup time timeout nice ionice chrt taskset stdbuf unbuffer setsid setarch chroot
	unshare nsenter bwrap firejail fakeroot flock parallel watch xargs busybox toybox command builtin exec strace ltrace
	gdb script expect entr caffeinate systemd-run dbus-run-session xvfb-run ssh direnv noglob nocorrect -
	numactl prlimit cpulimit faketime proot winpty rlwrap at batch`}

// interpreters run a text as a program; those that are shells have lines that
// can be read.
var interpreters = lazy.Words{Text: `sh bash rbash dash zsh ksh mksh ash fish csh tcsh pwsh powershell cmd`}

// builtins change what the words after them mean, or run what their arguments
// say.
var builtins = lazy.Words{Text: `eval . source trap alias unalias shopt set setopt unsetopt enable hash fc jobs complete compgen compopt bind mapfile readarray
	read let unset declare typeset nameref coproc getopts pushd popd autoload zmodload emulate repeat rehash`}

// add takes a command, finds out whether it can be told what it runs, and takes
// what it runs, too.
func (r *reader) add(c command, depth int) {
	if len(r.commands) > maxCommands {
		return
	}
	name := ""
	if len(c.argv) > 0 {
		name = strings.ToLower(path.Base(c.argv[0].text))
		if why := r.oddName(c); why != "" {
			c.opaque, c.hidden = firstOf(c.opaque, why), true
			r.commands = append(r.commands, c)
			return
		}
	}
	args := c.argv[min(1, len(c.argv)):]
	switch {
	case name == "":
	case name == "cd":
		if !r.stays(args) {
			c.opaque = firstOf(c.opaque, "it goes outside the workspace, or nobody can tell where")
		}
	case builtins.Has(name):
		c.opaque = firstOf(c.opaque, name+" can change what other words mean")
		c.hidden = c.hidden || name == "eval" && slices.ContainsFunc(args, unsure)
	case carriers.Has(name), interpreters.Has(name):
		c.opaque = firstOf(c.opaque, name+" runs another command")
		c.hidden = c.hidden || interpreters.Has(name) && fromInput(args)
	default:
		c.opaque = firstOf(c.opaque, escaping(name, args))
	}
	r.commands = append(r.commands, c)
	r.inside(name, args, depth)
}

func unsure(w word) bool { return !w.sure }

// fromInput reports whether a shell with such arguments reads its lines from
// its input.
func fromInput(args []word) bool {
	script := func(w word) bool { return !w.sure || !strings.HasPrefix(w.text, "-") }
	return !slices.ContainsFunc(args, script) || slices.ContainsFunc(args, func(w word) bool { return w.text == "-s" })
}

// oddName says why nobody can tell what the program is.
func (r *reader) oddName(c command) string {
	switch n := c.argv[0]; {
	case !n.sure:
		return "it runs a command that is known only when it runs"
	case n.text == "" || !ascii(n.text) || strings.ContainsAny(n.text, " \t\n*?[{~"):
		return "its name is not an ordinary one"
	}
	return ""
}

// stays reports whether a change of directory surely stays in the workspace.
func (r *reader) stays(args []word) bool {
	if len(args) != 1 || !args[0].sure || strings.HasPrefix(args[0].text, "-") {
		return false
	}
	p := r.call.place(args[0].text)
	return p.sure && p.inside && !p.up
}

// inside takes the commands that a command's arguments hold.
func (r *reader) inside(name string, args []word, depth int) {
	switch {
	case name == "eval":
		var words []string
		for _, a := range args {
			words = append(words, a.text)
		}
		r.script(strings.Join(words, " "), depth+1)
	case interpreters.Has(name):
		for i, a := range args {
			if i+1 < len(args) && strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") && strings.Contains(a.text, "c") {
				if !args[i+1].sure {
					r.dark("it runs a line that is known only when it runs")
					return
				}
				r.script(args[i+1].text, depth+1)
				return
			}
		}
	case name == "trap" && len(args) > 0 && args[0].sure:
		r.script(args[0].text, depth+1)
	case carriers.Has(name): // whichever of its arguments the command is
		for i, a := range args {
			if i == maxCarried {
				r.dark("it has too many arguments")
				return
			}
			if !a.sure || a.text != "" && !strings.HasPrefix(a.text, "-") {
				r.carried(args[i:], depth)
			}
		}
	case name == "find" || strings.HasPrefix(name, "fd"):
		for i, a := range args {
			if i+1 < len(args) && (strings.HasPrefix(a.text, "-exec") || strings.HasPrefix(a.text, "-ok") || strings.HasPrefix(a.text, "--exec") || a.text == "-x" || a.text == "-X") {
				r.carried(args[i+1:], depth)
			}
		}
	}
}

// maxCarried bounds in how many places of a carrier's arguments a command is
// looked for.
const maxCarried = 32

// carried takes words that may be a command.
func (r *reader) carried(argv []word, depth int) {
	switch {
	case len(r.commands) > maxCommands:
		return
	case depth >= maxNested:
		r.dark("it has commands in commands in commands")
		return
	}
	c := command{argv: argv, opaque: "another command runs it"}
	if !argv[0].sure {
		c.hidden = true
		r.commands = append(r.commands, c)
		return
	}
	name := strings.ToLower(path.Base(argv[0].text))
	r.commands = append(r.commands, c)
	if !carriers.Has(name) { // its own words are looked at already
		r.inside(name, argv[1:], depth+1)
	}
}
