package harness

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// RuleID names a standing rule: rul_….
type RuleID string

// RulePrefix begins the identifiers of rules.
const RulePrefix = "rul_"

// Rule is a standing allowance that an approval answered with [Always] left
// behind: such calls of a tool may run, without a question, in every session of a
// user in a directory, until the rule is revoked. Its JSON form is the store's.
type Rule struct {
	ID        RuleID     `json:"rule_id"`
	Directory string     `json:"directory"`
	User      string     `json:"user_id,omitempty"` // whose sessions; others are asked for themselves
	Tool      string     `json:"tool"`
	Pattern   string     `json:"pattern,omitempty"` // which calls of the tool, as package policy writes it; every call if it is empty
	Session   SessionID  `json:"session_id"`        // where it was decided
	Request   ApprovalID `json:"request_id"`        // and about which question
	Actor     string     `json:"actor,omitempty"`
	Created   time.Time  `json:"created"`
}

// Check refuses a rule that would cover nothing, or has no name to revoke it
// by, with [ErrInvalid].
func (r Rule) Check() error {
	if err := CheckID("rule id", string(r.ID)); err != nil {
		return err
	}
	if r.Directory == "" || r.Tool == "" {
		return fmt.Errorf("rule %s: a rule has a directory and a tool: %w", r.ID, ErrInvalid)
	}
	return nil
}

// CheckRules is Check of each.
func CheckRules(rules []Rule) error {
	for _, r := range rules {
		if err := r.Check(); err != nil {
			return err
		}
	}
	return nil
}

// Rulebook is an optional power of a store: it keeps the rules of the commits
// it takes. A commit's rules are durable no later than its events, and a commit
// that is refused leaves none; they outlive their session.
type Rulebook interface {
	// Rules yields the rules of a directory that stand, oldest first; "" is
	// every directory.
	Rules(ctx context.Context, directory string) iter.Seq2[Rule, error]

	// RevokeRule ends a rule. It returns nil when that is durable, and
	// ErrNotFound if no such rule stands.
	RevokeRule(ctx context.Context, id RuleID) error
}

// RuleKeeper is an optional power of a [Rulebook]: rules that come without a
// commit, as from another store.
type RuleKeeper interface {
	// KeepRules adds rules behind those that stand, in their order. It returns
	// when all are durable; one that is there already changes nothing.
	KeepRules(ctx context.Context, rules []Rule) error
}
