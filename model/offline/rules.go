package offline

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"harness/internal/lazy"
	"harness/model"
)

// rule makes steps of a clause of one form. Tried in order; one that makes
// nothing lets the next try.
type rule struct {
	form func() *regexp.Regexp
	make func(*parser, []string) []step
}

// form is a whole clause; L is a literal, F a name, and blanks are any space. It
// is compiled when it is first needed: all of them take longer than the rest of
// the program's start, which is also that of every helper of a sandbox.
func form(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp {
		expr := strings.NewReplacer("{L}", `[\x{e000}-\x{f8ff}]`, "{F}", `[^\s,:]+`, " ", `\s+`).Replace(expr)
		return regexp.MustCompile(`(?is)^(?:` + expr + `)$`)
	})
}

const (
	aFile  = `(?:a |an |the )?(?:new |empty )?(?:(?:shell|bash|python|text|plain) )?(?:(?:file|script|program)(?: |$))?(?:called |named )?`
	helper = `(?:a|an|the|another|your) (?:sub-?agent|helper|agent|worker|assistant)`
)

var rules = sync.OnceValue(func() []rule {
	return []rule{
		{form(`(?:hi|hello|hey|good (?:morning|day|evening)|help|help me|what can you do.*|who are you.*|what are you.*|what do you understand.*)(?: there)?`), one(intro)},
		{form(`stop|stop (?:it|that|now|here|everything)|cancel|abort|never mind|don't`), one(halt)},
		{form(`summari[sz]e .*(?:conversation|session|so far|above|happened).*|summari[sz]e`), one(summarise)},

		// What came out of it.
		{form(`(?:tell|show|give|report|let|print|say|read|repeat)(?: to)?(?: me| us)?(?: back)?(?: know)? (?:what|how|whether|if|exactly what|everything|the (?:output|result|results|outcome|answer|exit code)|its output|the file's output).*`), one(tell)},
		{form(`let me know|tell me|show me|report(?: back)?(?: to me)?|what (?:did|does|do|was|is|were|are) (?:it|that|this|they|the output|the result|the command|the script).*|what(?:'s| is) the (?:output|result)|what (?:was|got|is|has been) (?:printed|shown|said|put out)`), one(tell)},

		// Others do it.
		{form(`(?:ask|have|let|get|tell|use|start|spawn|launch) ` + helper + `(?: to| that| which| for| and)?[:,]? (.+)`), text(delegate, 1)},
		{form(`delegate(?: (?:it |this )?to ` + helper + `)?[:,]?(?: to)? (.+?)(?: to ` + helper + `)?`), text(delegate, 1)},

		{form(`fail|fail (?:now|please)|crash|raise an error|error out`), func(*parser, []string) []step { return []step{{kind: fail, fault: model.ServerError}} }},
		{form(`(?:fail|crash)(?: with| by| as| because of| saying)?(?: an?| the)? (.+)`), makeFail},
		{form(`(?:think|consider|ponder)(?: hard| carefully| deeply)?(?: about| of| on| over)?(?: (.*))?`), text(think, 1)},
		{form(`ask(?: me| us| the user)?(?: a question| about| for| whether| if)?[:,]?(?: (.*))?`), makeAsk},
		{form(`(?:remember|memori[sz]e|note|keep in mind)(?: that| this)?[:,]? (.+)`), text(remember, 1)},
		{form(`(?:plan|todo|todos|make a (?:plan|todo list)|write a (?:plan|todo list))(?: for| of| with)?(?:: ?(.+)| (.+,.+))`), makeTodo},
		{form(`count(?: up)?(?: from (\d+))? to (\d+)(?: .*)?`), makeCount},
		{form(`(?:wait|sleep|pause)(?: for)? (\d+(?:\.\d+)?) ?(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?)?`), makeWait},
		{form(`(?:fetch|download|get|open|visit|load|read)(?: the)?(?: page| url| site)?(?: at| from)? (https?://\S+|{L})`), makeFetch},

		// Files.
		{form(`(?:replace|change|swap|substitute)(?: the)?(?: text| word| line)? (.+?) (?:with|by|to|for|into) (.+?) in (?:the )?(?:file )?({F})`), makeEdit(3, 1, 2)},
		{form(`(?:in|edit)(?: the)?(?: file)? ({F}),?:?(?: and| to| by| so that you)? (?:replac(?:e|ing)|chang(?:e|ing)|swap) (.+?) (?:with|by|to|for|into) (.+)`), makeEdit(1, 2, 3)},
		{form(`edit (?:the )?(?:file )?({F}),?:?(?: and| to)? (.+?) (?:->|=>|becomes) (.+)`), makeEdit(1, 2, 3)},
		{form(`(?:write|put|save|store|place)(?: (?:the )?(?:following )?(?:text|line|lines|contents?|code|script|command|string|words?)| the following)?:? (.+?) (?:in|into|to|inside|as) ` + aFile + `({F}):?(?: ({L}))?`), makeWriteTo},
		{form(`echo (.+?) (?:in)?to ` + aFile + `({F})`), makeWrite(2, 1)},
		{form(`in(?:to|side)? (?:the )?(?:file )?({F}),? (?:write|put|save)(?: the)?(?: text| line| command)? (.+)`), makeWrite(1, 2)},
		{form(`(?:create|make|write|save|add|put) ` + aFile + `({F}),?:?(?: with| containing| that says| that contains| which contains| which says| holding| that reads| saying| that runs| consisting of| whose contents? (?:is|are)| and (?:put|write))(?: the)?(?: following)?(?: text| line| contents?| command| code| words?)?(?: of)?:? (.+?)(?: (?:in|into|inside) it)?`), makeWrite(1, 2)},
		{form(`(?:write|create|save|make) ` + aFile + `({F}): ?(.+)`), makeWrite(1, 2)},
		{form(`(?:create|make)(?: a| the)?(?: new)? (?:directory|folder|dir)(?: called| named)? ({F})`), shell("mkdir -p -- ", 1)},
		{form(`(?:create|touch|make)(?: (?:the|some|two|three|four|five|\d+))?(?: new| empty)* files?(?: called| named)? (.+(?:,| and ).+)`), makeEmpties},
		{form(`(?:create|touch|make) ` + aFile + `({F})`), makeEmpty},
		{form(`make (?:it|that|the script|the file|({F})) executable`), makeExecutable},
		{form(`(?:delete|remove|rm)(?: the)?(?: files?)? (.+)`), makeRemove},
		{form(`(move|rename|copy)(?: the)?(?: file)? ({F}) (?:in)?to ({F})`), makeMove},

		// In a file that was named before.
		{form(`(?:edit|in)(?: the)?(?: file)? ({F})(?: file)?`), makeContext},
		{form(`(?:replace|change|swap|substitute)(?: the)?(?: text| word| line)? (.+?) (?:with|by|to|for|into) (.+?)`), makeEditHere},
		{form(`(?:write|put|save)(?: the)?(?: text| line| command)? (.+)`), makeWriteHere},

		// Looking around.
		{form(`(?:list|show|display|find)(?: me)?(?: all)?(?: of)?(?: the)? (?:files|directory|folder|contents of the (?:directory|folder))(?: and (?:directories|folders))?(?: (?:in|of|under|inside|from))?(?: the| this)?(?: directory| folder| workspace| project)?(?: ({F}))?(?: here)?`), makeList},
		{form(`list (?:them|all|everything)()`), makeList},
		{form(`(?:list|ls)(?: ({F}))?|what files are (?:there|here|in (?:the )?(?:workspace|project|directory|folder))`), makeList},
		{form(`(?:find|list|show|search)(?: me)?(?: for)?(?: all| every)?(?: of)?(?: the)? ([a-z]+) (?:files?|sources?|scripts?)(?: (?:in|under|inside)(?: the)? ({F}))?(?: here| there are)?`), makeGlobOf},
		{form(`(?:find|list|show|search)(?: me)?(?: for)?(?: all)?(?: the)?(?: files)?(?: named| called| matching| like| ending in)? ({L}|[^\s,]*[*?][^\s,]*)(?: files)?(?: (?:in|under|inside)(?: the)? ({F}))?(?: .*)?`), makeGlob},
		{form(`(?:search|look|scan|grep)(?: in| through| inside)?(?: the)? ({F})(?: files| directory| folder)? for (.+)`), makeGrep(2, 1)},
		{form(`(?:search|scan|grep|find|look for)(?: for)?(?: the)?(?: text| word| string| pattern)? (.+?)(?: (?:in|under|inside)(?: the| this| all)? ({F})(?: directory| folder)?)?`), makeGrep(1, 2)},
		{form(`where (?:is|are) (.+?)(?: defined| used| mentioned)?`), makeGrep(1, 0)},

		{form(`(?:run|execute|exec|start|launch|try|invoke) (?:it|that|this|the (?:script|file|program)) (?:with|using|through|in|under) ({F}|{L})`), makeRunWith},
		{form(`(?:run|execute|exec|start|launch|try|invoke) (?:it|that|this|them|the (?:script|file|program))(?: again)?`), makeRunIt},
		{form(`(run|execute|exec|launch|start|try|invoke|\$|>)(?:(?: the)?(?: following)?(?: shell| bash)?(?: commands?| scripts?| programs?))?:? (.+)`), makeRun},
		{form(`(?:read|cat|show|open|display|view|print|look at)(?: me)?(?: the)?(?: contents? of)?(?: the)?(?: files?)? (.+?)(?: back)?(?: to (?:me|us))?`), makeRead},
		{form(`what(?:'s| is) (?:in|inside)(?: the)?(?: file)? ({F})`), makeRead},
		{form(`say:? (.+)|(?:tell me|reply|answer|respond|print)(?: with)?:? ({L})`), makeSay},
		{form(`(?:reply|answer|respond)(?: with)? (.+)`), makeReply},
		{form(`([a-z0-9]+)(?: .+)?`), makeCommand},
	}
})

