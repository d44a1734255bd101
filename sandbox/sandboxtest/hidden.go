//go:build linux

package sandboxtest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"harness"
)

// hidden looks from outside at what a workspace hides: this holds in every
// sandbox, whatever processes can do.
func (b *bench) hidden(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".own/rules", ".own/shown/text", "in/side/rules", "in/plain"} {
		write(t, filepath.Join(dir, name), "mine")
	}
	for link, to := range map[string]string{"link": ".own", "file": ".own/rules", "up": "in", "here": ".", "toward": "later/x", "sh": ".own/shown"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	w, err := b.sandbox.Open(t.Context(), harness.WorkspaceSpec{Directory: dir, Hidden: append([]string{"/elsewhere"}, concealed...), ReadOnly: []string{".own/shown", ".own/none"}, Env: []string{path}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, name := range []string{
		".own", ".own/rules", ".own/none", ".OWN/rules", "in/side", "in/side/rules", "In/Side/rules", "link", "link/rules", "file", "up/side/rules", "here/.own/rules", "here/here/up/side", "later", "later/deep/x",
	} {
		if f, err := w.Open(name); err == nil {
			f.Close()
			t.Errorf("opened %s", name)
		} else if !strings.Contains(name, "later") && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open %s: %v", name, err)
		}
		if text, err := fs.ReadFile(w, name); err == nil || len(text) > 0 {
			t.Errorf("read %s: %q", name, text)
		}
		if _, err := w.Start(t.Context(), harness.Process{Args: []string{"true"}, Dir: name}); err == nil {
			t.Errorf("started a process in %s", name)
		}
		if err := w.WriteFile(name+"/new", []byte("evil"), 0o644); err == nil {
			t.Errorf("wrote in %s", name)
		}
	}
	for _, name := range []string{".own", ".own/rules", ".own/new/x", ".Own/x", "link/new", "link/new/x", "file", "up/side/x", "here/.own/x", "later", "later/a/b", "toward", "here/later/x", ".own/shown/text", "sh/text", "sh/new"} {
		if err := w.WriteFile(name, []byte("evil"), 0o644); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("write %s: %v, want ErrPermission", name, err)
		}
	}
	for list, want := range map[string][]string{".": {"file", "here", "in", "link", "sh", "toward", "up"}, "in": {"plain"}, "up": {"plain"}, ".own/shown": {"text"}} {
		entries, err := fs.ReadDir(w, list)
		var got []string
		for _, e := range entries {
			got = append(got, e.Name())
		}
		if !slices.Equal(got, want) || err != nil {
			t.Errorf("%s lists %q, %v, want %q", list, got, err, want)
		}
	}
	for _, name := range []string{".own/shown/text", "sh/text", "in/plain", "up/plain"} {
		if text, err := fs.ReadFile(w, name); string(text) != "mine" {
			t.Errorf("read %s: %q, %v", name, text, err)
		}
	}
	if got := sh(t, w, "cat .own/shown/text in/plain && echo new >in/new"); got.out != "minemine" || got.Code != 0 {
		t.Errorf("inside: %+v", got)
	}
	for _, name := range []string{".own/rules", ".own/shown/text", "in/side/rules"} {
		if got := read(filepath.Join(dir, name)); got != "mine" {
			t.Errorf("%s is %q", name, got)
		}
	}
	for name, want := range map[string]int{".own": 2, "later": 0, "in/side": 1, ".own/shown": 1} {
		if got, _ := os.ReadDir(filepath.Join(dir, name)); len(got) != want {
			t.Errorf("%s has %v", name, got)
		}
	}
}

// writable lets processes write beside the workspace, and below what is hidden.
func (b *bench) writable(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	mine, inner := filepath.Join(base, "mine"), filepath.Join(dir, ".own/a/mine")
	for _, d := range []string{mine, inner} {
		write(t, filepath.Join(d, "was"), "here")
		write(t, filepath.Join(filepath.Dir(d), "yours/secret"), canary)
	}
	spec := harness.WorkspaceSpec{Directory: dir, Hidden: concealed, Writable: []string{mine, inner}, Env: []string{path, "HOME=" + mine}}
	w, err := b.sandbox.Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, d := range []string{mine, inner} {
		if got := sh(t, w, "cat "+d+"/was && echo new >"+d+"/new && rm "+d+"/was"); got.out != "here" || got.Code != 0 || read(d+"/new") != "new\n" || read(d+"/was") != "" {
			t.Errorf("%s: %+v", d, got)
		}
		enforced := b.enforces(harness.GuardRead)
		if d == inner {
			enforced = b.enforces(harness.GuardHidden)
		}
		yours := filepath.Join(filepath.Dir(d), "yours/secret")
		if got := sh(t, w, "cat "+yours+"; echo evil >>"+yours+"; ls "+filepath.Dir(d)); enforced && (strings.Contains(got.out, canary) || strings.Contains(got.out, "yours") || read(yours) != canary) {
			t.Errorf("beside it: %+v", got)
		}
	}
	if _, err := fs.ReadFile(w, ".own/a/mine/new"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("what is writable for processes is read as a file of the workspace: %v", err)
	}
	// A link in its place opens nothing, neither now nor later.
	if err := errors.Join(os.RemoveAll(inner), os.Symlink(base, inner)); err != nil {
		t.Fatal(err)
	}
	if c, err := w.Start(t.Context(), harness.Process{Args: []string{"true"}}); err == nil && b.enforces(harness.GuardWrite) && b.holds.Kind != "container" { // which is there already
		_, _ = c.Wait()
		t.Error("a link was opened for writing")
	}
	if w, err := b.sandbox.Open(t.Context(), spec); !errors.Is(err, fs.ErrPermission) {
		w.Close()
		t.Errorf("a link was opened for writing: %v", err)
	}
}

// linkHidden hides what is a link already, which cannot be held.
func (b *bench) linkHidden(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("elsewhere", filepath.Join(dir, ".own")); err != nil {
		t.Fatal(err)
	}
	w, err := b.sandbox.Open(t.Context(), harness.WorkspaceSpec{Directory: dir, Hidden: []string{".own", "later"}, Env: []string{path}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	is := w.Isolation()
	if slices.Contains(is.Enforces, harness.GuardHidden) || !slices.Contains(is.Lacks, harness.GuardHidden) || b.enforces(harness.GuardHidden) && !strings.Contains(is.Reason, "is a link") {
		t.Errorf("%+v", is)
	}
	if got := sh(t, w, "echo x >later/x"); b.enforces(harness.GuardHidden) && got.Code == 0 {
		t.Errorf("the rest is not hidden: %+v", got)
	}
	if err := w.WriteFile(".own/x", nil, 0o600); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("write: %v", err)
	}
}
