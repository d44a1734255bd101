package offline

import (
	"cmp"
	"fmt"
	"strings"
	"sync"

	"harness/internal/lazy"
)

// questions are about the workspace, and have answers that a command prints.
var questions = sync.OnceValue(func() []rule {
	return []rule{
		{form(`(?:how many|count(?: the| all| up)*|count how many) (lines|words|characters|bytes)(?: are)?(?: there)?(?: in| of| are in| does)?(?: the)?(?: file)? ({F})(?: has| have)?`), makeMeasure},
		{form(`count (?:its|the|all) (lines|words|characters|bytes)()`), makeMeasure},
		{form(`(?:how many|count(?: the| all| up)*|count how many)(?: ({F}))? files(?: are)?(?: there)?(?: here)?(?: (?:in|under)(?: the| this)? ({F})(?: directory| folder)?)?`), makeCountFiles},
		{form(`(?:show|print|give|read|display)(?: me)?(?: the)? (first|last)(?: (\d+|two|three|five|ten))? lines? (?:of|in|from)(?: the)?(?: file)? ({F})`), makeEnds},
		{form(`(?:(?:show|tell)(?: me)? )?what(?: is|'s) (?:in|inside)(?: this| the| my)?(?: current| working)?(?: directory| folder| workspace| project)(?: ({F}))?`), makeList},
		{form(`(?:which|what) files (?:contain|mention|use|have|include)(?: the)?(?: word| text| string)? (.+)`), makeGrep(1, 0)},
		{form(`(?:find|list|show|search for)(?: me)?(?: all)?(?: of)?(?: the)?(?: files| file| lines| places)? (?:that |which |where )?(?:contain|contains|containing|mention|mentions|mentioning|use|uses|using|include|including)(?: the)?(?: word| text| string)? (.+?)(?: (?:is|are) (?:used|mentioned))?`), makeGrep(1, 0)},
		{form(`does(?: the)?(?: file)? ({F}) (?:contain|mention|have|include)(?: the)?(?: word| text| string)? (.+)`), makeContains(1, 2)},
		{form(`is(?: the)?(?: word| text| string)? (.+?) in(?: the)?(?: file)? ({F})`), makeContains(2, 1)},
		{form(`what does(?: the)?(?: file)? ({F}) (?:contain|hold|look like|have in it)`), makeRead},
		{form(`what(?:'s| is| would be)(?: the)? (?:output|result) of(?: running| the command)? ({L})|what does(?: the command)? ({L}) (?:print|output|return|say|give|show|do)`), makeRunQuoted},
		{form(`(?:is there|do we have|have we)(?: already)? (?:a|any)(?: file)?(?: called| named)? ({F})`), makeExists},
		{form(`does(?: the)?(?: file)? ({F}) exist`), makeExists},
		{form(`(?:what|which)(?: is|'s)?(?: the)?(?: current| working)* directory(?: is it| are (?:you|we) in| am i in)?|where (?:am i|are we|are you)|(?:print|show|tell me|show me)(?: the)?(?: current| working)+ directory`), command("pwd")},
		{form(`what(?: is|'s)? (?:the time|the date|today's date|time is it|day is it|date is it)(?: now| today)?`), command("date")},
		{form(`(?:run|execute|start|try)(?: all)?(?: of)?(?: the| my| our| its)?(?: unit| go| npm| python| project's)* tests?(?: suite)?(?: again)?`), makeTests},
		{form(`(?:summari[sz]e|give me a summary of|what does|describe)(?: the)?(?: contents? of)?(?: the)?(?: file)? ({F})(?: briefly| in short| say)?(?: for me| to me)?`), makeBrief},
	}
})

// command is a step that always runs the same.
func command(text string) func(*parser, []string) []step {
	return func(*parser, []string) []step { return []step{{kind: run, text: text}} }
}

// measures are the flags of wc.
var measures = map[string]string{"lines": "-l", "words": "-w", "characters": "-m", "bytes": "-c"}

