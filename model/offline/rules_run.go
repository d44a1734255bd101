package offline

import (
	"maps"
	"path"
	"slices"
	"strings"

	"harness/internal/lazy"
)

func makeRunIt(p *parser, _ []string) []step {
	if p.file == "" {
		return nil
	}
	return []step{{kind: run, text: runner(p.file)}}
}

// makeRunWith runs the file that was written last with a program.
func makeRunWith(p *parser, m []string) []step {
	program := p.bare(m[1])
	if p.file == "" || !slices.Contains(slices.Collect(maps.Values(interpreters)), program) && !programs.Has(program) {
		return nil
	}
	return []step{{kind: run, text: program + " " + quote(p.file)}}
}

func makeRunQuoted(p *parser, m []string) []step {
	return []step{{kind: run, text: p.command(m[1] + m[2])}}
}

// interpreters run files by the end of their names.
var interpreters = map[string]string{".sh": "sh", ".bash": "bash", ".py": "python3", ".js": "node", ".go": "go run", ".rb": "ruby", ".pl": "perl"}

func runner(file string) string {
	if i, ok := interpreters[path.Ext(file)]; ok {
		return i + " " + quote(file)
	}
	if strings.Contains(file, "/") {
		return quote(file)
	}
	return "./" + quote(file)
}

var inShell = lazy.Regexp{Expr: `(?i)\s+in (?:the |a )?(?:shell|terminal|bash|workspace)$`}

func makeRun(p *parser, m []string) (steps []step) {
	rest := inShell.Get().ReplaceAllString(strings.TrimSpace(m[2]), "")
	if all := p.list(rest); len(all) > 1 { // several, if each is quoted
		for _, c := range all {
			l, ok := p.literal(c)
			if !ok {
				steps = nil
				break
			}
			steps = append(steps, step{kind: run, text: l})
		}
		if steps != nil {
			return steps
		}
	}
	command := p.command(rest)
	if _, quoted := p.literal(rest); !quoted {
		first, _, _ := strings.Cut(command, " ")
		strict := !outright.Has(strings.ToLower(m[1]))
		if vague(rest) || strict && !programs.Has(first) && !looksLikeFile.Get().MatchString(first) {
			return nil
		}
	}
	if _, ok := interpreters[path.Ext(command)]; ok && !strings.Contains(command, " ") {
		command = runner(command)
	}
	return []step{{kind: run, text: command}}
}

// outright are the words after which anything is a command.
var outright = lazy.Words{Text: "run execute exec $ >"}

// programs are what a clause may begin with to be a command.
var programs = lazy.Words{Text: "ls pwd mkdir printf diff chmod stat seq tree id date echo git go make sh bash python python3 node npm uname whoami head tail wc env df du ps sort cat sed awk true false sleep"}

// prose is what stands after a program's name if it is only a word.
var prose = lazy.Regexp{Expr: `(?i)^(?:go|make|sort|date|head|tail|sleep|cat|node|true|false)\s.*\b(?:a|an|the|me|it|on|us|you|your|my|ahead|sure|of|with)\b`}

func makeCommand(p *parser, m []string) []step {
	if !programs.Has(m[1]) || prose.Get().MatchString(m[0]) {
		return nil
	}
	return []step{{kind: run, text: p.command(m[0])}}
}

// command is a command as it was typed: a literal alone without its quotes,
// literals among words with them.
func (p *parser) command(s string) string {
	if l, ok := p.literal(s); ok {
		return strings.TrimSpace(l)
	}
	var b strings.Builder
	for _, r := range s {
		if l, ok := p.literal(string(r)); ok {
			b.WriteString(quote(l))
		} else {
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}

// plainWord needs no quotes in a shell.
var plainWord = lazy.Regexp{Expr: `^[\w@%+=:,./-]+$`}

// quote makes s one word of a shell.
func quote(s string) string {
	if plainWord.Get().MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

var (
	parallel = lazy.Regexp{Expr: `(?i)\s*,?\s+(?:both\s+)?(?:in parallel|at the same time|at once|simultaneously|concurrently)$`}
	times    = lazy.Regexp{Expr: `(?i)\s*,?\s+(?:(\d{1,2}) times|(twice)|(three times))$`}
)

func cutParallel(c string) (rest string, together bool) {
	rest = parallel.Get().ReplaceAllString(c, "")
	return rest, rest != c
}

func cutTimes(c string) (rest string, n int) {
	m := times.Get().FindStringSubmatch(c)
	if m == nil {
		return c, 1
	}
	n = 2
	switch {
	case m[1] != "":
		n = 0
		for _, d := range m[1] {
			n = n*10 + int(d-'0')
		}
	case m[3] != "":
		n = 3
	}
	return times.Get().ReplaceAllString(c, ""), n
}
