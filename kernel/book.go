package kernel

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"harness"
)

// book is the rules that stand, in memory, so that neither a wake nor a call of
// a tool reads the store. It is read from the store once, by whoever first needs
// it, and follows commits and revocations from then on.
type book struct {
	store harness.Rulebook

	storing sync.Mutex // one load or revocation at a time; held across the store

	mu      sync.Mutex                // guards what follows
	loaded  bool                      // rules holds all that the store has
	doubts  int                       // how often it may have ceased to
	rules   map[string][]harness.Rule // by directory, oldest first; the slices are never written to
	revoked map[harness.RuleID]bool   // before it was heard that they stand
}

func newBook(st harness.Rulebook) *book {
	return &book{store: st, rules: map[string][]harness.Rule{}, revoked: map[harness.RuleID]bool{}}
}

// load reads the store, if need be. If it is not the first time, it returns the
// directories with rules that nobody knew of.
func (b *book) load(ctx context.Context) (fresh []string, err error) {
	if loaded, _ := b.status(); loaded {
		return nil, nil
	}
	b.storing.Lock()
	defer b.storing.Unlock()
	loaded, doubts := b.status()
	if loaded {
		return nil, nil
	}
	var stored []harness.Rule
	for r, err := range b.store.Rules(ctx, "") {
		if err != nil {
			return nil, fmt.Errorf("load the rules: %w", err)
		}
		stored = append(stored, r)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range stored {
		if b.insert(r) && doubts > 0 && !slices.Contains(fresh, r.Directory) {
			fresh = append(fresh, r.Directory)
		}
	}
	b.loaded = b.doubts == doubts
	return fresh, nil
}

// refresh reads the store again and returns the directories with rules that
// nobody knew of. Rules that are gone from it do not stand any more.
func (b *book) refresh(ctx context.Context) (fresh []string, err error) {
	b.storing.Lock()
	defer b.storing.Unlock()
	b.mu.Lock()
	doubts, known := b.doubts, map[harness.RuleID]bool{} // durable before the store is asked
	for _, rules := range b.rules {
		for _, r := range rules {
			known[r.ID] = true
		}
	}
	b.mu.Unlock()
	var stored []harness.Rule
	for r, err := range b.store.Rules(ctx, "") {
		if err != nil {
			return nil, fmt.Errorf("load the rules again: %w", err)
		}
		stored = append(stored, r)
		delete(known, r.ID)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for dir, rules := range b.rules {
		b.rules[dir] = slices.DeleteFunc(slices.Clone(rules), func(r harness.Rule) bool { return known[r.ID] })
	}
	for _, r := range stored {
		if b.insert(r) && !slices.Contains(fresh, r.Directory) {
			fresh = append(fresh, r.Directory)
		}
	}
	b.loaded = b.doubts == doubts
	return fresh, nil
}

func (b *book) status() (loaded bool, doubts int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.loaded, b.doubts
}

// insert adds a rule, unless it is there or was revoked meanwhile.
func (b *book) insert(r harness.Rule) bool {
	if b.revoked[r.ID] || has(b.rules[r.Directory], r.ID) {
		return false
	}
	b.rules[r.Directory] = append(slices.Clip(b.rules[r.Directory]), r)
	return true
}

func has(rules []harness.Rule, id harness.RuleID) bool {
	return slices.ContainsFunc(rules, func(r harness.Rule) bool { return r.ID == id })
}

// add takes a rule that has become durable.
func (b *book) add(r harness.Rule) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	added := b.insert(r)
	delete(b.revoked, r.ID)
	return added
}

// doubt says that the store may have a rule of which nobody knows.
func (b *book) doubt() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.loaded = false
	b.doubts++
}

// of is a directory's rules, and those that a session of it is about to make.
func (b *book) of(directory string, made []harness.Rule) []harness.Rule {
	b.mu.Lock()
	defer b.mu.Unlock()
	rules := b.rules[directory]
	for _, r := range made {
		if !b.revoked[r.ID] && !has(rules, r.ID) {
			rules = append(slices.Clip(rules), r)
		}
	}
	return rules
}

// all is every rule, of one directory or of all, oldest first.
func (b *book) all(directory string) []harness.Rule {
	b.mu.Lock()
	defer b.mu.Unlock()
	if directory != "" {
		return b.rules[directory]
	}
	var rules []harness.Rule
	for _, list := range b.rules {
		rules = append(rules, list...)
	}
	slices.SortFunc(rules, func(x, y harness.Rule) int {
		return cmp.Or(x.Created.Compare(y.Created), cmp.Compare(x.ID, y.ID))
	})
	return rules
}

// revoke ends a rule, in the store first.
func (b *book) revoke(ctx context.Context, id harness.RuleID) error {
	b.storing.Lock()
	defer b.storing.Unlock()
	err := b.store.RevokeRule(ctx, id)
	if err != nil && harness.AsError(err) != harness.ErrNotFound {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for dir, rules := range b.rules {
		if has(rules, id) { // also one that an earlier try took from the store, though it failed
			b.rules[dir] = slices.DeleteFunc(slices.Clone(rules), func(r harness.Rule) bool { return r.ID == id })
			return nil
		}
	}
	if err == nil {
		b.revoked[id] = true
	}
	return err
}
