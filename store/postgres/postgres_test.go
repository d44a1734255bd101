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

func TestStore(t *testing.T) { // not parallel: one promise watches the heap
	server := postgrestest.Start(t)
	var urls sync.Map // by store
	at := func(t testing.TB, url string) harness.Store {
		st := open(t, url)
		urls.Store(st, url)
		return st
	}
	storetest.Suite{
		Open: func(t testing.TB) harness.Store { return at(t, server.URL(t)) },
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
	server := postgrestest.Start(t)
	storetest.Nodes{Open: func(t testing.TB) func(testing.TB) harness.Store {
		url := server.URL(t)
		return func(t testing.TB) harness.Store { return open(t, url) }
	}}.Run(t)
}
