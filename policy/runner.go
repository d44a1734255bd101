package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// carriers run the command that their arguments hold, after options of their
// own.
var carriers = []string{
	"sudo", "doas", "su", "runuser", "pkexec", "env", "nohup", "time", "timeout", "nice", "ionice", "chrt", "taskset", "stdbuf", "unbuffer", "setsid", "setarch", "chroot",
	"unshare", "nsenter", "bwrap", "firejail", "fakeroot", "flock", "parallel", "watch", "xargs", "busybox", "toybox", "command", "builtin", "exec", "strace", "ltrace",
	"gdb", "script", "expect", "entr", "caffeinate", "systemd-run", "dbus-run-session", "xvfb-run", "ssh", "direnv", "noglob", "nocorrect", "-",
	"numactl", "prlimit", "cpulimit", "faketime", "proot", "winpty", "rlwrap", "at", "batch",
}

// interpreters run a text as a program; those that are shells have lines that
// can be read.
var interpreters = []string{"sh", "bash", "rbash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "pwsh", "powershell", "cmd"}

// builtins change what the words after them mean, or run what their arguments
// say.
var builtins = []string{
	"eval", ".", "source", "trap", "alias", "unalias", "shopt", "set", "setopt", "unsetopt", "enable", "hash", "fc", "jobs", "complete", "compgen", "compopt", "bind", "mapfile", "readarray",
	"read", "let", "unset", "declare", "typeset", "nameref", "coproc", "getopts", "pushd", "popd", "autoload", "zmodload", "emulate", "repeat", "rehash",
}

// escape is an argument with which a program runs another, or reads what to run
// from elsewhere.
type escape struct {
	program string         // as nameGlob has it
	options []string       // long ones also when cut short; "-x" also among other letters
	words   []string       // arguments that are, or begin with, these
	text    *regexp.Regexp // words that are like this
	safe    *regexp.Regexp // the first word, unless it is like this
	first   bool           // options of the program itself, before its first other word
	bare    bool           // without a word it reads its program from its input
}

var anything = regexp.MustCompile(`(?s).`)

// harmlessSed are scripts that print, delete and replace.
var harmlessSed = regexp.MustCompile(`^(?:(?:\d+|\$)?(?:,(?:\d+|\$))?[pdq=]|s/[^/\\\n]*/[^/\\\n]*/[gpI0-9]*)$`)

// escapes are what we know of; a program can always do what we do not know.
var escapes = []escape{
	{program: "find", words: []string{"-exec", "-ok", "-delete", "-fprint", "-fls"}},
	{program: "fd", options: []string{"-x", "-X", "--exec", "--exec-batch"}},
	{program: "fdfind", options: []string{"-x", "-X", "--exec", "--exec-batch"}},
	{program: "git", first: true, options: []string{"-c", "-C", "-p", "--paginate", "--exec-path", "--config-env", "--git-dir", "--work-tree", "--namespace"}},
	{program: "git", words: []string{"config", "bisect", "filter-branch", "submodule", "difftool", "mergetool", "credential", "daemon", "send-email", "instaweb", "gui", "citool", "web--browse", "hook", "maintenance", "ext::", "upload-pack", "remote-ext", "remote-fd"}},
	{program: "git", options: []string{"--upload-pack", "--receive-pack", "--exec", "--ext-diff", "--textconv", "--extcmd", "--tool", "--open-files-in-pager", "--output", "--template", "--config", "--editor", "--reference", "--recurse-submodules"}},
	{program: "git", options: []string{"-O", "-x", "-u"}},
	{program: "*awk", text: regexp.MustCompile(`system|getline|[|>@]|\bprintf?\b[^}]*>`), options: []string{"-f", "--file", "-i", "--include", "-l", "--load", "-E", "--exec"}},
	{program: "*sed", options: []string{"-e", "-f", "--expression", "--file"}, safe: harmlessSed},
	{program: "tar", options: []string{"-I", "-F", "--checkpoint-action", "--to-command", "--use-compress-program", "--info-script", "--new-volume-script", "--rsh-command", "--rmt-command"}, text: regexp.MustCompile(`^[A-Za-z]*[IF][A-Za-z]*$`)},
	{program: "bsdtar", options: []string{"--use-compress-program"}},
	{program: "zip", options: []string{"-T", "-TT", "--unzip-command"}},
	{program: "unzip", options: []string{"-T"}},
	{program: "rsync", options: []string{"-e", "--rsh", "--rsync-path"}},
	{program: "scp", options: []string{"-S", "-o", "-F"}},
	{program: "sftp", options: []string{"-S", "-o", "-F", "-b"}},
	{program: "curl", options: []string{"-K", "--config"}},
	{program: "wget", options: []string{"-e", "--execute", "--use-askpass", "--config"}},
	{program: "sort", options: []string{"--compress-program"}},
	{program: "split", options: []string{"--filter"}},
	{program: "rg", options: []string{"--pre", "--hostname-bin"}},
	{program: "ag", options: []string{"--pager"}},
	{program: "man", options: []string{"-P", "-H", "--pager", "--html"}},
	{program: "less", words: []string{"+"}, options: []string{"-k", "--lesskey-file"}},
	{program: "more", words: []string{"+"}},
	{program: "vi", text: anything, bare: true},
	{program: "*vim*", text: anything, bare: true},
	{program: "view", text: anything, bare: true},
	{program: "ex", text: anything, bare: true},
	{program: "ed", text: anything, bare: true},
	{program: "emacs*", text: anything, bare: true},
	{program: "m4", text: anything, bare: true},
	{program: "npx", options: []string{"-c", "--call", "-p", "--package"}},
	{program: "python*", options: []string{"-c"}, bare: true},
	{program: "pypy*", options: []string{"-c"}, bare: true},
	{program: "perl", options: []string{"-e", "-E", "-M", "-x"}, bare: true},
	{program: "ruby", options: []string{"-e", "-r"}, bare: true},
	{program: "node", options: []string{"-e", "-p", "-r", "--eval", "--print", "--require", "--import"}, bare: true},
	{program: "deno", words: []string{"eval", "repl"}, bare: true},
	{program: "bun", options: []string{"-e", "--eval"}, bare: true},
	{program: "php", options: []string{"-r", "-R", "-B"}, bare: true},
	{program: "lua*", options: []string{"-e"}, bare: true},
	{program: "osascript", options: []string{"-e"}, bare: true},
	{program: "psql", words: []string{`\!`}, options: []string{"-c", "-f", "--command", "--file"}, bare: true},
	{program: "sqlite3", text: regexp.MustCompile(`(?i)\.(shell|system|load|import|read|output|once)|load_extension|readfile|writefile|edit\(`), options: []string{"-cmd"}, bare: true},
	{program: "go", options: []string{"-exec", "-toolexec", "-vettool", "-overlay", "-modfile", "-ldflags", "-gccgoflags"}, words: []string{"generate", "env", "-C", "--C"}},
	{program: "cargo", options: []string{"--config"}},
	{program: "make", options: []string{"-f", "-C", "--file", "--makefile", "--directory", "--eval", "-I", "--include-dir"}, text: regexp.MustCompile(`^[A-Za-z_.][A-Za-z0-9_.]*[:+?!]*=`)},
	{program: "gmake", options: []string{"-f", "-C", "--file", "--makefile", "--directory", "--eval"}, text: regexp.MustCompile(`^[A-Za-z_.][A-Za-z0-9_.]*[:+?!]*=`)},
	{program: "npm", options: []string{"--prefix", "-C", "--script-shell", "--node-options", "--userconfig", "--globalconfig"}, words: []string{"exec", "x", "explore", "config", "set"}},
	{program: "pnpm", options: []string{"-C", "--dir", "--script-shell", "--config"}, words: []string{"exec", "dlx"}},
	{program: "yarn", options: []string{"--cwd", "--script-shell"}, words: []string{"exec", "dlx"}},
	{program: "docker", words: []string{"run", "exec"}},
	{program: "podman", words: []string{"run", "exec"}},
	{program: "kubectl", words: []string{"exec", "run", "debug"}},
	{program: "test", words: []string{"-v", "-R"}},
	{program: "[", words: []string{"-v", "-R"}},
	{program: "printf", options: []string{"-v"}},
	{program: "export", text: anything},
	{program: "readonly", text: anything},
	{program: "local", text: anything},
}

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
	case slices.Contains(builtins, name):
		c.opaque = firstOf(c.opaque, name+" can change what other words mean")
		c.hidden = c.hidden || name == "eval" && slices.ContainsFunc(args, unsure)
	case slices.Contains(carriers, name), slices.Contains(interpreters, name):
		c.opaque = firstOf(c.opaque, name+" runs another command")
		c.hidden = c.hidden || slices.Contains(interpreters, name) && fromInput(args)
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
	case slices.Contains(interpreters, name):
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
	case slices.Contains(carriers, name): // whichever of its arguments the command is
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
	if !slices.Contains(carriers, name) { // its own words are looked at already
		r.inside(name, argv[1:], depth+1)
	}
}