func one(k kind) func(*parser, []string) []step {
	return func(*parser, []string) []step { return []step{{kind: k}} }
}

func text(k kind, at int) func(*parser, []string) []step {
	return func(p *parser, m []string) []step { return []step{{kind: k, text: p.bare(m[at])}} }
}

func shell(prefix string, at int) func(*parser, []string) []step {
	return func(p *parser, m []string) []step { return []step{{kind: run, text: prefix + quote(p.name(m[at]))}} }
}

func makeCount(_ *parser, m []string) []step {
	from, to := 1, 0
	if m[1] != "" {
		from, _ = strconv.Atoi(m[1])
	}
	to, _ = strconv.Atoi(m[2])
	return []step{{kind: count, from: from, to: min(to, from+maxCount)}}
}

// maxCount bounds counting: a long answer, not an endless one.
const maxCount = 10_000

func makeWait(_ *parser, m []string) []step {
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return nil
	}
	switch unit := strings.ToLower(m[2]); {
	case strings.HasPrefix(unit, "ms"), strings.HasPrefix(unit, "milli"):
		n /= 1000
	case strings.HasPrefix(unit, "m"):
		n *= 60
	}
	return []step{{kind: run, text: "sleep " + strconv.FormatFloat(n, 'f', -1, 64)}}
}

