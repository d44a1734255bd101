package bridgetest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"

	"harness"
)

// Scene is something that can happen between a session and a program. It is cued
// by the log alone, so that it plays the same with the stand-in.
type Scene struct {
	Name  string
	Model string // the script of the model behind the real program
	Play  func(*Stage)
}

// Story is the file of a scene: its processes, and the logs of its sessions.
func (c *Scene) Story() string { return filepath.Join("testdata", c.Name+".txtar") }

// Golden compares the logs of a scene with those of the recording.
func (c *Scene) Golden(s *Stage) {
	s.Helper()
	a, err := txtar.ParseFile(c.Story())
	if err != nil {
		s.Fatal(err)
	}
	for _, f := range a.Files {
		id, ok := strings.CutPrefix(f.Name, "log ")
		if !ok {
			continue
		}
		s.mu.Lock()
		got := Tell(s.events[harness.SessionID(id)])
		s.mu.Unlock()
		if got = strings.ReplaceAll(got, s.Dir, "$WORK"); got != string(f.Data) {
			s.Errorf("the log of %s is\n%s\nwant\n%s", id, got, f.Data)
		}
	}
}

// Save writes the recording of a scene, of which dir has the processes.
func (c *Scene) Save(s *Stage, program, dir string, scrub func(map[string]any) bool) {
	s.Helper()
	a := &txtar.Archive{Comment: []byte(program + "; UPDATE=1 records it again.\n")}
	for _, id := range []harness.SessionID{"ses_1", "ses_2"} {
		s.mu.Lock()
		log := s.events[id]
		s.mu.Unlock()
		if len(log) > 0 {
			a.Files = append(a.Files, txtar.File{Name: "log " + string(id), Data: []byte(strings.ReplaceAll(Tell(log), s.Dir, "$WORK"))})
		}
	}
	for n := 1; ; n++ {
		b, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(n)))
		if err != nil {
			break
		}
		a.Files = append(a.Files, txtar.File{Name: strconv.Itoa(n), Data: cleaned(b, s.Dir, scrub)})
	}
	if err := os.WriteFile(c.Story(), txtar.Format(a), 0o644); err != nil {
		s.Fatal(err)
	}
}
