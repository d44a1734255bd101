package postgres_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"harness"
	"harness/store/postgres"
	"harness/store/postgres/postgrestest"
)

// TestABuildWorksOnASchemaOneVersionAhead is the older half of a rolling upgrade:
// the schema has what the next version adds, and this build goes on, and starts.
func TestABuildWorksOnASchemaOneVersionAhead(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	url := server.URL(t)
	running := open(t, url)
	mustAppend(t, running, commit("a", 0, 2))
	from, to, err := postgres.Migrate(t.Context(), url)
	if err != nil || from != to {
		t.Fatalf("migrated from %d to %d, %v", from, to, err)
	}
	for _, table := range []string{"sessions", "commits", "snapshots", "messages", "rules", "owners", "leases", "orders", "leftovers", "places", "files", "blobs", "pieces"} {
		server.Exec(t, url, "ALTER TABLE "+table+" ADD COLUMN news text NOT NULL DEFAULT ''")
	}
	server.Exec(t, url, "CREATE TABLE novelty(n int)")
	server.Exec(t, url, "INSERT INTO harness_schema(version) VALUES($1)", to+1)
	mustAppend(t, running, commit("a", 2, 2))
	started := open(t, url)
	mustAppend(t, started, commit("a", 4, 2))
	if err := started.Join(t.Context(), "n", 1e9); err != nil {
		t.Fatal(err)
	}
	if _, err := started.Claim(t.Context(), "n", "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := running.Deliver(t.Context(), harness.Delivery{Place: "p", Add: []harness.Parcel{{Name: "x", Content: []byte("content")}}}); err != nil {
		t.Fatal(err)
	}
	if f, err := started.Fetch(t.Context(), "p", "x"); err != nil {
		t.Fatal(err)
	} else if text, err := io.ReadAll(f); err != nil || string(text) != "content" {
		t.Fatalf("read %q, %v", text, err)
	}
	if from, to, err := postgres.Migrate(t.Context(), url); err != nil || from != to {
		t.Fatalf("migrated from %d to %d, %v", from, to, err)
	}
	server.Exec(t, url, "INSERT INTO harness_schema(version) VALUES($1)", to+2)
	if st, err := postgres.Open(t.Context(), url, nil); !errors.Is(err, harness.ErrUnsupported) {
		if err == nil {
			st.Close()
		}
		t.Fatalf("a schema two versions ahead: %v", err)
	}
}

// TestOneOfManyThatOpenAtOnceMigrates starts with nothing, and with what the
// first version left: each step is done once.
func TestOneOfManyThatOpenAtOnceMigrates(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	for v := range 2 {
		url := server.URL(t)
		if v > 0 {
			server.Restore(t, url, readFixture(t, v, "sql"))
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				st, err := postgres.Open(t.Context(), url, nil)
				if err != nil {
					t.Error(err)
					return
				}
				if err := st.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if from, to, err := postgres.Migrate(t.Context(), url); err != nil || from != latest(t) || to != from {
			t.Errorf("afterwards it is migrated from %d to %d, %v", from, to, err)
		}
	}
}

func TestWhatIsNotOursOrNewerIsRefused(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	refused := func(url string, want *harness.Error) {
		t.Helper()
		st, err := postgres.Open(t.Context(), url, nil)
		if err == nil {
			st.Close()
		}
		if !errors.Is(err, want) {
			t.Errorf("open: got %v, want %v", err, want)
		}
	}
	newer := server.URL(t)
	open(t, newer)
	server.Exec(t, newer, "INSERT INTO harness_schema(version) VALUES(4711)")
	refused(newer, harness.ErrUnsupported)
	if _, err := postgres.Open(t.Context(), newer, nil); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("the schema is of version 4711, this build knows %d", latest(t))) {
		t.Errorf("what it says: %v", err)
	}
	if _, _, err := postgres.Migrate(t.Context(), newer); !errors.Is(err, harness.ErrUnsupported) {
		t.Errorf("a migration backwards: %v", err)
	}
	theirs := server.URL(t)
	server.Exec(t, theirs, "CREATE TABLE sessions(sid text)")
	refused(theirs, harness.ErrInvalid)
	refused(server.URL(t)+"_that_is_not_there", harness.ErrInvalid)
	refused("postgres://%zz", harness.ErrInvalid)
	refused("postgres://postgres@/postgres?host=/nowhere", harness.ErrStorage)
	refused(server.URL(t)+"&synchronous_commit=off", harness.ErrUnsupported)
}

func TestLookReadsAndNeverWrites(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	url := server.URL(t)
	if _, err := postgres.Look(t.Context(), url); !errors.Is(err, harness.ErrNotFound) {
		t.Fatalf("a look at nothing: %v", err)
	}
	mustAppend(t, open(t, url), commit("a", 0, 3))
	st, err := postgres.Look(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if n, err := read(t, st, "a"); err != nil || n != 3 {
		t.Fatalf("read %d events, %v", n, err)
	}
	for what, err := range map[string]error{
		"append": st.Append(t.Context(), commit("a", 3, 1)), "remove": st.Remove(t.Context(), "a"), "join": st.Join(t.Context(), "n", 1e9),
		"snapshot": st.SaveSnapshot(t.Context(), harness.Snapshot{Session: "a", Seq: 1}),
	} {
		if !errors.Is(err, harness.ErrStorage) {
			t.Errorf("%s: got %v", what, err)
		}
	}
}
