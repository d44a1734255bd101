package offline

import (
	"strings"

	"harness/internal/lazy"
)

// filler is what stands before a verb and means nothing to us.
var filler = lazy.Regexp{Expr: `(?i)^(?:and|then|now|please|pls|kindly|also|next|first(?:ly)?|second(?:ly)?|third(?:ly)?|finally|lastly|afterwards?|after that|after this|once (?:that is|that's|it is|it's) done|when (?:that is|that's) done|at the end|at last|so|ok(?:ay)?|just|go ahead and|let'?s|let us|can you|could you|would you|will you|you should|i want you to|i would like you to|i'd like you to|i need you to|after you|once you have|once you've|use (?:grep|rg|find|sed|bash|the shell|the terminal|your tools) to|using (?:the shell|bash|the terminal|a shell|your tools)|clean up|try to|in the end)\b[,:]?\s*`}

// bullet begins a line of a list.
var bullet = lazy.Regexp{Expr: `^\s*(?:[-*•]|\d+[.)])\s+`}

// sentence is where one ends.
var sentence = lazy.Regexp{Expr: `[.!?;]+(?:\s+|$)`}

// joint is where a step may end and the next begin.
var joint = lazy.Regexp{Expr: `(?i)\s*,?\s+(?:and\s+)?(?:then|afterwards|after that|finally)\b,?\s+|\s*,\s*(?:and\s+)?|\s+and\s+|\s+&&\s+`}

// always is a joint that is one whatever follows.
var always = lazy.Regexp{Expr: `(?i)then|after|finally`}

// clauses splits a masked text into steps, in words.
func clauses(text string) (all []string) {
	for line := range strings.Lines(text) {
		line = bullet.Get().ReplaceAllString(strings.TrimRight(line, "\n"), "")
		for _, s := range sentence.Get().Split(line, -1) {
			joints := splitJoints(s)
			if planned.Get().MatchString(s) { // its items are not steps of ours
				joints = []string{s}
			}
			for _, c := range joints {
				if c = strip(c); c != "" {
					all = append(all, c)
				}
			}
		}
	}
	return all
}

// planned begins a list of things to do.
var planned = lazy.Regexp{Expr: `(?i)^\s*(?:plan|todos?|(?:make|write) a (?:plan|todo list))(?: for| of| with)?:`}

// splitJoints splits where a joint is followed by a verb we know.
func splitJoints(s string) (parts []string) {
	from := 0
	for _, at := range joint.Get().FindAllStringIndex(s, -1) {
		if at[0] <= from || !always.Get().MatchString(s[at[0]:at[1]]) && !beginsWithVerb(s[at[1]:]) {
			continue
		}
		parts, from = append(parts, s[from:at[0]]), at[1]
	}
	return append(parts, s[from:])
}

// courtesy is what stands behind a request and means nothing to us.
var courtesy = lazy.Regexp{Expr: `(?i)(?:\s*,\s*(?:please|pls|thanks|thank you|ok)|\s+(?:please|pls|for me))\s*$`}

// strip takes fillers and loose punctuation away.
func strip(s string) string {
	s = strings.Trim(courtesy.Get().ReplaceAllString(s, ""), " \t\r,;:")
	for {
		shorter := filler.Get().ReplaceAllString(s, "")
		if shorter == s {
			return s
		}
		s = shorter
	}
}

var firstWord = lazy.Regexp{Expr: `^[\pL']+`}

func beginsWithVerb(s string) bool {
	if len(s) > 200 { // fillers and a verb are shorter
		s = s[:200]
	}
	return verbs.Has(strings.ToLower(firstWord.Get().FindString(strip(s))))
}

// verbs are the words a step begins with.
var verbs = lazy.Words{Text: `run execute exec launch start try invoke read cat show open display view print look write put save store place
	create make append replace change swap substitute edit delete remove erase fix correct check double verify confirm mkdir move rename copy search grep scan find list fetch download
	think consider ponder ask delegate have use plan todo remember memorize memorise note fail crash wait sleep pause count tell report
	say reply answer respond summarize summarise give let what stop cancel touch add overwrite`}
