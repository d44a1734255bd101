package memory

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"harness"
)

// keep adds a commit's rules. One that is there already changes nothing.
func (s *Store) keep(rules []harness.Rule) {
	for _, r := range rules {
		if s.rule(r.ID) < 0 {
			s.rules = append(s.rules, r)
		}
	}
}

// KeepRules implements [harness.RuleKeeper].
func (s *Store) KeepRules(ctx context.Context, rules []harness.Rule) error {
	err := harness.CheckRules(rules)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && s.closed {
		err = errClosed
	}
	if err != nil {
		return fmt.Errorf("keep rules: %w", err)
	}
	s.keep(rules)
	return nil
}

// rule is where the rule is, or negative.
func (s *Store) rule(id harness.RuleID) int {
	return slices.IndexFunc(s.rules, func(r harness.Rule) bool { return r.ID == id })
}

// Rules implements [harness.Rulebook]: as of the moment the iteration begins.
func (s *Store) Rules(ctx context.Context, directory string) iter.Seq2[harness.Rule, error] {
	return func(yield func(harness.Rule, error) bool) {
		s.mu.Lock()
		rules, err := slices.Clone(s.rules), ctx.Err()
		if s.closed {
			err = errClosed
		}
		s.mu.Unlock()
		if err != nil {
			yield(harness.Rule{}, fmt.Errorf("rules of %q: %w", directory, err))
			return
		}
		for _, r := range rules {
			if (directory == "" || r.Directory == directory) && !yield(r, nil) {
				return
			}
		}
	}
}

// RevokeRule implements [harness.Rulebook].
func (s *Store) RevokeRule(ctx context.Context, id harness.RuleID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.rule(id)
	switch err := ctx.Err(); {
	case err != nil:
		return fmt.Errorf("revoke %s: %w", id, err)
	case s.closed:
		return fmt.Errorf("revoke %s: %w", id, errClosed)
	case at < 0:
		return fmt.Errorf("revoke %s: %w", id, harness.ErrNotFound)
	}
	s.rules = slices.Delete(s.rules, at, at+1)
	return nil
}
