package postgres_test

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"harness"
	"harness/store/postgres/postgrestest"
)

// TestAFullDiskRefusesAndLosesNothing fills the disk of a server with commits.
func TestAFullDiskRefusesAndLosesNothing(t *testing.T) {
	t.Parallel()
	disk, err := os.MkdirTemp("", "full")
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("none", disk, "tmpfs", 0, "size=88m"); err != nil {
		os.Remove(disk)
		if os.Getenv("CI") != "" {
			t.Fatalf("no small disk: %v", err)
		}
		t.Skipf("no small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := errors.Join(syscall.Unmount(disk, syscall.MNT_DETACH), os.Remove(disk)); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 24<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	server := postgrestest.StartIn(t, disk, "-c", "min_wal_size=32MB", "-c", "max_wal_size=32MB")
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
	mustAppend(t, st, said("a", n, "there is room again"))
	t.Logf("%d commits, then: %.200v", head, refused)
}