func makeMeasure(p *parser, m []string) []step {
	name := p.file
	if m[2] != "" {
		if !p.isFile(m[2], m[0]) {
			return nil
		}
		name = p.fileName(m[2])
	}
	if name == "" {
		return nil
	}
	return []step{{kind: run, text: "wc " + measures[strings.ToLower(m[1])] + " < " + quote(name)}}
}

// kindsOfFiles are how people call files by what is in them.
var kindsOfFiles = map[string]string{
	"go": "go", "golang": "go", "python": "py", "javascript": "js", "typescript": "ts", "shell": "sh", "bash": "sh", "markdown": "md", "text": "txt", "json": "json", "yaml": "yaml",
	"rust": "rs", "java": "java", "ruby": "rb", "html": "html", "css": "css", "csv": "csv", "log": "log", "c": "c", "toml": "toml", "xml": "xml", "sql": "sql",
}

// existing are words that may stand where a kind of files does, and are none.
var existing = lazy.Words{Text: "are there"}

func makeCountFiles(p *parser, m []string) []step {
	pattern := ""
	if kind := strings.ToLower(p.bare(m[1])); kind != "" {
		kind = strings.TrimPrefix(strings.TrimPrefix(kind, "*"), ".")
		if vague(kind+" ") || existing.Has(kind) {
			return nil
		}
		pattern = " -name " + quote("*."+cmp.Or(kindsOfFiles[kind], kind))
	}
	return []step{{kind: run, text: "find " + quote(dot(p.dir(m[2]))) + " -type f -not -path '*/.*'" + pattern + " | wc -l"}}
}

// numerals are the small numbers that people write as words.
var numerals = map[string]string{"": "1", "two": "2", "three": "3", "five": "5", "ten": "10"}

func makeEnds(p *parser, m []string) []step {
	if !p.isFile(m[3], m[0]) {
		return nil
	}
	program := map[string]string{"first": "head", "last": "tail"}[strings.ToLower(m[1])]
	return []step{{kind: run, text: fmt.Sprintf("%s -n %s -- %s", program, cmp.Or(numerals[strings.ToLower(m[2])], m[2]), quote(p.fileName(m[3])))}}
}

func makeContains(file, what int) func(*parser, []string) []step {
	return func(p *parser, m []string) []step {
		if !p.isFile(m[file], "") || vague(m[what]) {
			return nil
		}
		name, text := quote(p.fileName(m[file])), quote(p.bare(m[what]))
		return []step{{kind: run, text: fmt.Sprintf("grep -nF -e %s -- %s || echo %s", text, name, quote("no: it is not in "+p.fileName(m[file])))}}
	}
}

func makeExists(p *parser, m []string) []step {
	if !p.isFile(m[1], m[0]) {
		return nil
	}
	name := p.fileName(m[1])
	return []step{{kind: run, text: fmt.Sprintf("if [ -e %s ]; then echo %s; else echo %s; fi", quote(name), quote("yes: "+name+" is there"), quote("no: there is no "+name))}}
}

// tests runs whatever a project's files say its tests are.
const tests = `if grep -qs '^test:' Makefile; then make test
elif [ -f go.mod ]; then go test ./...
elif [ -f package.json ]; then npm test
elif [ -f Cargo.toml ]; then cargo test
elif [ -f pytest.ini ] || [ -f pyproject.toml ] || ls test_*.py tests/test_*.py >/dev/null 2>&1; then python3 -m pytest -q
else echo 'no tests were found: there is no Makefile with a test target, go.mod, package.json, Cargo.toml or pytest file here'; exit 1
fi`

func makeTests(*parser, []string) []step {
	return []step{{kind: run, text: tests, label: "the tests"}}
}

func makeBrief(p *parser, m []string) []step {
	if !p.isFile(m[1], "") {
		return nil
	}
	name := p.fileName(m[1])
	if n := len(p.steps); n > 0 && p.steps[n-1].kind == run && strings.EqualFold(p.name(m[1]), "it") { // what it says is what it printed
		return []step{{kind: tell}}
	}
	if n := len(p.steps); n > 0 && p.steps[n-1].kind == read && p.steps[n-1].path == name { // "read it and summarise it" is one look
		p.steps[n-1].brief = true
		return []step{}
	}
	return []step{{kind: read, path: name, brief: true}}
}
