package conscience

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"harness"
	"harness/internal/lazy"
	"harness/tool"
)

// guardrail is something a turn should not do without somebody seeing it.
type guardrail struct {
	name    string
	touched func(t *turn) string // what touched it; empty if nothing did
}

var guardrails = []guardrail{
	{"secret_in_output", secretInOutput},
	{"write_outside_workspace", writeOutside},
	{"claim_without_evidence", claimWithoutEvidence},
	{"instruction_in_tool_output", instructionInOutput},
	{"failing_calls", failingCalls},
}

// looksSecret is what keys look like. The kernel takes them out before an event
// is stored, and leaves its mark; what is left is a form that it does not know.
var looksSecret = lazy.Regexp{Expr: `\[redacted\]|-----BEGIN [A-Z ]*PRIVATE KEY-----|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{30,}\b|\bsk-[A-Za-z0-9_-]{20,}\b`}

func secretInOutput(t *turn) string {
	if looksSecret.Get().MatchString(t.answer) {
		return "the answer"
	}
	for _, c := range t.order {
		if looksSecret.Get().MatchString(c.output) || looksSecret.Get().Match(c.args) {
			return "call " + string(c.id) + " of " + c.name
		}
	}
	return ""
}

func writeOutside(t *turn) string {
	for _, c := range t.order {
		for _, p := range c.writes() {
			if outside(t.directory, p) {
				return c.name + " " + p
			}
		}
	}
	return ""
}

// outside reports whether a path leaves a directory.
func outside(dir, p string) bool {
	if strings.HasPrefix(p, "~") {
		return true
	}
	if !filepath.IsAbs(p) {
		return !filepath.IsLocal(filepath.Clean(p))
	}
	if dir == "" {
		return true
	}
	rel, err := filepath.Rel(dir, p)
	return err != nil || !filepath.IsLocal(rel)
}

// claims is what an answer says that only a call can show.
var claims = lazy.Regexp{Expr: `(?i)\b(?:tests? (?:now )?pass|all (?:tests )?pass|i(?:'ve| have)? (?:ran|run|verified|tested|checked|confirmed|executed)|it works now|build succeeds|successfully (?:ran|built|tested|executed))\b`}

func claimWithoutEvidence(t *turn) string {
	found := claims.Get().FindString(t.answer)
	if found == "" || len(t.buddhi.Evidence) > 0 {
		return ""
	}
	return "“" + found + "” with no call that succeeded"
}

// commands is how a text that was read tries to become the one who asks.
var commands = lazy.Regexp{Expr: `(?i)ignore (?:all |any )?(?:your |the )?(?:previous|prior|above|earlier) (?:instructions|messages|prompts)|disregard (?:all |the )?(?:previous|above|prior)|you are now (?:a|an|in)\b|new system prompt|<\s*/?\s*system\s*>|do not (?:tell|inform|mention (?:this )?to) the user|BEGIN (?:SYSTEM|ADMIN) (?:PROMPT|MESSAGE)`}

func instructionInOutput(t *turn) string {
	for _, c := range t.order {
		if found := commands.Get().FindString(c.output); found != "" {
			return "call " + string(c.id) + " of " + c.name + " read “" + found + "”"
		}
	}
	return ""
}

// manyFailures is when failing calls say more about the plan than about the
// calls.
const manyFailures = 3

func failingCalls(t *turn) string {
	bad := t.buddhi.Calls[harness.OutcomeError] + t.buddhi.Calls[harness.OutcomeTimeout]
	if bad < manyFailures || bad*2 < len(t.order) {
		return ""
	}
	return "half of the calls or more failed"
}

// writes are the files that a call means to change, as it names them.
func (c *call) writes() []string { return tool.Writes(c.name, c.args) }

// argument is the first of some arguments that is a text.
func (c *call) argument(keys ...string) string {
	var args map[string]any
	if json.Unmarshal(c.args, &args) != nil {
		return ""
	}
	for _, key := range keys {
		if s, ok := args[key].(string); ok {
			return strings.TrimSpace(s)
		}
	}
	return ""
}
