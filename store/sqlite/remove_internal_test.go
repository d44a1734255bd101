package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"harness"
)

// rowsLeft counts the rows of all sessions in the tables that removal sweeps.
func rowsLeft(t testing.TB, s *Store) (n int64) {
	t.Helper()
	err := s.read(t.Context(), func(c *conn) (err error) {
		n, _, err = c.number("SELECT (SELECT count(*) FROM commits) + (SELECT count(*) FROM snapshots) + (SELECT count(*) FROM messages) + (SELECT count(*) FROM removed)")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestARemovedSessionsRowsAreSweptAlsoAfterReopen: the rows go in small batches
// after Remove has answered, and what a closed store left goes at the next open.
func TestARemovedSessionsRowsAreSweptAlsoAfterReopen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	const commits = 5*sweepRows + 3
	for after := range harness.Seq(commits) {
		if err := errors.Join(s.Append(t.Context(), at("a", after, "x")),
			s.SaveSnapshot(t.Context(), harness.Snapshot{Session: "a", Seq: after + 1, First: int(after), Sealed: [][]byte{{'m'}}})); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Append(t.Context(), at("b", 0, "x")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Remove(t.Context(), "a"), s.Close()); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(t.Context(), path, nil); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for rowsLeft(t, s) != 1 {
		if ctx.Err() != nil {
			t.Fatalf("%d rows are left", rowsLeft(t, s))
		}
	}
	if err := s.Append(t.Context(), at("a", 0, "again")); err != nil {
		t.Fatal(err)
	}
}

// TestEveryListIsDrivenByAnIndex asks SQLite how it would answer each filter: no
// walk of the table, and no sorting but within a minute.
func TestEveryListIsDrivenByAnIndex(t *testing.T) {
	t.Parallel()
	s := openForTest(t)
	for mask := range 64 {
		pick := func(bit int, v string) string {
			if mask&(1<<bit) != 0 {
				return v
			}
			return ""
		}
		f := harness.Filter{
			Session: harness.SessionID(pick(0, "a")), User: pick(1, "u"), Kind: harness.Kind(pick(2, "chat")), Parent: harness.SessionID(pick(3, "p")),
		}
		var before *listed
		if mask&32 != 0 {
			before = &listed{}
		}
		sql, args := listQuery(f, harness.Status(pick(4, "idle")), before, 10)
		var plan []string
		err := s.read(t.Context(), func(c *conn) error {
			return c.query(func(r []driver.Value) bool {
				plan = append(plan, fmt.Sprint(r[3]))
				return true
			}, "EXPLAIN QUERY PLAN "+sql, args...)
		})
		text := strings.Join(plan, "; ")
		if err != nil || !strings.Contains(text, "INDEX") || strings.Contains(text, "ORDER BY") && !strings.Contains(text, "LAST 2 TERMS") && f.Session == "" {
			t.Errorf("%s\n%s, %v", sql, text, err)
		}
	}
}

// TestTheLineageIsForgottenWhenARemovalIsTold: not only Remove's caller, anybody
// may then make the session anew and must not read it by the old lineage.
func TestTheLineageIsForgottenWhenARemovalIsTold(t *testing.T) {
	t.Parallel()
	s := openForTest(t)
	if err := s.Append(t.Context(), at("a", 0, "old")); err != nil {
		t.Fatal(err)
	}
	for _, err := range s.Messages(t.Context(), "a", 0, 1) {
		if !errors.Is(err, harness.ErrCorrupt) || len(s.ancestries.known) != 1 {
			t.Fatalf("%v, %d lineages are remembered", err, len(s.ancestries.known))
		}
	}
	if err := s.doLow(t.Context(), 0, s.removal("a")); err != nil { // Remove does nothing more
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), at("a", 0, "new")); err != nil {
		t.Fatal(err)
	}
	if err := s.SaveSnapshot(t.Context(), harness.Snapshot{Session: "a", Seq: 1, Sealed: [][]byte{[]byte("new")}}); err != nil {
		t.Fatal(err)
	}
	for m, err := range s.Messages(t.Context(), "a", 0, 1) {
		if err != nil || string(m) != "new" {
			t.Fatalf("the message is %q, %v", m, err)
		}
	}
}
