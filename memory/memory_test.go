package memory_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"harness"
	"harness/memory"
)

func open(t *testing.T) (*memory.Book, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "memory")
	b, err := memory.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b, dir
}

func TestWhatWasAcceptedIsRememberedWithWhereItCameFrom(t *testing.T) {
	t.Parallel()
	b, dir := open(t)
	m := memory.Memory{Name: "build", Text: "Build with `make`.\n\n---\n\nNot with go build.", Session: "ses_a", Event: "ses_a.12", Accepted: "ada\nsession: ses_evil", Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	if err := b.Save(m); err != nil {
		t.Fatal(err)
	}
	m.Accepted = "ada session: ses_evil" // nothing can add a line to the head
	all, err := b.All()
	if err != nil || len(all) != 1 || all[0] != m {
		t.Fatalf("%+v, %v", all, err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "build.md"))
	if err != nil || !strings.Contains(string(data), "event: ses_a.12\n") || !strings.HasSuffix(string(data), "Not with go build.\n") {
		t.Errorf("%s %v", data, err)
	}
	m.Text = "Build with `just`."
	if err := b.Save(m); err != nil {
		t.Fatal(err)
	}
	if all, _ := b.All(); len(all) != 1 || all[0].Text != m.Text {
		t.Errorf("%+v", all)
	}
	if err := b.Remove("build"); err != nil {
		t.Fatal(err)
	}
	if err := b.Remove("build"); !errors.Is(err, harness.ErrNotFound) {
		t.Error(err)
	}
}

func TestWhatPeopleWriteIsReadOrLeftAlone(t *testing.T) {
	t.Parallel()
	b, dir := open(t)
	for name, text := range map[string]string{
		"by-hand.md": "Use tabs.\r\n", "no-head-end.md": "---\nsession: x\nUse spaces.", "empty.md": "  \n", "Upper.md": "x", "notes.txt": "x",
		"large.md": strings.Repeat("x", memory.MaxText+2000), "binary.md": "\xff\xfe\x00", ".part-1": "x",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "dir.md"), 0o700), os.Symlink("/etc/passwd", filepath.Join(dir, "link.md"))); err != nil {
		t.Fatal(err)
	}
	all, err := b.All()
	if err != nil || len(all) != 2 || all[0].Text != "Use tabs." || all[0].Session != "" || all[0].Created.IsZero() || all[1].Name != "no-head-end" {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestABookHasBounds(t *testing.T) {
	t.Parallel()
	b, _ := open(t)
	for _, m := range []memory.Memory{
		{Name: "", Text: "x"}, {Name: "../x", Text: "x"}, {Name: "A", Text: "x"}, {Name: "-x", Text: "x"}, {Name: strings.Repeat("a", 65), Text: "x"},
		{Name: "a", Text: " "}, {Name: "a", Text: "\xff"}, {Name: "a", Text: strings.Repeat("x", memory.MaxText+1)},
	} {
		if err := b.Save(m); err == nil {
			t.Errorf("%q was saved", m.Name)
		}
	}
	var wg sync.WaitGroup
	for i := range memory.MaxMemories + 10 {
		wg.Go(func() {
			err := b.Save(memory.Memory{Name: fmt.Sprint("m-", i), Text: "x"})
			if err != nil && !errors.Is(err, harness.ErrTooLarge) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if all, err := b.All(); err != nil || len(all) != memory.MaxMemories {
		t.Errorf("%d memories, %v", len(all), err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("---\ncreated: 2026-01-02T03:04:05Z\n---\n\nx\n")
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "m.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := memory.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		all, err := b.All()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all { // what was read can be saved, and is the same then
			if err := b.Save(m); err != nil {
				t.Fatal(err)
			}
			if again, err := b.All(); err != nil || len(again) != 1 || again[0].Text != m.Text {
				t.Fatalf("%+v, then %+v, %v", m, again, err)
			}
		}
	})
}
