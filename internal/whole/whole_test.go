package whole_test

import (
	"os"
	"path/filepath"
	"testing"

	"harness/internal/whole"
)

func TestAFileIsReplacedOrStays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "", "three"} {
		if err := whole.Write(root, "d/f", []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "d", "f")); err != nil || string(got) != text {
			t.Errorf("%q %v", got, err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "d", "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"d/taken", "missing/f", "../f"} {
		if err := whole.Write(root, bad, []byte("x")); err == nil {
			t.Errorf("%s was written", bad)
		}
	}
	names, err := os.ReadDir(filepath.Join(dir, "d"))
	if err != nil || len(names) != 2 {
		t.Errorf("left behind: %v %v", names, err)
	}
}
