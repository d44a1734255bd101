package claude_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"

	"harness"
)

// scene is something that can happen between a session and the program.
type scene struct {
	name  string
	model string // the script of the model behind the real program
	play  func(*stage)
}

// story is the file of a scene: its processes, and the logs of its sessions.
func (c *scene) story() string { return filepath.Join("testdata", c.name+".txtar") }

// words is a session's log on any machine: the rest of a long line is left out.
func (s *stage) words(id harness.SessionID) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(tellAll(s.events[id]), s.dir, "$WORK")) {
		if r := []rune(line); len(r) > 160 {
			line = string(r[:160]) + "…\n"
		}
		if line != "\n" {
			b.WriteString(line)
		}
	}
	return b.String()
}

// golden compares the logs of a scene with those of the recording.
func (c *scene) golden(s *stage) {
	s.Helper()
	a, err := txtar.ParseFile(c.story())
	if err != nil {
		s.Fatal(err)
	}
	for _, f := range a.Files {
		id, ok := strings.CutPrefix(f.Name, "log ")
		if !ok {
			continue
		}
		if got := s.words(harness.SessionID(id)); got != string(f.Data) {
			s.Errorf("the log of %s is\n%s\nwant\n%s", id, got, f.Data)
		}
	}
}

// save writes the recording of a scene.
func (c *scene) save(s *stage, dir string) {
	s.Helper()
	a := &txtar.Archive{Comment: []byte("Claude Code " + version + "; UPDATE=1 records it again.\n")}
	for _, id := range []harness.SessionID{"ses_1", "ses_2"} {
		if log := s.words(id); log != "" {
			a.Files = append(a.Files, txtar.File{Name: "log " + string(id), Data: []byte(log)})
		}
	}
	for n := 1; ; n++ {
		b, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(n)))
		if err != nil {
			break
		}
		b = regexp.MustCompile(`/tmp/hc\d+`).ReplaceAll(b, []byte("$$TMP"))
		a.Files = append(a.Files, txtar.File{Name: strconv.Itoa(n), Data: scrub(b, map[string]string{s.dir: "$WORK"})})
	}
	if err := os.WriteFile(c.story(), txtar.Format(a), 0o644); err != nil {
		s.Fatal(err)
	}
}
