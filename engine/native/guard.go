package native

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"harness"
)

// When a turn goes in circles.
const (
	sameCalls   = 3 // the same call with the same arguments, one after the other
	sameErrors  = 3 // the same error of the same tool, one after the other
	alternating = 6 // two calls in turns
	// failingSteps in a row make the model look back.
	failingSteps = 2
	// maxReflections bounds how often a turn is told something about itself.
	maxReflections = 4
)

// circle says how the calls of a turn go in circles; empty if they do not.
func circle(calls []*call) string {
	n := len(calls)
	same := func(a, b *call) bool { return a.name == b.name && a.args == b.args }
	last := func(k int, ok func(i int) bool) bool {
		if n < k {
			return false
		}
		for i := n - k; i < n; i++ {
			if !ok(i) {
				return false
			}
		}
		return true
	}
	switch {
	case last(sameCalls, func(i int) bool { return same(calls[i], calls[n-1]) }):
		return fmt.Sprintf("%s was called %d times in a row with the same arguments", calls[n-1].name, sameCalls)
	case last(sameErrors, func(i int) bool {
		return calls[i].failed() && calls[i].name == calls[n-1].name && calls[i].text == calls[n-1].text
	}):
		return fmt.Sprintf("%s failed %d times in a row in the same way", calls[n-1].name, sameErrors)
	case last(alternating, func(i int) bool { return same(calls[i], calls[n-1-(n-1-i)%2]) }):
		return fmt.Sprintf("%s and %s were called in turns %d times with the same arguments", calls[n-2].name, calls[n-1].name, alternating)
	}
	return ""
}

// reflect makes the model look back when the turn goes in circles, and ends the
// turn if it goes on in circles then; it makes the model look back, too, when
// step after step fails.
func (r *turn) reflect(ctx context.Context) error {
	t := &r.conv.turn
	if why := circle(t.calls); why != "" {
		if t.circled != 0 && len(t.calls) > t.circled {
			return fmt.Errorf("the turn goes in circles: %s, also after the model was told so", why)
		}
		return r.emit(ctx, &harness.Reflection{Text: toldCircle + why + ". It will not come out differently. Do something else, or say what keeps you from going on; if you do the same again, the turn ends."})
	}
	failures := r.failures()
	if len(failures) < failingSteps || t.told >= maxReflections {
		return nil
	}
	return r.emit(ctx, &harness.Reflection{Text: fmt.Sprintf("The last %d steps failed:\n%s\nBefore you go on: what do they have in common, what did you assume, and what is the smallest step that would show whether it holds?", len(failures), strings.Join(failures, "\n"))})
}

// toldCircle begins what the model is told about circles.
const toldCircle = "You are going in circles: "

// failures are the last steps if nothing came of them, since the model was last
// told to look back.
func (r *turn) failures() (lines []string) {
	rounds := r.conv.rounds
	for _, round := range slices.Backward(rounds) {
		if len(round.calls) == 0 || slices.ContainsFunc(round.calls, func(k *call) bool { return !k.failed() || k.turn != r.t.ID }) {
			break
		}
		for _, k := range slices.Backward(round.calls) {
			lines = append(lines, fmt.Sprintf("- %s: %s", k.name, cut(lastLine(k.text), 200)))
		}
		if len(round.said) > 0 { // it was told something before this
			break
		}
	}
	slices.Reverse(lines)
	return lines
}

func lastLine(s string) string {
	s = strings.TrimRight(s, "\n")
	return s[strings.LastIndexByte(s, '\n')+1:]
}
