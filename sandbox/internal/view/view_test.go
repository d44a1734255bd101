package view_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"harness"
	"harness/sandbox/internal/view"
)

func TestNamesAreHiddenInEveryCaseAndWithWhatIsBelow(t *testing.T) {
	v, err := view.Of(harness.WorkspaceSpec{Directory: "/w", Hidden: []string{"a/b/c", ".own", "/w/data", "/elsewhere", "a/b"}, ReadOnly: []string{".own/shown", "/usr"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{".own", "a/b", "data"}; !slices.Equal(v.Hidden, want) || v.Broken != "" || !slices.Equal(v.ReadOnly, []string{"/usr"}) {
		t.Errorf("%+v, want hidden %q", v, want)
	}
	for name, want := range map[string]bool{
		".own": true, ".OWN/x": true, ".own/shown": false, ".own/Shown/x": false, ".own/shown2": true, ".owner": false, ".": false, "a": false, "a/b/c/d": true, "data": true,
	} {
		if v.Hides(name) != want {
			t.Errorf("%s: hidden %v, want %v", name, !want, want)
		}
	}
	if !v.Holds(".own/shown") || !v.Lists(".") || !v.Lists("a") || v.Lists("a/b") {
		t.Error("what is held or listed is wrong")
	}
}

func TestAWorkspaceCannotBeHiddenFromItself(t *testing.T) {
	if v, err := view.Of(harness.WorkspaceSpec{Directory: "/w", Hidden: []string{"/w"}}); err != nil || v.Broken == "" || len(v.Hidden) > 0 {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestWhatASpecCannotMeanIsRefused(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link, file := filepath.Join(dir, "link"), filepath.Join(dir, "file")
	if err := errors.Join(os.Symlink("/", link), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		spec harness.WorkspaceSpec
		want error
	}{
		"hidden outside":     {harness.WorkspaceSpec{Hidden: []string{"../x"}}, fs.ErrInvalid},
		"hidden root":        {harness.WorkspaceSpec{Hidden: []string{"."}}, fs.ErrInvalid},
		"shown, not hidden":  {harness.WorkspaceSpec{ReadOnly: []string{"x"}}, fs.ErrInvalid},
		"writable link":      {harness.WorkspaceSpec{Writable: []string{link}}, fs.ErrPermission},
		"writable in a link": {harness.WorkspaceSpec{Writable: []string{link + "/usr"}}, fs.ErrPermission},
		"writable root":      {harness.WorkspaceSpec{Writable: []string{"/"}}, fs.ErrPermission},
		"writable file":      {harness.WorkspaceSpec{Writable: []string{file}}, fs.ErrInvalid},
		"writable nothing":   {harness.WorkspaceSpec{Writable: []string{dir + "/none"}}, fs.ErrNotExist},
	} {
		c.spec.Directory = dir
		if _, err := view.Of(c.spec); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
