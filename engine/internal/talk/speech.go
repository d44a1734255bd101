package talk

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"harness"
)

// Speech is the text of a turn, made of blocks.
type Speech struct {
	said  strings.Builder
	fresh bool // the next text begins a block
}

// Block begins another block.
func (s *Speech) Block() { s.fresh = true }

// Say is text, apart from the block before it.
func (s *Speech) Say(text string) []harness.Payload {
	if text == "" {
		return nil
	}
	if before := s.said.String(); s.fresh && before != "" {
		text = strings.Repeat("\n", max(0, 2-(len(before)-len(strings.TrimRight(before, "\n"))))) + text
	}
	s.fresh = false
	s.said.WriteString(text)
	return []harness.Payload{&harness.Token{Text: text}}
}

// String is all that was said.
func (s *Speech) String() string { return s.said.String() }

// Think is reasoning, if there is any.
func Think(text string) []harness.Payload {
	if text == "" {
		return nil
	}
	return []harness.Payload{&harness.Thinking{Text: text}}
}

// Strange counts what could not be understood, by kind.
type Strange map[string]int

// Diagnostic tells of it; nothing if all was understood.
func (s Strange) Diagnostic() []harness.Payload {
	if len(s) == 0 {
		return nil
	}
	d := &harness.TransportDiagnostic{Status: "degraded", Kind: "unknown_messages"}
	for _, kind := range slices.Sorted(maps.Keys(s)) {
		d.FailureCount += s[kind]
		d.Reason += fmt.Sprintf(", %s ×%d", Brief(kind), s[kind])
	}
	d.Reason = d.Reason[2:]
	return []harness.Payload{d}
}

// maxBrief bounds what is told in passing.
const maxBrief = 200

// Brief is the beginning of a text, in one line.
func Brief(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= maxBrief {
		return s
	}
	return strings.ToValidUTF8(s[:maxBrief], "") + "…"
}
