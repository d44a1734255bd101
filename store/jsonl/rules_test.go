package jsonl_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/store/jsonl"
)

func ruleOf(id harness.RuleID, tool string) harness.Rule {
	return harness.Rule{ID: id, Directory: "/w", Tool: tool, Session: "a", Request: "apr_a.1", Created: time.UnixMilli(1_700_000_000_000).UTC()}
}

// rules are the ids of those that stand.
func rules(t testing.TB, st harness.Rulebook) (string, error) {
	t.Helper()
	var ids []string
	for r, err := range st.Rules(t.Context(), "") {
		if err != nil {
			return strings.Join(ids, " "), err
		}
		ids = append(ids, string(r.ID))
	}
	return strings.Join(ids, " "), nil
}

func mustRule(t testing.TB, st harness.Rulebook, want string) {
	t.Helper()
	if got, err := rules(t, st); err != nil || got != want {
		t.Fatalf("rules %q, %v, want %q", got, err, want)
	}
}

// ruledDir is a directory with three rules, one of them revoked.
func ruledDir(t testing.TB) (dir, path string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), ".harness")
	st := open(t, dir)
	a := new(author)
	for _, r := range []harness.Rule{ruleOf("rul_1", "bash"), ruleOf("rul_2", "write"), ruleOf("rul_3", "fetch")} {
		c := a.next("a", 1)
		c.Rules = []harness.Rule{r}
		mustAppend(t, st, c)
	}
	if err := st.RevokeRule(t.Context(), "rul_2"); err != nil {
		t.Fatal(err)
	}
	mustClose(t, st)
	return dir, filepath.Join(dir, "rules.jsonl")
}

// TestATornRuleIsCutWhole cuts rules.jsonl at every byte, bare and padded with
// what never arrived: whole lines count, the rest is gone from the file, and it
// is written on.
func TestATornRuleIsCutWhole(t *testing.T) {
	t.Parallel()
	dir, path := ruledDir(t)
	whole := load(t, path)
	stands := []string{"", "rul_1", "rul_1 rul_2", "rul_1 rul_2 rul_3", "rul_1 rul_3"}
	for size := range len(whole) + 1 {
		for _, padding := range []string{"", "\x00\x00\x00", "\x00\x00\n"} {
			if padding != "" && size%7 != 0 {
				continue
			}
			store(t, path, append(bytes.Clone(whole[:size]), padding...))
			lines := bytes.Count(whole[:size], []byte("\n"))
			look, err := jsonl.Look(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			mustRule(t, look, stands[lines])
			st := open(t, dir)
			mustRule(t, st, stands[lines])
			if got := load(t, path); len(got) > 0 && got[len(got)-1] != '\n' || bytes.Count(got, []byte("\n")) != lines {
				t.Fatalf("cut at %d with %q: the file is %q", size, padding, got)
			}
			c := (&author{*mustAgree(t, st, "a")}).next("a", 1)
			c.Rules = []harness.Rule{ruleOf("rul_9", "edit")}
			mustAppend(t, st, c)
			mustRule(t, st, strings.TrimSpace(stands[lines]+" rul_9"))
			mustClose(t, st)
			mustClose(t, look)
		}
	}
}

// TestDamagedRulesAreTheirOwnTrouble: what is before the damage is read, the
// error says where it is, the file stays as it is, and threads work.
func TestDamagedRulesAreTheirOwnTrouble(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]string{"no JSON": "{x\n", "nothing said": "{}\n", "no tool": `{"rule":{"rule_id":"rul_x","directory":"/w"}}` + "\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, path := ruledDir(t)
			whole := load(t, path)
			first := bytes.IndexByte(whole, '\n') + 1
			damaged := append(append(bytes.Clone(whole[:first]), bad...), whole[first:]...)
			store(t, path, damaged)
			st := open(t, dir)
			got, err := rules(t, st)
			if got != "rul_1" || !errors.Is(err, harness.ErrCorrupt) || !strings.Contains(err.Error(), "byte") {
				t.Errorf("rules %q, %v", got, err)
			}
			a := &author{*mustAgree(t, st, "a")}
			mustAppend(t, st, a.next("a", 1))
			c := a.next("a", 1)
			c.Rules = []harness.Rule{ruleOf("rul_9", "edit")}
			if err := st.Append(t.Context(), c); !errors.Is(err, harness.ErrCorrupt) {
				t.Errorf("a rule behind damage: %v", err)
			}
			if err := st.RevokeRule(t.Context(), "rul_1"); !errors.Is(err, harness.ErrCorrupt) {
				t.Errorf("revoke: %v", err)
			}
			mustAgree(t, st, "a")
			if !bytes.Equal(load(t, path), damaged) {
				t.Error("the file was changed")
			}
		})
	}
}

// TestRulesAreForPeople: a line for each, and no file before there is one.
func TestRulesAreForPeople(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".harness")
	st := open(t, dir)
	mustAppend(t, st, new(author).next("a", 1))
	mustRule(t, st, "")
	if _, err := os.Stat(filepath.Join(dir, "rules.jsonl")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("rules.jsonl: %v", err)
	}
	_, path := ruledDir(t)
	lines := strings.Split(string(load(t, path)), "\n")
	if len(lines) != 5 || lines[3] != `{"revoked":"rul_2"}` ||
		lines[0] != `{"rule":{"rule_id":"rul_1","directory":"/w","tool":"bash","session_id":"a","request_id":"apr_a.1","created":"2023-11-14T22:13:20Z"}}` {
		t.Errorf("the file is\n%s", strings.Join(lines, "\n"))
	}
}
