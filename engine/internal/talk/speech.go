package talk

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"harness"
)

// maxSpeech bounds what is kept of what was said; the log has it all.
const maxSpeech = 8 << 20

// Speech is the text of a turn, made of blocks.
type Speech struct {
	said   strings.Builder
	begun  bool
	long   bool // more was said than is kept
	breaks int  // of lines, at its end
	fresh  bool // the next text begins a block
}

// Block begins another block.
func (s *Speech) Block() { s.fresh = true }

// Say is text, apart from the block before it.
func (s *Speech) Say(text string) []harness.Payload {
	if text == "" {
		return nil
	}
	if s.fresh && s.begun {
		text = strings.Repeat("\n", max(0, 2-s.breaks)) + text
	}
	s.fresh, s.begun = false, true
	words := strings.TrimRight(text, "\n")
	if words != "" {
		s.breaks = 0
	}
	s.breaks += len(text) - len(words)
	if s.long = s.long || s.said.Len()+len(text) > maxSpeech; s.long {
		s.said.Reset()
	} else {
		s.said.WriteString(text)
	}
	return []harness.Payload{&harness.Token{Text: text}}
}

// String is all that was said; "" if that is more than is kept.
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

// maxKinds bounds how many kinds are told apart: whoever says more of them makes
// them up.
const maxKinds = 50

// Count counts one of a kind.
func (s Strange) Count(kind string) {
	kind = strings.Clone(Brief(kind)) // and not the message that it is from
	if s[kind] == 0 && len(s) >= maxKinds {
		kind = "others"
	}
	s[kind]++
}

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
