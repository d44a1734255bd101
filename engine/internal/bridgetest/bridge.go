package bridgetest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"harness"
	"harness/engine/agenttest"
	"harness/engine/enginetest"
	"harness/engine/internal/program"
	"harness/model/modeltest"
	"harness/policy"
)

// Bridge is what is known about a program and its engine.
type Bridge struct {
	Name    string // of the engine
	Program string // and its version, which the recordings are of
	Package string // that has it; see agenttest
	Args    []string
	Shell   Shell
	Notice  string // what its sandbox notice says of the program
	Start   int    // milliseconds within which it surely runs a command; 1500 if 0
	// Open makes an engine of a command line.
	Open func(command []string, base program.Options) Engine
	// Behind is what makes a server at url the program's model: arguments and
	// environment.
	Behind  func(url string) (args, env []string)
	Config  harness.ConfigPatch // of sessions
	Dialect Dialect
	Scenes  []Scene
	// Kinds plays what the recordings do not have: with the scenes it shows all
	// that the engine claims to tell of. Nil if they do.
	Kinds  func(t *testing.T, b *Bridge)
	Always []string // the scenes that the real program plays in every run; none is all
	InCI   []string // those that it also plays where CI is set: what nobody plays over the protocols

	told  *enginetest.Ledger // nil: each stage has its own
	rules *policy.Policy     // of the scene that is played
}

// Shell is a program's tool that runs commands.
type Shell struct {
	Tool  string
	Input string // JSON in which %s is a command
}

// Call is a line of a model's script that has the program run a command.
func (s Shell) Call(command string) string {
	quoted, err := json.Marshal(command)
	if err != nil {
		panic("a command that is no text: " + err.Error())
	}
	return "call " + s.Tool + " " + fmt.Sprintf(s.Input, quoted)
}

// As opens a stage with the test's own binary in place of the program. Its
// TestMain finds the role in HARNESS_TEST_ROLE, and the rest of the environment
// as given.
func (b *Bridge) As(tb testing.TB, role string, base program.Options, env ...string) *Stage {
	tb.Helper()
	base.Env = append(env, "HARNESS_TEST_ROLE="+role)
	return b.stage(tb, tb.TempDir(), []string{Self(tb)}, base)
}

// Self is the test's own binary.
func Self(tb testing.TB) string {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return self
}

// Real opens a stage with the program, and a model that follows a script.
func (b *Bridge) Real(tb testing.TB, base program.Options, script string) *Stage {
	tb.Helper()
	return b.real(tb, base, script, nil)
}

// real puts a command in front of the program, if there is one.
func (b *Bridge) real(tb testing.TB, base program.Options, script string, front []string) *Stage {
	tb.Helper()
	bin, dir := agenttest.Command(tb, b.Package), tb.TempDir()
	m := modeltest.Serve(tb, strings.ReplaceAll(script, "$WORK", dir))
	args, env := b.Behind(m.URL)
	base.Env = slices.Concat(base.Env, env)
	s := b.stage(tb, dir, slices.Concat(front, bin, b.Args, args), base)
	s.Model = m
	return s
}

func (b *Bridge) stage(tb testing.TB, dir string, command []string, base program.Options) *Stage {
	tb.Helper()
	told := b.told
	if told == nil {
		told = enginetest.NewLedger(tb)
	}
	s := openWith(tb, b.rules, dir, base, b.Config, func(o program.Options) Engine { return told.Watch(tb, b.Open(command, o)) })
	s.command = command
	return s
}

// under is the bridge on stages with rules.
func (b *Bridge) under(tb testing.TB, rules string) *Bridge {
	tb.Helper()
	if rules == "" {
		return b
	}
	p, err := policy.Parse("policy.yaml", []byte(rules))
	if err != nil {
		tb.Fatal(err)
	}
	ruled := *b
	ruled.rules = p
	return &ruled
}

// PlayRecorded plays every scene with what the program said when it was
// recorded, and Kinds. Together they must show all that the engine claims.
func (b *Bridge) PlayRecorded(t *testing.T) {
	heard := *b
	heard.told = enginetest.NewLedger(t)
	b = &heard
	plays := len(b.Scenes)
	if b.Kinds != nil {
		plays++
		t.Run("kinds", func(t *testing.T) {
			t.Parallel()
			b.Kinds(t, b)
		})
	}
	t.Cleanup(func() { heard.told.Settle(b.Open(nil, program.Options{}).Abilities(), plays) })
	b.Replay(t)
}

// Replay plays every scene with what the program said when it was recorded, in
// the version that the real one has.
func (b *Bridge) Replay(t *testing.T) {
	if version := agenttest.Version(b.Package); version == "" || !slices.Contains(strings.Fields(b.Program), version) {
		t.Errorf("the recordings are of %s, and the program is of version %q", b.Program, version)
	}
	for _, c := range b.Scenes {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			b := b.under(t, c.Policy)
			story, err := filepath.Abs(c.Story())
			if err != nil {
				t.Fatal(err)
			}
			s := b.As(t, "replay", program.Options{}, "HARNESS_TEST_STORY="+story, "HARNESS_TEST_DIR="+t.TempDir())
			c.Play(s)
			c.Golden(s, b)
		})
	}
}

// PlayReal plays scenes with the program and a model that follows a script: some
// in every run, more in CI, all with LONG=1. UPDATE=1 writes down what they say.
func (b *Bridge) PlayReal(t *testing.T) {
	update := os.Getenv("UPDATE") != ""
	for _, c := range b.Scenes {
		t.Run(c.Name, func(t *testing.T) {
			wanted := len(b.Always) == 0 || slices.Contains(b.Always, c.Name) || os.Getenv("CI") != "" && slices.Contains(b.InCI, c.Name)
			if !wanted && !update && os.Getenv("LONG") == "" {
				t.Skip("LONG=1 plays it with the real program")
			}
			t.Parallel()
			b := b.under(t, c.Policy)
			var front []string
			base, dir := program.Options{}, t.TempDir()
			if update {
				front = []string{Self(t)}
				base.Env = []string{"HARNESS_TEST_ROLE=record", "HARNESS_TEST_DIR=" + dir}
			}
			s := b.real(t, base, c.Model, front)
			c.Play(s)
			if update {
				c.save(s, b, dir)
			}
			c.Golden(s, b)
		})
	}
}
