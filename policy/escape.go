package policy

import (
	"slices"
	"strings"
	"sync"

	"harness/internal/lazy"
)

// escape is an argument with which a program runs another, or reads what to run
// from elsewhere.
type escape struct {
	program string       // as nameGlob has it
	options []string     // long ones also when cut short; "-x" also among other letters
	words   []string     // arguments that are, or begin with, these
	text    *lazy.Regexp // words that are like this
	safe    *lazy.Regexp // the first word, unless it is like this
	first   bool         // options of the program itself, before its first other word
	bare    bool         // without a word it reads its program from its input
}

var anything = lazy.Regexp{Expr: `(?s).`}

// harmlessSed are scripts that print, delete and replace.
var harmlessSed = lazy.Regexp{Expr: `^(?:(?:\d+|\$)?(?:,(?:\d+|\$))?[pdq=]|s/[^/\\\n]*/[^/\\\n]*/[gpI0-9]*)$`}

// escapes are what we know of; a program can always do what we do not know.
var escapes = []escape{
	{program: "find", words: []string{"-exec", "-ok", "-delete", "-fprint", "-fls"}},
	{program: "fd", options: []string{"-x", "-X", "--exec", "--exec-batch"}},
	{program: "fdfind", options: []string{"-x", "-X", "--exec", "--exec-batch"}},
	{program: "git", first: true, options: []string{"-c", "-C", "-p", "--paginate", "--exec-path", "--config-env", "--git-dir", "--work-tree", "--namespace"}},
	{program: "git", words: []string{"config", "bisect", "filter-branch", "submodule", "difftool", "mergetool", "credential", "daemon", "send-email", "instaweb", "gui", "citool", "web--browse", "hook", "maintenance", "ext::", "upload-pack", "remote-ext", "remote-fd"}},
	{program: "git", options: []string{"--upload-pack", "--receive-pack", "--exec", "--ext-diff", "--textconv", "--extcmd", "--tool", "--open-files-in-pager", "--output", "--template", "--config", "--editor", "--reference", "--recurse-submodules"}},
	{program: "git", options: []string{"-O", "-x", "-u"}},
	{program: "*awk", text: &lazy.Regexp{Expr: `system|getline|[|>@]|\bprintf?\b[^}]*>`}, options: []string{"-f", "--file", "-i", "--include", "-l", "--load", "-E", "--exec"}},
	{program: "*sed", options: []string{"-e", "-f", "--expression", "--file"}, safe: &harmlessSed},
	{program: "tar", options: []string{"-I", "-F", "--checkpoint-action", "--to-command", "--use-compress-program", "--info-script", "--new-volume-script", "--rsh-command", "--rmt-command"}, text: &lazy.Regexp{Expr: `^[A-Za-z]*[IF][A-Za-z]*$`}},
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
	{program: "vi", text: &anything, bare: true},
	{program: "*vim*", text: &anything, bare: true},
	{program: "view", text: &anything, bare: true},
	{program: "ex", text: &anything, bare: true},
	{program: "ed", text: &anything, bare: true},
	{program: "emacs*", text: &anything, bare: true},
	{program: "m4", text: &anything, bare: true},
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
	{program: "sqlite3", text: &lazy.Regexp{Expr: `(?i)\.(shell|system|load|import|read|output|once)|load_extension|readfile|writefile|edit\(`}, options: []string{"-cmd"}, bare: true},
	{program: "go", options: []string{"-exec", "-toolexec", "-vettool", "-overlay", "-modfile", "-ldflags", "-gccgoflags"}, words: []string{"generate", "env", "-C", "--C"}},
	{program: "cargo", options: []string{"--config"}},
	{program: "make", options: []string{"-f", "-C", "--file", "--makefile", "--directory", "--eval", "-I", "--include-dir"}, text: &lazy.Regexp{Expr: `^[A-Za-z_.][A-Za-z0-9_.]*[:+?!]*=`}},
	{program: "gmake", options: []string{"-f", "-C", "--file", "--makefile", "--directory", "--eval"}, text: &lazy.Regexp{Expr: `^[A-Za-z_.][A-Za-z0-9_.]*[:+?!]*=`}},
	{program: "npm", options: []string{"--prefix", "-C", "--script-shell", "--node-options", "--userconfig", "--globalconfig"}, words: []string{"exec", "x", "explore", "config", "set"}},
	{program: "pnpm", options: []string{"-C", "--dir", "--script-shell", "--config"}, words: []string{"exec", "dlx"}},
	{program: "yarn", options: []string{"--cwd", "--script-shell"}, words: []string{"exec", "dlx"}},
	{program: "docker", words: []string{"run", "exec"}},
	{program: "podman", words: []string{"run", "exec"}},
	{program: "kubectl", words: []string{"exec", "run", "debug"}},
	{program: "test", words: []string{"-v", "-R"}},
	{program: "[", words: []string{"-v", "-R"}},
	{program: "printf", options: []string{"-v"}},
	{program: "export", text: &anything},
	{program: "readonly", text: &anything},
	{program: "local", text: &anything},
}

// escaping says why arguments let a program run another.
func escaping(name string, args []word) string {
	byName, byGlob := escapesToBeFound()
	for _, e := range byName[name] {
		if why := e.in(name, args); why != "" {
			return why
		}
	}
	for _, e := range byGlob {
		if nameGlob(e.program).fits(name) {
			if why := e.in(name, args); why != "" {
				return why
			}
		}
	}
	return ""
}

// escapesToBeFound are the escapes by the names of programs, and those of names
// with stars: no program has some of both.
var escapesToBeFound = sync.OnceValues(func() (byName map[string][]*escape, byGlob []*escape) {
	byName = make(map[string][]*escape)
	for i := range escapes {
		if e := &escapes[i]; strings.Contains(e.program, "*") {
			byGlob = append(byGlob, e)
		} else {
			byName[e.program] = append(byName[e.program], e)
		}
	}
	return byName, byGlob
})

const otherwise = " can run other commands with such arguments"

func (e *escape) in(name string, args []word) string {
	words := 0
	for _, a := range args {
		if !a.sure && !a.glob || a.glob && (e.text != nil || e.safe != nil) {
			return name + otherwise
		}
		option := strings.HasPrefix(a.text, "-") // "-" is the input
		switch {
		case option && slices.ContainsFunc(e.options, func(o string) bool { return isOption(a.text, o) }),
			slices.ContainsFunc(e.words, func(w string) bool { return isWord(a.text, w) }),
			!option && e.text != nil && e.text.Get().MatchString(a.text),
			!option && e.safe != nil && words == 0 && !e.safe.Get().MatchString(a.text):
			return name + otherwise
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
