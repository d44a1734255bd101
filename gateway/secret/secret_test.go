package secret_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"harness"
	"harness/gateway/secret"
)

func TestOnlyAFileOfOurOwnIsRead(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes mean nothing here")
	}
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	if err := secret.Create(good, []byte("s3cret\n")); err != nil {
		t.Fatal(err)
	}
	if b, err := secret.Read(good); err != nil || string(b) != "s3cret\n" {
		t.Errorf("%q, %v", b, err)
	}
	if info, err := os.Stat(good); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o602, 0o610, 0o644, 0o777} {
		path := filepath.Join(dir, mode.String())
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := secret.Read(path); !errors.Is(err, harness.ErrInvalid) || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(good, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, dir} {
		if _, err := secret.Read(path); !errors.Is(err, harness.ErrInvalid) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := secret.Read(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	large := filepath.Join(dir, "large")
	for size, want := range map[int]error{secret.MaxFile: nil, secret.MaxFile + 1: harness.ErrTooLarge} {
		if err := secret.Write(large, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		if _, err := secret.Read(large); !errors.Is(err, want) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

func TestAFileIsMadeOnceAndReplacedAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "token")
	if err := secret.Create(path, []byte("first")); err != nil {
		t.Fatal(err)
	}
	if err := secret.Create(path, []byte("second")); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if b, _ := secret.Read(path); string(b) != "first" {
		t.Errorf("%q", b)
	}
	if err := secret.Write(path, []byte("third")); err != nil {
		t.Error(err)
	}
	if b, _ := secret.Read(path); string(b) != "third" {
		t.Errorf("%q", b)
	}
	// A link in the place of the file is replaced, not followed.
	target := filepath.Join(dir, "target")
	if err := errors.Join(os.WriteFile(target, []byte("mine"), 0o600), os.Remove(path), os.Symlink(target, path)); err != nil {
		t.Fatal(err)
	}
	if err := secret.Create(path, []byte("x")); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if err := secret.Write(path, []byte("x")); err != nil {
		t.Error(err)
	}
	if b, _ := os.ReadFile(target); string(b) != "mine" {
		t.Errorf("the link's target became %q", b)
	}
	names, _ := os.ReadDir(dir)
	if len(names) != 2 {
		t.Errorf("left behind: %v", names)
	}
}

func TestASecretComesFromAFileACommandOrTheEnvironment(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	if err := secret.Create(path, []byte("  from-file\n")); err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{"KEY": "from-env"}
	env := secret.Environment{Get: func(n string) string { return vars[n] }, Unset: func(n string) error { delete(vars, n); return nil }}
	for spec, want := range map[string]string{"file:" + path: "from-file", "env:KEY": "from-env", "command:echo from-command": "from-command"} {
		if got, err := secret.Load(t.Context(), spec, env); err != nil || got != want {
			t.Errorf("%s: %q, %v", spec, got, err)
		}
	}
	if len(vars) != 0 {
		t.Errorf("still in the environment: %v", vars)
	}
	for _, spec := range []string{"", "sk-ant-secret", "file:", "file:" + path + ".none", "env:KEY", "command:", "command:false", "command:true"} {
		got, err := secret.Load(t.Context(), spec, env)
		if err == nil || got != "" {
			t.Errorf("%q: %q, %v", spec, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "sk-ant") {
			t.Errorf("the error repeats the secret: %v", err)
		}
	}
}
