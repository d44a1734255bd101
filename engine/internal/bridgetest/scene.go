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
	Name   string
	Model  string // the script of the model behind the real program
	Policy string // rules of the server's file; "" for none
	Play   func(*Stage)
}

// Of is the scene with another program, whose recording is beside the others.
func (c Scene) Of(program string) Scene {
	c.Name = program + "_" + c.Name
	return c
}

// Story is the file of a scene: its processes, and the logs of its sessions.
func (c *Scene) Story() string { return filepath.Join("testdata", c.Name+".txtar") }

// words is the log of one of the stage's sessions on any machine: the rest of a
// long line is left out, and so are the starts of further processes. A real
// program that says something late is not used again; that the others are, is
// seen by the stand-in, which has no further process to offer.
func (s *Stage) words(id harness.SessionID) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(Tell(s.events[id]), s.Dir, "$WORK")) {
		if r := []rune(line); len(r) > 160 {
			line = string(r[:160]) + "…\n"
		}
		if line != "\n" && !(strings.HasPrefix(line, "sandbox_notice ") && strings.Contains(b.String(), line)) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// heading is the first line of the recordings of a program.
func (b *Bridge) heading() string { return b.Program + "; UPDATE=1 records it again.\n" }

// Golden compares the logs of a scene with those of the recording, which is of
// the bridge's program. Where no sandbox is around the program, its notice says so.
func (c *Scene) Golden(s *Stage, b *Bridge) {
	s.Helper()
	a, err := txtar.ParseFile(c.Story())
	if err != nil {
		s.Fatal(err)
	}
	if string(a.Comment) != b.heading() {
		s.Errorf("the recording is of %q, want %q", a.Comment, b.heading())
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
	for _, e := range s.Events() {
		if n, ok := e.Payload.(*harness.SandboxNotice); ok && n.Isolation == "none" && !strings.Contains(n.Reason, "none is around it") && !strings.Contains(n.Reason, "nothing of ours bounds") {
			s.Errorf("nothing is around the program, and the notice says %q", n.Reason)
		}
	}
}

// save writes the recording of a scene, of which dir has the processes.
func (c *Scene) save(s *Stage, b *Bridge, dir string) {
	s.Helper()
	a := &txtar.Archive{Comment: []byte(b.heading())}
	for _, id := range []harness.SessionID{"ses_1", "ses_2"} {
		if log := s.words(id); log != "" {
			a.Files = append(a.Files, txtar.File{Name: "log " + string(id), Data: []byte(log)})
		}
	}
	for n := 1; ; n++ {
		said, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(n)))
		if err != nil {
			break
		}
		a.Files = append(a.Files, txtar.File{Name: strconv.Itoa(n), Data: b.Dialect.cleaned(said, s.Dir)})
	}
	if err := os.WriteFile(c.Story(), txtar.Format(a), 0o644); err != nil {
		s.Fatal(err)
	}
}
