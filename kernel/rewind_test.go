package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"harness"
	"harness/kernel"
	"harness/store/memory"
	"harness/workspace"
)

// hands is an engine that changes files as its prompt says, a line each:
//
//	write FILE TEXT    by an edit, which it asks about
//	sh COMMAND         by a shell command, likewise
//	read FILE          which changes nothing
//	claim ID           says that a session is its agent
//	task PROMPT        by a session of its own
//	wait               until the test says so, or the turn is cancelled
//	fail, crash        the turn fails, or never returns
type hands struct {
	asks bool // it says that it asks; else it just does it
	on   chan struct{}
	at   chan struct{} // it waits
}

func (e *hands) Abilities() harness.Abilities { return harness.Abilities{Tools: true, Approve: e.asks} }

func (e *hands) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	for i, line := range strings.Split(harness.PlainText(t.Parts), "\n") {
		verb, rest, _ := strings.Cut(line, " ")
		access := map[string]harness.Access{"write": harness.AccessEdit, "sh": harness.AccessExecute, "read": harness.AccessRead}[verb]
		id := harness.CallID(fmt.Sprintf("%s-%d", t.ID, i))
		if access != "" {
			if err := h.Emit(ctx, &harness.ToolCall{ToolCallID: id, Name: verb}); err != nil {
				return err
			}
		}
		if access != "" && e.asks {
			if d, err := h.Ask(ctx, harness.ToolUse{Call: id, Tool: verb, Access: access}); err != nil || d.Verdict != harness.Allow {
				return err
			}
		}
		switch verb {
		case "write":
			name, text, _ := strings.Cut(rest, " ")
			if err := os.WriteFile(filepath.Join(t.Directory, name), []byte(text+"\n"), 0o644); err != nil {
				return err
			}
		case "sh":
			c := exec.CommandContext(ctx, "sh", "-c", rest)
			c.Dir = t.Directory
			if err := c.Run(); err != nil {
				return err
			}
		case "claim":
			if err := h.Emit(ctx, &harness.SubagentEvent{AgentID: rest, Status: harness.SubagentRunning}); err != nil {
				return err
			}
		case "task":
			_, err := h.(harness.Spawner).Spawn(ctx, harness.NewSession{}, rest, func(child harness.SessionID) {
				h.Emit(ctx, &harness.SubagentEvent{AgentID: string(child), Status: harness.SubagentRunning}) // fails only if the turn does
			})
			if err != nil {
				return err
			}
		case "wait":
			select {
			case e.at <- struct{}{}:
			default:
			}
			select {
			case <-e.on:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		case "fail":
			return errors.New("it failed")
		}
		if err := h.Emit(ctx, &harness.ToolOutcome{ToolCallID: id, Status: harness.OutcomeOK}); err != nil {
			return err
		}
	}
	return h.Emit(ctx, &harness.Token{Text: "done"})
}

// yard is a rig whose session works in a directory with snapshots.
type yard struct {
	*rig
	engine *hands
	trees  *workspace.Trees
	dir    string
	data   string // of the snapshots
}

func newYard(t *testing.T, asks bool) *yard {
	t.Helper()
	y := &yard{rig: &rig{t: t, mem: memory.New()}, engine: &hands{asks, make(chan struct{}), make(chan struct{}, 1)}, dir: t.TempDir(), data: t.TempDir()}
	y.trees = workspace.NewTrees(y.data, nil)
	y.start()
	y.id = y.create(harness.NewSession{ID: "ses_1", Directory: y.dir, Config: harness.ConfigPatch{PermissionMode: new(harness.FullAuto)}})
	return y
}

func (y *yard) start() {
	y.t.Helper()
	y.bootWith(y.mem, y.engine, &kernel.Options{Files: y.trees.Of})
}

// turn runs one and returns its message.
func (y *yard) turn(lines ...string) harness.ItemID {
	y.t.Helper()
	r := y.submit(strings.Join(lines, "\n"))
	y.rest()
	return r.Item
}

