package postgres_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"harness"
	"harness/store/postgres/postgrestest"

	"github.com/jackc/pgx/v5"
)

func TestContentIsKeptOnceAndNoLongerThanAFileHasIt(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	url := server.URL(t)
	st := open(t, url)
	mustAppend(t, st, commit("a", 0, 1))
	content := bytes.Repeat([]byte("0123456789abcdef"), 100_000) // two rows
	deliver := func(place string, d harness.Delivery) {
		t.Helper()
		d.Place, d.At = place, harness.AnyVersion
		if _, err := st.Deliver(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	kept := func(blobs, pieces int) {
		t.Helper()
		var b, p int
		c, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(t.Context())
		if err := c.QueryRow(t.Context(), "SELECT (SELECT count(*) FROM blobs), (SELECT count(*) FROM pieces)").Scan(&b, &p); err != nil {
			t.Fatal(err)
		}
		if b != blobs || p != pieces {
			t.Fatalf("%d blobs in %d pieces, want %d in %d", b, p, blobs, pieces)
		}
	}
	deliver("p", harness.Delivery{Add: []harness.Parcel{{Name: "x", Content: content}, {Name: "y", Content: content}}})
	deliver("q", harness.Delivery{Add: []harness.Parcel{{Name: "x", Session: "a", Content: content}}})
	kept(1, 2)
	deliver("p", harness.Delivery{Remove: []string{"x", "y"}})
	kept(1, 2)
	if err := st.Remove(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	kept(0, 0)
	deliver("p", harness.Delivery{Add: []harness.Parcel{{Name: "x", Content: content}}})
	deliver("p", harness.Delivery{Add: []harness.Parcel{{Name: "x", Content: content[1:]}}})
	kept(1, 2)
}

func TestDamagedFilesAreNoticed(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	for what, damage := range map[string]string{
		"a byte": "UPDATE pieces SET data = set_byte(data, 7, 7)", "a piece that is shorter": "UPDATE pieces SET data = substr(data, 2)", "one that is missing": "DELETE FROM pieces",
	} {
		url := server.URL(t)
		st := open(t, url)
		if _, err := st.Deliver(t.Context(), harness.Delivery{Place: "p", Add: []harness.Parcel{{Name: "x", Content: []byte("some content")}}}); err != nil {
			t.Fatal(err)
		}
		server.Exec(t, url, damage)
		f, err := st.Fetch(t.Context(), "p", "x")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(f); err == nil || !errors.Is(err, harness.ErrCorrupt) && !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("%s: read %q, %v", what, got, err)
		}
	}
}
