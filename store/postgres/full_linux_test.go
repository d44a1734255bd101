package postgres_test

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"os"
	"testing"

	"harness"
	"harness/store/postgres/postgrestest"
)

// TestAFullDiskRefusesAndLosesNothing fills the disk of a server with commits.
func TestAFullDiskRefusesAndLosesNothing(t *testing.T) {
	t.Parallel()
	server, ballast := postgrestest.StartOnASmallDisk(t)
	st := open(t, server.URL(t))
	raw := make([]byte, 128<<10)
	head := harness.Seq(0)
	var refused error
	for head < 1000 && refused == nil {
		rand.Read(raw) // nothing to compress
		if refused = st.Append(t.Context(), said("a", head, base64.StdEncoding.EncodeToString(raw))); refused == nil {
			head++
		}
	}
	if !errors.Is(refused, harness.ErrStorage) {
		t.Fatalf("after %d commits on a small disk: %v", head, refused)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	server.Kill(t) // it may have given up by itself
	server.Restart(t)
	n, err := read(t, st, "a")
	if err != nil || n < head || n > head+1 {
		t.Fatalf("acknowledged %d, read %d, %v", head, n, err)
	}
	for tries := 0; ; tries++ { // each of the connections that write may find out by itself
		err := st.Append(t.Context(), said("a", n, "there is room again"))
		if err == nil {
			break
		}
		if !errors.Is(err, harness.ErrStorage) || tries == 2 {
			t.Fatal(err)
		}
	}
	t.Logf("%d commits, then: %.200v", head, refused)
}