// files is the directory, sorted: "name=text".
func (y *yard) files() string {
	y.t.Helper()
	entries, err := os.ReadDir(y.dir)
	if err != nil {
		y.t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(y.dir, e.Name()))
		if err != nil {
			y.t.Fatal(err)
		}
		list = append(list, e.Name()+"="+strings.TrimSpace(string(b)))
	}
	return strings.Join(list, " ")
}

func (y *yard) has(want string) {
	y.t.Helper()
	if got := y.files(); got != want {
		y.t.Errorf("files %q, want %q\n%s", got, want, y.story())
	}
}

func (y *yard) put(name, text string) {
	y.t.Helper()
	if err := os.WriteFile(filepath.Join(y.dir, name), []byte(text+"\n"), 0o644); err != nil {
		y.t.Fatal(err)
	}
}

func (y *yard) rewind(c harness.Rewind) harness.Rewound {
	y.t.Helper()
	r := y.do(c)
	if r.Rewound == nil {
		y.t.Fatalf("%+v was answered without a result", c)
	}
	return *r.Rewound
}

// marks counts the snapshots of the session.
func (y *yard) marks() int {
	y.t.Helper()
	list, err := filepath.Glob(filepath.Join(y.data, "*", "marks", string(y.id), "mrk_*"))
	if err != nil {
		y.t.Fatal(err)
	}
	return len(list)
}

func (y *yard) changed(w harness.Rewound, want string) {
	y.t.Helper()
	got := strings.Join(slices.Concat(w.FilesChanged, []string{"|"}, w.Conflicts), " ")
	if got = strings.TrimSpace(got); got != want {
		y.t.Errorf("changed %q, want %q", got, want)
	}
}

func TestFilesGoBackToBeforeTheTurnOfAMessageAndForthAgain(t *testing.T) {
	t.Parallel()
	for _, asks := range []bool{true, false} {
		t.Run(fmt.Sprintf("asks=%v", asks), func(t *testing.T) {
			t.Parallel()
			y := newYard(t, asks)
			y.put("a", "zero")
			first := y.turn("write a one", "write b one")
			second := y.turn("read a")
			third := y.turn("sh echo two > a; rm b; echo new > c")
			y.has("a=two c=new")

			dry := y.rewind(harness.Rewind{Message: third, DryRun: true})
			y.changed(dry, "a b c |")
			if dry.Safety != "" || !dry.DryRun || dry.Insertions != 2 || dry.Deletions != 2 || len(dry.Restore) != 2 || len(dry.Delete) != 1 {
				t.Errorf("dry run: %+v", dry)
			}
			y.has("a=two c=new")

			w := y.rewind(harness.Rewind{Message: third, Actor: "ada"})
			y.changed(w, "a b c |")
			y.has("a=one b=one")
			if w.ItemID == "" || w.Safety == "" || w.MessageID != third || w.Actor != "ada" {
				t.Errorf("rewind: %+v", w)
			}
			if st := y.state(); st.Rewound == nil || st.Rewound.ItemID != w.ItemID || st.Status != harness.Idle {
				t.Errorf("state: %+v, %s", st.Rewound, st.Status)
			}
			undo := y.rewind(harness.Rewind{Message: w.ItemID})
			y.changed(undo, "a c b |")
			y.has("a=two c=new")
			y.rewind(harness.Rewind{Message: undo.ItemID})
			y.has("a=one b=one")
			y.changed(y.rewind(harness.Rewind{Message: second}), "|") // it is as it was then
			y.rewind(harness.Rewind{Message: first})
			y.has("a=zero")
		})
	}
}

func TestAnEditFromOutsideIsAConflictUnlessForced(t *testing.T) {
	t.Parallel()
	y := newYard(t, true)
	y.put("a", "zero")
	y.put("b", "zero")
	m := y.turn("write a one", "write b one")
	y.put("b", "mine")
	y.put("c", "mine")
	for _, dry := range []bool{true, false} {
		w := y.rewind(harness.Rewind{Message: m, DryRun: dry})
		y.changed(w, "a | b c")
		if w.Conflict[0].Reason != workspace.SinceLastTurn {
			t.Errorf("conflict: %+v", w.Conflict)
		}
	}
	y.has("a=zero b=mine c=mine")
	y.changed(y.rewind(harness.Rewind{Message: m, Force: true}), "b c |")
	y.has("a=zero b=zero")
}

