package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"harness"
	"harness/store/postgres/postgrestest"

	"github.com/jackc/pgx/v5"
)

// rows is how many rows of any kind a schema has of logs.
func rows(t testing.TB, url string) (n int) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.WithoutCancel(t.Context()))
	if err := c.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM commits) + (SELECT count(*) FROM messages) + (SELECT count(*) FROM snapshots)
		+ (SELECT count(*) FROM sessions) + (SELECT count(*) FROM leftovers)`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestALongSessionIsRemovedInBoundedTransactions removes one that has more rows
// of each kind than a transaction may delete.
func TestALongSessionIsRemovedInBoundedTransactions(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	url := server.URL(t)
	said := &transcript{}
	st := openTraced(t, url, said)
	mustAppend(t, st, commit("long", 0, 1), commit("other", 0, 2))
	const of = "(SELECT n FROM sessions WHERE id = 'long')"
	server.Exec(t, url, "INSERT INTO commits SELECT "+of+", i, i, 0, '' FROM generate_series(2, 2500) i")
	server.Exec(t, url, "INSERT INTO messages SELECT "+of+", i, 1, 0, '' FROM generate_series(0, 2499) i")
	server.Exec(t, url, "INSERT INTO snapshots SELECT "+of+", i, 0, '' FROM generate_series(1, 1000) i")
	if err := st.Remove(t.Context(), "long"); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { return rows(t, url) == 2 }, "only the rows of the other session")
	deleted := 0
	for _, s := range parseTranscript(said.String()) {
		n := 0
		fmt.Sscanf(s.tag, "DELETE %d", &n)
		if deleted += n; n > 1000 {
			t.Errorf("%s: %s", s.sql, s.tag)
		}
	}
	if deleted < 6000 {
		t.Errorf("%d rows deleted", deleted)
	}
}

// TestWhatARemovalLeftIsClearedByTheNextProcess has a removal that was cut off
// behind its first transaction.
func TestWhatARemovalLeftIsClearedByTheNextProcess(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	url := server.URL(t)
	st := open(t, url)
	mustAppend(t, st, commit("a", 0, 3), commit("b", 0, 2))
	server.Exec(t, url, "INSERT INTO leftovers SELECT n FROM sessions WHERE id = 'a'")
	server.Exec(t, url, "DELETE FROM sessions WHERE id = 'a'")
	if _, err := read(t, st, "a"); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("a session that was removed: %v", err)
	}
	mustAppend(t, st, commit("a", 0, 1)) // the name is free
	open(t, url)
	until(t, func() bool { return rows(t, url) == 4 }, "two sessions of one commit each and nothing else")
}

// TestManyRemoveAtOnce has processes remove sessions together: each is removed
// by one, and nothing is left.
func TestManyRemoveAtOnce(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	url := server.URL(t)
	st := open(t, url)
	const sessions = 24
	for i := range sessions {
		mustAppend(t, st, commit(harness.SessionID(fmt.Sprint("s", i)), 0, 2))
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for range 3 {
		other := open(t, url)
		wg.Go(func() {
			for i := range sessions {
				switch err := other.Remove(t.Context(), harness.SessionID(fmt.Sprint("s", i))); {
				case err == nil:
					mu.Lock()
					won++
					mu.Unlock()
				case !errors.Is(err, harness.ErrNotFound):
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if won != sessions {
		t.Errorf("%d removals of %d sessions", won, sessions)
	}
	if err := st.Remove(t.Context(), "s0"); !errors.Is(err, harness.ErrNotFound) {
		t.Error(err)
	}
	until(t, func() bool { return rows(t, url) == 0 }, "nothing is left")
}
