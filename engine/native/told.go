package native

import (
	"encoding/json"
	"fmt"
	"strings"

	"harness"
)

// What a model is told that nobody said. The same facts always make the same
// words.
const (
	toldInterrupted = "This call was interrupted by a restart; it may or may not have happened. Find out before you do it again."
	toldCut         = "(Your answer was cut off here. Go on from where it ends, or begin it again.)"
	toldUnknown     = "(An earlier request, which is no longer known.)"
	toldLength      = "(Your answer reached the limit of its length. Go on exactly where it ends.)"
	toldCancelled   = "This call was cancelled before it ended; it may have happened in part."
	toldRetry       = "This call was not finished, because the attempt failed; it may or may not have happened. Find out before you do it again."
	toldNothing     = "(no output)"
	toldSummary     = "This is a summary of the conversation so far; what follows it is verbatim.\n\n"
)

// toldOutcome is what a model reads as the result of a call, from what the log
// says of its end.
func toldOutcome(output string, o *harness.ToolOutcome) string {
	switch o.Status {
	case harness.OutcomeOK, harness.OutcomeArtifact:
		if output == "" {
			return toldNothing
		}
		return output
	case harness.OutcomeDenied:
		why := o.Reason
		if why == "" {
			why = o.Error
		}
		if why == "" {
			return "The call was denied and did not run."
		}
		return "The call was denied and did not run: " + why
	}
	var before string // what there was until it failed
	if json.Unmarshal(o.Result, &before) != nil || before == "" {
		before = output
	}
	switch o.Reason {
	case "interrupted":
		return joined(before, toldInterrupted)
	case harness.TurnCancelled:
		return joined(before, toldCancelled)
	case "retry":
		return joined(before, toldRetry)
	}
	why := o.Error
	if why == "" {
		why = o.Reason
	}
	if why == "" {
		why = "The call failed."
	}
	if strings.HasSuffix(before, "["+why+"]") { // the tool has said so already
		return before
	}
	return joined(before, why)
}

func joined(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		if p == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString(strings.TrimRight(p, "\n"))
	}
	return b.String()
}

// stubOver is the length from which a result is worth a stub.
const stubOver = 400

// stub replaces the call's result by a line about it.
func (k *call) stub() {
	if len(k.text) <= stubOver || k.status == "" {
		return
	}
	first, _, _ := strings.Cut(k.text, "\n")
	k.text = fmt.Sprintf("[the result of %s was left out to save room: %d characters, beginning with %q; call it again if you need it]", k.name, len(k.text), cut(first, 80))
	k.images = nil
}

// cut is at most n bytes of s, whole characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}