// escaping says why arguments let a program run another.
func escaping(name string, args []word) string {
	for _, e := range escapes {
		if !nameGlob(e.program).fits(name) {
			continue
		}
		if why := e.in(name, args); why != "" {
			return why
		}
	}
	return ""
}

func (e escape) in(name string, args []word) string {
	why := name + " can run other commands with such arguments"
	words := 0
	for _, a := range args {
		if !a.sure && !a.glob || a.glob && (e.text != nil || e.safe != nil) {
			return why
		}
		option := strings.HasPrefix(a.text, "-") // "-" is the input
		switch {
		case option && slices.ContainsFunc(e.options, func(o string) bool { return isOption(a.text, o) }),
			slices.ContainsFunc(e.words, func(w string) bool { return isWord(a.text, w) }),
			!option && e.text != nil && e.text.MatchString(a.text),
			!option && e.safe != nil && words == 0 && !e.safe.MatchString(a.text):
			return why
		case !option:
			if e.first {
				return ""
			}
			words++
		}
	}
	if e.bare && words == 0 {
		return name + " reads what to run from its input"
	}
	return ""
}

// isWord reports whether an argument is a word of an escape, or begins with one
// that is known by its beginning: -exec is also -execdir.
func isWord(arg, w string) bool {
	return arg == w || strings.IndexByte("-+", w[0]) >= 0 && strings.HasPrefix(arg, w) || strings.HasSuffix(w, ":") && strings.HasPrefix(arg, w)
}

// isOption reports whether an argument may be an option: cut short, with a
// value, or one letter among others.
func isOption(arg, option string) bool {
	if strings.HasPrefix(option, "--") {
		name, _, _ := strings.Cut(arg, "=")
		return len(name) > 2 && strings.HasPrefix(option, name)
	}
	if len(option) == 2 {
		return !strings.HasPrefix(arg, "--") && strings.Contains(arg[1:], option[1:])
	}
	return strings.HasPrefix(strings.TrimLeft(arg, "-"), strings.TrimLeft(option, "-"))
}
