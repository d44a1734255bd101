package postgrestest

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// StartOnASmallDisk starts a server whose disk is soon full. Whoever removes the
// ballast makes room. Where no disk can be made the test is skipped; in CI it
// fails.
func StartOnASmallDisk(tb testing.TB) (server *Server, ballast string) {
	tb.Helper()
	disk, err := os.MkdirTemp("", "full")
	if err != nil {
		tb.Fatal(err)
	}
	if err := syscall.Mount("none", disk, "tmpfs", 0, "size=88m"); err != nil {
		os.Remove(disk)
		Unable(tb, "no small disk: %v", err)
	}
	tb.Cleanup(func() {
		if err := errors.Join(syscall.Unmount(disk, syscall.MNT_DETACH), os.Remove(disk)); err != nil {
			tb.Error(err)
		}
	})
	if err := os.Chmod(disk, 0o755); err != nil {
		tb.Fatal(err)
	}
	ballast = filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 24<<20), 0o600); err != nil {
		tb.Fatal(err)
	}
	return StartIn(tb, disk, "-c", "min_wal_size=32MB", "-c", "max_wal_size=32MB"), ballast
}