func TestEveryMessageOfATurnStandsForItsBeginning(t *testing.T) {
	t.Parallel()
	y := newYard(t, true)
	first := y.submit("write a one\nwait\nwrite b one")
	<-y.engine.at
	steered := y.do(harness.Steer{Parts: harness.TextPart("well")}) // never read: it becomes the next prompt
	queued := y.submit("write c one")
	y.engine.on <- struct{}{}
	st := y.rest()
	var answers []harness.ItemID
	for _, m := range st.Messages {
		if m.Role == harness.Assistant {
			answers = append(answers, m.ID)
		}
	}
	if len(answers) != 4 {
		t.Fatalf("%d answers: %s", len(answers), y.conversation(st))
	}
	for _, to := range []struct {
		item harness.ItemID
		want string
	}{
		{answers[3], "a=one b=one c=one"}, {steered.Item, "a=one b=one c=one"}, // nothing has changed since
		{answers[2], "a=one b=one"}, {queued.Item, "a=one b=one"}, {answers[1], ""}, {answers[0], ""}, {first.Item, ""},
	} {
		w := y.rewind(harness.Rewind{Message: to.item})
		y.has(to.want)
		if w.ItemID != "" {
			y.rewind(harness.Rewind{Message: w.ItemID})
			y.has("a=one b=one c=one")
		}
	}
}

func TestARewindIsRefusedWhenItCannotBe(t *testing.T) {
	t.Parallel()
	y := newYard(t, true)
	m := y.turn("write a one")
	y.refused(harness.ErrInvalid, harness.Rewind{Message: "itm_none"})
	y.submit("wait")
	<-y.engine.at
	y.refused(harness.ErrBusy, harness.Rewind{Message: m})
	y.refused(harness.ErrBusy, harness.Rewind{Message: m, DryRun: true})
	y.do(harness.Pause{})
	y.submit("write a two")
	y.engine.on <- struct{}{}
	y.until("the pause", func(st *harness.State) bool { return st.Status == harness.Paused })
	y.refused(harness.ErrBusy, harness.Rewind{Message: m}) // a prompt waits
	y.do(harness.Resume{})
	y.rest()
	y.do(harness.Pause{})
	y.changed(y.rewind(harness.Rewind{Message: m}), "a |")
	y.has("")
}

func TestARewindUnderAKeyIsDoneOnce(t *testing.T) {
	t.Parallel()
	y := newYard(t, true)
	m := y.turn("write a one")
	first := y.do(harness.Rewind{Message: m, ClientKey: "k"})
	y.put("a", "again")
	again := y.do(harness.Rewind{Message: m, ClientKey: "k"})
	if first.Seq != again.Seq || again.Rewound == nil || again.Rewound.ItemID != first.Item || again.Rewound.ClientKey != "k" {
		t.Errorf("first %+v, again %+v", first, again)
	}
	y.has("a=again")
	y.do(harness.Submit{Parts: harness.TextPart("read a"), ClientKey: "said", OnBusy: harness.Enqueue})
	y.rest()
	y.refused(harness.ErrInvalid, harness.Rewind{Message: m, ClientKey: "said"})
}

func TestATurnKeepsFilesHoweverItEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(y *yard){
		"failed":    func(y *yard) { y.engine.on <- struct{}{} },
		"cancelled": func(y *yard) { y.do(harness.Cancel{}) },
		"killed": func(y *yard) { // the process that ran it is gone
			y.mem = y.mem.Clone()
			y.start()
			if _, err := y.k.Recover(y.t.Context()); err != nil {
				y.t.Fatal(err)
			}
		},
	} {
		for _, asks := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/asks=%v", name, asks), func(t *testing.T) {
				t.Parallel()
				y := newYard(t, asks)
				y.put("a", "zero")
				r := y.submit("write a one\nwait\nfail")
				<-y.engine.at
				end(y)
				y.rest()
				y.put("b", "mine")
				y.changed(y.rewind(harness.Rewind{Message: r.Item}), "a | b")
				y.has("a=zero b=mine")
			})
		}
	}
}

