package postgres_test

import (
	"sync"
	"testing"

	"harness"
	"harness/store/postgres"
	"harness/store/postgres/postgrestest"
	"harness/store/storetest"
)

// open opens the store at url and closes it with the test.
func open(t testing.TB, url string) *postgres.Store {
	t.Helper()
	st, err := postgres.Open(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

// schemas are schemas with empty tables that tests hand on to one another,
// because making the tables takes longer than most tests.
type schemas struct {
	server *postgrestest.Server

	mu   sync.Mutex // guards free
	free []string
}

// take returns the URL of one that nobody else uses during the test.
func (s *schemas) take(t testing.TB) string {
	t.Helper()
	s.mu.Lock()
	var url string
	if n := len(s.free); n > 0 {
		url, s.free = s.free[n-1], s.free[:n-1]
	}
	s.mu.Unlock()
	if url == "" {
		url = s.server.URL(t)
	}
	t.Cleanup(func() {
		s.server.Exec(t, url, "DELETE FROM files; DELETE FROM places; DELETE FROM blobs; DELETE FROM leases; DELETE FROM owners; DELETE FROM orders; DELETE FROM rules; DELETE FROM messages; DELETE FROM snapshots; DELETE FROM commits; DELETE FROM leftovers; DELETE FROM sessions")
		s.mu.Lock()
		defer s.mu.Unlock()
		s.free = append(s.free, url)
	})
	return url
}

func TestStore(t *testing.T) { // not parallel: one promise watches the heap
	empty := &schemas{server: postgrestest.Start(t)}
	var urls sync.Map // by store
	at := func(t testing.TB, url string) harness.Store {
		st := open(t, url)
		urls.Store(st, url)
		return st
	}
	storetest.Suite{
		Open: func(t testing.TB) harness.Store { return at(t, empty.take(t)) },
		Reopen: func(t testing.TB, st harness.Store) harness.Store {
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
			url, _ := urls.Load(st)
			return at(t, url.(string))
		},
	}.Run(t)
}

func TestNodes(t *testing.T) {
	t.Parallel()
	empty := &schemas{server: postgrestest.Start(t)}
	storetest.Nodes{Open: func(t testing.TB) func(testing.TB) harness.Store {
		url := empty.take(t)
		return func(t testing.TB) harness.Store { return open(t, url) }
	}}.Run(t)
}
