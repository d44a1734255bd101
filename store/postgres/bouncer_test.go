package postgres_test

import (
	"testing"

	"harness"
	"harness/store/postgres/postgrestest"
	"harness/store/storetest"
)

// TestNodesBehindAPooler runs everything that is between processes through a
// PgBouncer in session mode.
func TestNodesBehindAPooler(t *testing.T) {
	t.Parallel()
	urls := make(chan string, 32) // more than there are promises
	for _, url := range postgrestest.Start(t).Bouncer(t, cap(urls)) {
		urls <- url
	}
	storetest.Nodes{Open: func(t testing.TB) func(testing.TB) harness.Store {
		url := <-urls
		return func(t testing.TB) harness.Store { return open(t, url) }
	}}.Run(t)
}
