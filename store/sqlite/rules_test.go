package sqlite_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"harness"
	"harness/store/sqlite"
)

func ruled(c harness.Commit, id harness.RuleID) harness.Commit {
	c.Rules = []harness.Rule{{ID: id, Directory: "/w", Tool: "bash", Session: c.Session, Created: time.UnixMilli(1)}}
	return c
}

func rules(t testing.TB, st harness.Rulebook) (ids []harness.RuleID, err error) {
	t.Helper()
	for r, err := range st.Rules(t.Context(), "/w") {
		if err != nil {
			return ids, err
		}
		ids = append(ids, r.ID)
	}
	return ids, nil
}

// sqlOn runs a statement on the closed database in dir.
func sqlOn(t testing.TB, dir, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "store.db"))
	if err == nil {
		_, err = db.Exec(statement)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestADatabaseOfAnEarlierBuildGetsItsRules: it can be looked at as it is, and
// opening it for writing makes the table.
func TestADatabaseOfAnEarlierBuildGetsItsRules(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := open(t, dir)
	mustAppend(t, st, commit("a", 0, 1))
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	sqlOn(t, dir, "DROP TABLE rules")
	look, err := sqlite.Look(t.Context(), filepath.Join(dir, "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := rules(t, look); len(got) != 0 || err != nil {
		t.Errorf("looking: %v, %v", got, err)
	}
	if err := look.Close(); err != nil {
		t.Fatal(err)
	}
	st = open(t, dir)
	if n, err := read(t, st, "a"); n != 1 || err != nil {
		t.Errorf("%d events, %v", n, err)
	}
	mustAppend(t, st, ruled(commit("a", 1, 1), "rul_1"))
	if got, err := rules(t, st); len(got) != 1 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

// TestADamagedRuleIsNotBelieved: a rule allows things, so one that was changed
// behind our back counts as damage.
func TestADamagedRuleIsNotBelieved(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]string{
		"other tool":      `UPDATE rules SET data = replace(data, 'bash', 'fish')`,
		"other directory": `UPDATE rules SET directory = '/w' WHERE directory = '/v'`,
		"no JSON":         `UPDATE rules SET data = x'7b'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			st := open(t, dir)
			c := ruled(commit("a", 0, 1), "rul_1")
			if name == "other directory" {
				c.Rules[0].Directory = "/v"
			}
			mustAppend(t, st, c)
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			sqlOn(t, dir, damage)
			st = open(t, dir)
			if got, err := rules(t, st); len(got) != 0 || !errors.Is(err, harness.ErrCorrupt) {
				t.Errorf("%v, %v", got, err)
			}
			if n, err := read(t, st, "a"); n != 1 || err != nil {
				t.Errorf("the log: %d events, %v", n, err)
			}
			if err := st.RevokeRule(t.Context(), "rul_1"); err != nil {
				t.Errorf("revoke: %v", err)
			}
		})
	}
}
