package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Nothing that a workspace puts in the place of its rules makes the server read
// something else, or wait.
func TestTheRulesOfAWorkspaceAreItsOwn(t *testing.T) {
	t.Parallel()
	secret := write(t, filepath.Join(t.TempDir(), "policy.yaml"), "canary_key: 1\n")
	for name, place := range map[string]func(dir string) error{
		"a link out": func(dir string) error { return os.Symlink(secret, dir+"/.harness/policy.yaml") },
		"a link of its folder": func(dir string) error {
			return errors.Join(os.Remove(dir+"/.harness"), os.Symlink(filepath.Dir(secret), dir+"/.harness"))
		},
		"a directory":             func(dir string) error { return os.Mkdir(dir+"/.harness/policy.yaml", 0o755) },
		"a pipe nobody writes to": func(dir string) error { return syscall.Mkfifo(dir+"/.harness/policy.yaml", 0o600) },
		"too much":                func(dir string) error { return os.WriteFile(dir+"/.harness/policy.yaml", make([]byte, 2<<20), 0o600) },
	} {
		dir := t.TempDir()
		if err := errors.Join(os.Mkdir(dir+"/.harness", 0o755), place(dir)); err != nil {
			t.Fatal(err)
		}
		o := invoke(t, "policy", "test", "--cwd", dir, "--mode", "full_auto", "bash ls")
		if o.code != 3 || !strings.Contains(o.stdout, "#unreadable") || strings.Contains(o.stdout+o.stderr, "canary") {
			t.Errorf("%s: exit code %d\n%s%s", name, o.code, o.stdout, o.stderr)
		}
	}
}
