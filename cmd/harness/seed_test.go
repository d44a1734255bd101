package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"harness"
	"harness/engine/script"
	"harness/kernel"
	"harness/store/sqlite"
)

// play is the script that most tests here run on. A prompt with one of its
// words does what the word says; any other is echoed.
const play = `when hold
  say holding
  steer " heard "
  say " bye"
else when ask
  say asking
  ask bash {"command":"x"} access=execute "Run it" => ran
  say " done"
else when hang
  say hanging
  hang
else when fail
  fail it broke
else when tools
  think hm
  call read {"path":"a"} => text
  say "one\ntwo"
else
  say "You said: "
  echo
end
`

// playing are the flags of a server on dir that plays the script.
func playing(t testing.TB, dir string, more ...string) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "play.script")
	if err := os.WriteFile(path, []byte(play), 0o600); err != nil {
		t.Fatal(err)
	}
	return append([]string{"--data", dir, "--engine", "script:" + path, "--idle-after", "20ms"}, more...)
}

// stage is a data directory being filled without a server.
type stage struct {
	t  testing.TB
	st *sqlite.Store
	k  *kernel.Kernel
}

func newStage(t testing.TB, dir string) *stage {
	t.Helper()
	st, err := sqlite.Open(t.Context(), filepath.Join(dir, "harness.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := script.Parse(play)
	if err != nil {
		t.Fatal(err)
	}
	k := kernel.New(st, map[string]harness.Engine{"script": script.New(s, nil)}, &kernel.Options{Engine: "script", Directory: dir, SnapshotEvery: 16})
	return &stage{t, st, k}
}

func (s *stage) close() {
	s.t.Helper()
	if err := errors.Join(s.k.Close(), s.st.Close()); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) create(n harness.NewSession) {
	s.t.Helper()
	if _, err := s.k.Create(s.t.Context(), n); err != nil {
		s.t.Fatal(err)
	}
}

// turn submits a prompt and waits until its turn has ended or asks.
func (s *stage) turn(id harness.SessionID, prompt string) {
	s.t.Helper()
	receipt, err := s.k.Do(s.t.Context(), id, harness.Submit{Parts: harness.TextPart(prompt)})
	if err != nil {
		s.t.Fatal(err)
	}
	for up, err := range s.k.Watch(s.t.Context(), id, receipt.Seq) {
		if err != nil {
			s.t.Fatal(err)
		}
		for _, e := range up.Events {
			if e.Type() == "turn_end" || e.Type() == "approval_required" {
				return
			}
		}
		if up.State != nil && (up.State.Turn == nil || len(up.State.Pending) > 0) {
			return
		}
	}
}

// seed makes sessions of one turn each: name → prompt.
func seed(t testing.TB, dir string, prompts map[string]string) {
	t.Helper()
	s := newStage(t, dir)
	defer s.close()
	for id, prompt := range prompts {
		s.create(harness.NewSession{ID: harness.SessionID(id), User: "ada"})
		s.turn(harness.SessionID(id), prompt)
	}
}
