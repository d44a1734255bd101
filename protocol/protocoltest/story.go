package protocoltest

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// Story is one scenario.
type Story struct {
	path    string
	archive *txtar.Archive
}

// Load reads a story.
func Load(t testing.TB, path string) *Story {
	t.Helper()
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return &Story{path, a}
}

func (s *Story) section(name string) string {
	for _, f := range s.archive.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// Play plays the story and compares what was told with what is written.
func (s *Story) Play(t *testing.T) {
	w := newStage(t, s.section("engine"), s.section("files"))
	for i, line := range strings.Split(s.section("do"), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		w.at = fmt.Sprintf("%s: do line %d: %s", s.path, i+1, line)
		w.act(line)
		w.follow()
	}
	w.at = s.path + ": the end"
	s.compare(t, "log", w.log())
	s.compare(t, "delta", w.told())
	if answers := w.answered(); answers != "" {
		s.compare(t, "answers", answers)
	}
	s.compare(t, "rpc", w.noted())
	w.streamed()
	w.wander()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(s.path, txtar.Format(s.archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *Story) compare(t *testing.T, name, got string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		s.set(name, got)
		return
	}
	if want := s.section(name); got != want {
		t.Errorf("%s: section %s differs; run with UPDATE=1 to accept\n%s", s.path, name, diff(want, got))
	}
}

func (s *Story) set(name, data string) {
	for i := range s.archive.Files {
		if s.archive.Files[i].Name == name {
			s.archive.Files[i].Data = []byte(data)
			return
		}
	}
	s.archive.Files = append(s.archive.Files, txtar.File{Name: name, Data: []byte(data)})
}

// diff shows the lines that differ, with what comes before them.
func diff(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	var b bytes.Buffer
	same := 0
	for same < len(w) && same < len(g) && w[same] == g[same] {
		same++
	}
	for _, l := range w[max(0, same-3):same] {
		fmt.Fprintln(&b, " ", l)
	}
	for _, l := range w[same:min(len(w), same+12)] {
		fmt.Fprintln(&b, "-", l)
	}
	for _, l := range g[same:min(len(g), same+12)] {
		fmt.Fprintln(&b, "+", l)
	}
	return b.String()
}