func makeFetch(p *parser, m []string) []step {
	url := p.bare(m[1])
	if !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") {
		return nil
	}
	return []step{{kind: fetch, text: url}}
}

func makeSay(p *parser, m []string) []step { return []step{{kind: say, text: p.bare(m[1] + m[2])}} }

func makeReply(p *parser, m []string) []step {
	if vague(m[1]) {
		return nil
	}
	return []step{{kind: say, text: p.bare(m[1])}}
}

// article begins what has to be understood, not copied.
var article = lazy.Regexp{Expr: `(?i)^(?:a|an|the|my|your|our|some|all|any|these|those)\s`}

// vague reports whether s describes something instead of being it.
func vague(s string) bool { return article.Get().MatchString(strings.TrimSpace(s)) }

func makeAsk(p *parser, m []string) []step {
	question := p.bare(m[1])
	if question == "" {
		question = "What should I do?"
	}
	return []step{{kind: ask, text: strings.TrimSuffix(question, "?") + "?"}}
}

func makeTodo(p *parser, m []string) []step {
	var items []string
	for _, s := range p.list(m[1] + m[2]) {
		items = append(items, p.bare(s))
	}
	return []step{{kind: todo, items: items}}
}

// faultWords are what people call faults.
var faultWords = map[string]model.Fault{
	"rate limit": model.RateLimited, "429": model.RateLimited, "overload": model.Overloaded, "529": model.Overloaded, "auth": model.Auth,
	"bad request": model.BadRequest, "too long": model.ContextTooLong, "timeout": model.TimedOut, "refus": model.Refused, "cut": model.CutOff,
}

func makeFail(p *parser, m []string) []step {
	why := p.bare(m[1])
	s := step{kind: fail, text: why, fault: model.ServerError}
	for word, f := range faultWords {
		if strings.Contains(strings.ToLower(why), word) {
			s.fault = f
		}
	}
	return []step{s}
}