func TestARewindOutlivesARestart(t *testing.T) {
	t.Parallel()
	y := newYard(t, true)
	m := y.turn("write a one")
	w := y.rewind(harness.Rewind{Message: m})
	y.k.Close()
	y.start()
	y.rewind(harness.Rewind{Message: w.ItemID})
	y.has("a=one")
	y.rewind(harness.Rewind{Message: m})
	y.has("")
}

func TestABranchTakesBackWhatItsAncestorDid(t *testing.T) {
	t.Parallel()
	y := newYard(t, true)
	first := y.turn("write a one")
	y.turn("write b one")
	parent := y.id
	branch := y.create(harness.NewSession{From: &harness.Branch{Session: parent}})
	y.turn("write p later") // the parent goes on
	y.id = branch
	own := y.turn("write c one")
	y.has("a=one b=one c=one p=later")
	w := y.rewind(harness.Rewind{Message: first})
	y.changed(w, "a b c | p")
	y.has("p=later")
	y.rewind(harness.Rewind{Message: w.ItemID})
	y.has("a=one b=one c=one p=later")
	y.changed(y.rewind(harness.Rewind{Message: own}), "c |")
	y.has("a=one b=one p=later")
}

func TestAnotherSessionsWorkIsAConflict(t *testing.T) {
	t.Parallel()
	y := newYard(t, true)
	m := y.turn("write a one")
	mine := y.id
	y.id = y.create(harness.NewSession{Directory: y.dir, Config: harness.ConfigPatch{PermissionMode: new(harness.FullAuto)}})
	y.turn("write a two", "write b two")
	y.id = mine
	y.changed(y.rewind(harness.Rewind{Message: m}), "| a b")
	y.has("a=two b=two")
}

func TestARemovedSessionLeavesNoSnapshots(t *testing.T) {
	t.Parallel()
	y := newYard(t, true)
	y.turn("write a one")
	if n := y.marks(); n != 2 {
		t.Fatalf("%d marks", n)
	}
	if err := y.k.Remove(t.Context(), y.id); err != nil {
		t.Fatal(err)
	}
	if n := y.marks(); n != 0 {
		t.Errorf("%d marks are left", n)
	}
}

func TestTurnsWithoutSnapshotsAreNotTakenBack(t *testing.T) {
	t.Parallel()
	y := newYard(t, true)
	m := y.turn("write a one")
	y.k.Close()
	y.bootWith(y.mem, y.engine, nil)
	y.refused(harness.ErrUnsupported, harness.Rewind{Message: m})
	dark := y.turn("write a two")
	y.k.Close()
	y.start()
	light := y.turn("write a three")
	y.refused(harness.ErrUnsupported, harness.Rewind{Message: dark})
	y.changed(y.rewind(harness.Rewind{Message: light}), "a |")
	y.has("a=two")
	y.changed(y.rewind(harness.Rewind{Message: m}), "| a") // what ran in the dark, anybody may have done
}

func TestWorkThatWasHandedOnIsTakenBackWithTheTurn(t *testing.T) {
	t.Parallel()
	for _, asks := range []bool{true, false} {
		y := newYard(t, asks)
		m := y.turn("task write a one", "task task write b one") // and nothing by itself
		y.has("a=one b=one")
		y.put("c", "mine")
		y.changed(y.rewind(harness.Rewind{Message: m}), "a b | c")
		y.has("c=mine")
		both := y.turn("write a two", "task write b two", "write d two")
		y.put("e", "mine")
		y.changed(y.rewind(harness.Rewind{Message: both}), "a b d | e")
		y.has("c=mine e=mine")
	}
}

// Whoever is called an agent without being one stays somebody else.
func TestAnAgentInNameOnlyIsSomebodyElse(t *testing.T) {
	t.Parallel()
	y := newYard(t, true)
	mine := y.id
	other := y.create(harness.NewSession{ID: "ses_other", Directory: y.dir, Config: harness.ConfigPatch{PermissionMode: new(harness.FullAuto)}})
	m := y.turn("write a one", "claim ses_other", "claim ses_none", "claim ../x")
	y.id = other
	y.turn("write b one")
	y.id = mine
	y.changed(y.rewind(harness.Rewind{Message: m}), "a | b")
}
