package sqlite_test

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// copyDir copies a data directory by another process: opening the files of an
// open database in this one would drop SQLite's locks.
func copyDir(t testing.TB, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if out, err := exec.Command("cp", "-R", from, to).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v: %s", err, out)
	}
	return to
}
