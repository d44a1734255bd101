package storetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"harness"
)

// rule allows a tool in a directory.
func rule(n int, directory, tool string) harness.Rule {
	return harness.Rule{
		ID: harness.RuleID(fmt.Sprintf("rul_%d", n)), Directory: directory, Tool: tool, Session: "a", Request: "apr_a.1",
		Actor: "ada \"quoted\"\n日本語", Created: epoch.Add(time.Duration(n) * time.Millisecond),
	}
}

// ruling is a commit of one event with rules.
func ruling(id harness.SessionID, after harness.Seq, rules ...harness.Rule) harness.Commit {
	c := commit(id, after, 1)
	c.Rules = rules
	return c
}

// mustRule checks which rules stand in a directory.
func mustRule(t testing.TB, b harness.Rulebook, directory string, want ...harness.Rule) {
	t.Helper()
	got, err := collect(b.Rules(t.Context(), directory))
	if err != nil {
		t.Fatalf("rules of %q: %v", directory, err)
	}
	tell := func(rules []harness.Rule) string {
		var s strings.Builder
		for _, r := range rules {
			r.Created = r.Created.UTC()
			fmt.Fprintf(&s, "\n%+v", r)
		}
		return s.String()
	}
	if g, w := tell(got), tell(want); g != w {
		t.Fatalf("rules of %q: got%s\nwant%s", directory, g, w)
	}
}

// afterReopen checks the rules that the next process finds. A store that has
// lost even its logs breaks another promise.
func afterReopen(t testing.TB, s Suite, st harness.Store, check func(harness.Store)) {
	t.Helper()
	if s.Reopen == nil {
		return
	}
	st = s.Reopen(t, st)
	if _, err := collect(st.Read(t.Context(), "a", 0)); !errors.Is(err, harness.ErrNotFound) {
		check(st)
	}
}

func aCommitsRulesStandWithIt(t testing.TB, s Suite) {
	st := s.Open(t)
	b := rulebook(t, st)
	mustRule(t, b, "")
	mustRule(t, b, "/w")
	mustAppend(t, st, ruling("a", 0, rule(1, "/w", "bash"), rule(2, "/w", "write")), commit("a", 1, 3), ruling("a", 4, rule(3, "/w", "fetch")))
	mustRule(t, b, "/w", rule(1, "/w", "bash"), rule(2, "/w", "write"), rule(3, "/w", "fetch"))
	mustHave(t, st, "a", 0, events(commit("a", 0, 5)))
	afterReopen(t, s, st, func(st harness.Store) {
		mustRule(t, rulebook(t, st), "/w", rule(1, "/w", "bash"), rule(2, "/w", "write"), rule(3, "/w", "fetch"))
	})
}

func rulesAreOldestFirst(t testing.TB, s Suite) {
	st := s.Open(t)
	b := rulebook(t, st)
	mustAppend(t, st, ruling("a", 0, rule(9, "/w", "x")), ruling("b", 0, rule(1, "/v", "x"), rule(8, "/w", "y")), ruling("a", 1, rule(2, "/w/", "x"), rule(7, "/w", "z")))
	mustRule(t, b, "", rule(9, "/w", "x"), rule(1, "/v", "x"), rule(8, "/w", "y"), rule(2, "/w/", "x"), rule(7, "/w", "z"))
	mustRule(t, b, "/w", rule(9, "/w", "x"), rule(8, "/w", "y"), rule(7, "/w", "z"))
	mustRule(t, b, "/v", rule(1, "/v", "x"))
	mustRule(t, b, "/")
}

func aRefusedCommitLeavesNoRule(t testing.TB, s Suite) {
	st := s.Open(t)
	b := rulebook(t, st)
	mustAppend(t, st, ruling("a", 0, rule(1, "/w", "bash")))
	mustBe(t, st.Append(t.Context(), ruling("a", 0, rule(2, "/w", "write"))), harness.ErrConflict, "a rule of a late writer")
	mustBe(t, st.Append(t.Context(), ruling("b", 7, rule(3, "/w", "write"))), harness.ErrConflict, "a rule of a session without a log")
	for _, bad := range []harness.Rule{rule(4, "", "bash"), rule(4, "/w", ""), {Directory: "/w", Tool: "bash"}} {
		mustBe(t, st.Append(t.Context(), ruling("a", 1, rule(5, "/w", "fetch"), bad)), harness.ErrInvalid, fmt.Sprintf("%+v", bad))
	}
	mustRule(t, b, "", rule(1, "/w", "bash"))
	mustHave(t, st, "a", 0, commit("a", 0, 1).Events)
}

func aRevokedRuleIsGoneForGood(t testing.TB, s Suite) {
	st := s.Open(t)
	b := rulebook(t, st)
	mustAppend(t, st, ruling("a", 0, rule(1, "/w", "bash"), rule(2, "/w", "write"), rule(3, "/v", "bash")))
	for i, id := range []harness.RuleID{"rul_2", "rul_3"} {
		if err := b.RevokeRule(t.Context(), id); err != nil {
			t.Fatalf("revoke %s, number %d: %v", id, i, err)
		}
		mustBe(t, b.RevokeRule(t.Context(), id), harness.ErrNotFound, "revoke again")
	}
	mustBe(t, b.RevokeRule(t.Context(), "rul_none"), harness.ErrNotFound, "revoke of a rule that never was")
	mustRule(t, b, "", rule(1, "/w", "bash"))
	mustAppend(t, st, ruling("a", 1, rule(4, "/w", "write")))
	mustRule(t, b, "/w", rule(1, "/w", "bash"), rule(4, "/w", "write"))
	afterReopen(t, s, st, func(st harness.Store) {
		b := rulebook(t, st)
		mustRule(t, b, "", rule(1, "/w", "bash"), rule(4, "/w", "write"))
		mustBe(t, b.RevokeRule(t.Context(), "rul_2"), harness.ErrNotFound, "revoke again, after a reopen")
	})
}

func rulesOutliveTheirSession(t testing.TB, s Suite) {
	st := s.Open(t)
	b := rulebook(t, st)
	r := remover(t, st)
	mustAppend(t, st, ruling("a", 0, rule(1, "/w", "bash")))
	if err := r.Remove(t.Context(), "a"); err != nil {
		t.Fatalf("remove: %v", err)
	}
	mustRule(t, b, "/w", rule(1, "/w", "bash"))
}

func rulesMayComeWithoutACommit(t testing.TB, s Suite) {
	st := s.Open(t)
	b := rulebook(t, st)
	k, ok := st.(harness.RuleKeeper)
	if !ok {
		t.Skip("not a RuleKeeper")
	}
	keep := func(rules ...harness.Rule) {
		t.Helper()
		if err := k.KeepRules(t.Context(), rules); err != nil {
			t.Fatalf("keep rules: %v", err)
		}
	}
	mustAppend(t, st, ruling("a", 0, rule(1, "/w", "bash")))
	all := []harness.Rule{rule(1, "/w", "bash"), rule(2, "/v", "bash"), rule(4, "/w", "write")}
	keep(rule(2, "/v", "bash"), rule(1, "/w", "bash"), rule(4, "/w", "write"))
	keep(all...)
	keep()
	mustRule(t, b, "", all...)
	mustBe(t, k.KeepRules(t.Context(), []harness.Rule{rule(5, "/w", "x"), rule(6, "", "x")}), harness.ErrInvalid, "a rule without a directory")
	mustRule(t, b, "", all...)
	afterReopen(t, s, st, func(st harness.Store) { mustRule(t, rulebook(t, st), "", all...) })
}
