package runner_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"harness"
	"harness/protocol/runner"
	"harness/workspace"
)

// scribe is an engine that does what the lines of a prompt say: "write NAME TEXT"
// when it may, "look" asks to read, "hang" waits for the end.
type scribe struct{ asks bool }

func (s scribe) Abilities() harness.Abilities {
	return harness.Abilities{Tools: true, Steer: true, Approve: s.asks}
}

func (s scribe) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	for i, line := range strings.Split(harness.PlainText(t.Parts), "\n") {
		verb, rest, _ := strings.Cut(line, " ")
		call := harness.CallID(fmt.Sprintf("c%d", i))
		access := harness.AccessEdit
		if verb == "look" {
			access = harness.AccessRead
		}
		if err := h.Emit(ctx, &harness.ToolCall{ToolCallID: call, Name: verb, MessageID: harness.ItemID("itm_" + t.ID)}); err != nil {
			return err
		}
		if s.asks {
			if d, err := h.Ask(ctx, harness.ToolUse{Call: call, Tool: verb, Access: access}); err != nil || d.Verdict != harness.Allow {
				return err
			}
		}
		switch verb {
		case "write":
			name, text, _ := strings.Cut(rest, " ")
			if err := os.WriteFile(filepath.Join(t.Directory, name), []byte(text+"\n"), 0o644); err != nil {
				return err
			}
		case "hang":
			<-ctx.Done()
			return context.Cause(ctx)
		}
	}
	return nil
}

// desk is a runner whose runs write files that are kept.
type desk struct {
	*stage
	dir, data string
}

func newDesk(t *testing.T, e harness.Engine, dir, data string) *desk {
	t.Helper()
	trees := workspace.NewTrees(data, &workspace.Options{Home: "/nowhere"})
	w := (&stage{T: t}).with(e, &runner.Options{Directory: dir, Within: dir, Files: trees.Of, Data: filepath.Join(data, "runs")})
	return &desk{w, dir, data}
}

// do runs a prompt to its end and allows everything.
func (d *desk) run(id, prompt string) {
	d.Helper()
	s := d.query(id, prompt)
	for {
		f, err := s.Next()
		switch {
		case err != nil:
			d.Fatal(err)
		case f.Type == runner.Asked:
			if err := d.Decide(d.ctx(), id, f.ToolUseID, runner.Answer{Decision: harness.Decision{Verdict: harness.Allow}}); err != nil {
				d.Fatal(err)
			}
		case f.Type == runner.Completed:
			return
		case f.Type.Ends():
			d.Fatalf("%+v", f)
		}
	}
}

// holds checks the whole directory.
func (d *desk) holds(want map[string]string) {
	d.Helper()
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		d.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(d.dir, e.Name()))
		if err != nil {
			d.Fatal(err)
		}
		got[e.Name()] = strings.TrimSpace(string(b))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		d.Errorf("the directory holds %v, want %v", got, want)
	}
}

func (d *desk) rewind(r runner.Rewind) harness.Rewound {
	d.Helper()
	got, err := d.Rewind(d.ctx(), r)
	if err != nil || got.Error != "" {
		d.Fatalf("rewind %+v: %v %s", r, err, got.Error)
	}
	return got
}

// paths are the files of a list.
func paths(list []harness.RewoundFile) (all string) {
	for _, f := range list {
		all += fmt.Sprintf("%s+%d-%d ", f.Path, f.Insertions, f.Deletions)
	}
	return strings.TrimSpace(all)
}

// Whether the engine asks first or not, files go back to where they were before
// a run, and before the run in which something was said.
func TestARunnerTakesFilesBackToBeforeARun(t *testing.T) {
	t.Parallel()
	for _, asks := range []bool{true, false} {
		t.Run(fmt.Sprint("asks ", asks), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, scribe{asks}, t.TempDir(), t.TempDir())
			d.run("r1", "write a one\nwrite b one")
			d.run("r2", "look\nlook")
			d.run("r3", "look\nwrite a two\nwrite c one")
			dry := d.rewind(runner.Rewind{RequestID: "r3", DryRun: true})
			if paths(dry.Restore) != "a+1-1" || paths(dry.Delete) != "c+0-1" || !dry.DryRun || dry.Safety != "" || dry.Insertions != 1 || dry.Deletions != 2 {
				t.Errorf("dry run: %+v", dry)
			}
			d.holds(map[string]string{"a": "two", "b": "one", "c": "one"})
			if got := d.rewind(runner.Rewind{MessageID: "itm_r2"}); paths(got.Restore) != "a+1-1" || got.MessageID != "itm_r2" || got.Safety == "" {
				t.Errorf("to before a run that changed nothing: %+v", got)
			}
			d.holds(map[string]string{"a": "one", "b": "one"})
			back := d.rewind(runner.Rewind{RequestID: "r1"})
			d.holds(map[string]string{})
			d.rewind(runner.Rewind{Mark: back.Safety})
			d.holds(map[string]string{"a": "one", "b": "one"})

			d = newDesk(t, scribe{asks}, d.dir, d.data) // another process
			d.rewind(runner.Rewind{RequestID: "r1"})
			d.holds(map[string]string{})
		})
	}
}

func TestARunnerLeavesEditsFromOutsideAloneUnlessForced(t *testing.T) {
	t.Parallel()
	d := newDesk(t, scribe{true}, t.TempDir(), t.TempDir())
	d.run("r1", "write a one\nwrite b one")
	if err := os.WriteFile(filepath.Join(d.dir, "b"), []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got := d.rewind(runner.Rewind{RequestID: "r1"})
	if paths(got.Delete) != "a+0-1" || len(got.Conflict) != 1 || got.Conflict[0].Path != "b" {
		t.Errorf("%+v", got)
	}
	d.holds(map[string]string{"b": "mine"})
	d.rewind(runner.Rewind{RequestID: "r1", Force: true})
	d.holds(map[string]string{})
}

func TestWhatARunnerCannotTakeBackItRefuses(t *testing.T) {
	t.Parallel()
	d := newDesk(t, scribe{}, t.TempDir(), t.TempDir())
	d.run("r1", "write a one")
	outside := t.TempDir()
	for body, want := range map[string]int{
		`{"requestId":"r9"}`: 404, `{"messageId":"itm_none"}`: 404, `{"mark":"mrk_none"}`: 404, `{"requestId":"r1","sessionId":"ses_other"}`: 404,
		`{}`: 400, `{"requestId":"r1","mark":"x"}`: 400, `{"requestId":"../runs/r1"}`: 400, `{"mark":"m","sessionId":"../x"}`: 400,
		`{"mark":"m","directory":"` + outside + `"}`: 403,
	} {
		if code, text := d.do("POST", "/workspace/rewind", body); code != want {
			t.Errorf("%s: %d %s, want %d", body, code, text, want)
		}
	}
	for body, want := range map[string]int{
		`{"sessionId":"ses_1","phase":"before"}`: 200, `{"sessionId":"ses_1","phase":"during"}`: 400, `{"sessionId":"../x","phase":"before"}`: 400,
		`{"sessionId":"ses_1","phase":"before","directory":"` + outside + `"}`: 403,
	} {
		if code, text := d.do("POST", "/workspace/marks", body); code != want {
			t.Errorf("%s: %d %s, want %d", body, code, text, want)
		}
	}
	s := d.query("r2", "hang")
	d.to(s, runner.ToolStart)
	for _, dry := range []bool{true, false} {
		if _, err := d.Rewind(d.ctx(), runner.Rewind{RequestID: "r1", DryRun: dry}); !runner.Refused(err, 409) {
			t.Errorf("during a run: %v", err)
		}
	}
	if err := d.Cancel(d.ctx(), "r2", runner.Cancelling{}); err != nil {
		t.Fatal(err)
	}
	d.to(s, runner.Cancelled)
	d.rewind(runner.Rewind{RequestID: "r1"})
	d.holds(map[string]string{})

	none := d.with(scribe{}, &runner.Options{Directory: d.dir})
	for path, body := range map[string]string{"/workspace/rewind": `{"requestId":"r1"}`, "/workspace/marks": `{"sessionId":"ses_1","phase":"before"}`} {
		if code, text := none.do("POST", path, body); code != 501 {
			t.Errorf("%s without snapshots: %d %s", path, code, text)
		}
	}
	for w, want := range map[*stage]bool{d.stage: true, none: false} {
		if h, err := w.Health(w.ctx()); err != nil || h.Snapshots != want {
			t.Errorf("health says %+v, %v", h, err)
		}
	}
}

// A caller that has files kept by itself is not helped, and no run begins while
// files go back.
func TestMarksOfTheCallerAreTheOnlyOnesIfItSaysSo(t *testing.T) {
	t.Parallel()
	d := newDesk(t, scribe{}, t.TempDir(), t.TempDir())
	mark, err := d.Mark(d.ctx(), runner.Marking{SessionID: "ses_1", Phase: harness.MarkBefore})
	if err != nil || mark.Mark == "" {
		t.Fatalf("%+v %v", mark, err)
	}
	s, err := d.Query(d.ctx(), runner.Query{Prompt: "write a one", RequestID: "r1", SessionID: "ses_1", Kept: true})
	if err != nil {
		t.Fatal(err)
	}
	d.to(s, runner.Completed)
	s.Close()
	if _, err := d.Mark(d.ctx(), runner.Marking{SessionID: "ses_1", Phase: harness.MarkAfter}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Rewind(d.ctx(), runner.Rewind{RequestID: "r1"}); !runner.Refused(err, 404) {
		t.Errorf("its own run: %v", err)
	}
	if got := d.rewind(runner.Rewind{Mark: mark.Mark, SessionID: "ses_1"}); paths(got.Delete) != "a+0-1" {
		t.Errorf("%+v", got)
	}
	d.holds(map[string]string{})
	if err := d.Unmark(d.ctx(), "ses_1"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Rewind(d.ctx(), runner.Rewind{Mark: mark.Mark, SessionID: "ses_1"}); !runner.Refused(err, 404) {
		t.Errorf("a mark that was let go of: %v", err)
	}
}

// held is a Rewinder that takes its time.
type held struct {
	harness.Rewinder
	began, end chan struct{}
}

func (h held) Rewind(context.Context, harness.Rewinding) (harness.Rewound, error) {
	close(h.began)
	<-h.end
	return harness.Rewound{Safety: "m"}, fmt.Errorf("one file would not go")
}

func TestNoRunBeginsWhileFilesGoBack(t *testing.T) {
	t.Parallel()
	files := held{began: make(chan struct{}), end: make(chan struct{})}
	w := (&stage{T: t}).with(scribe{true}, &runner.Options{Directory: t.TempDir(), Files: func(string) (harness.Rewinder, error) { return files, nil }})
	type result struct {
		harness.Rewound
		err error
	}
	done := make(chan result, 1) // one is asked for
	go func() {
		got, err := w.Rewind(w.ctx(), runner.Rewind{Mark: "m"})
		done <- result{got, err}
	}()
	<-files.began
	if code, text := w.do("POST", "/query", `{"prompt":"look"}`); code != 409 {
		t.Errorf("a run: %d %s", code, text)
	}
	if _, err := w.Rewind(w.ctx(), runner.Rewind{Mark: "m"}); !runner.Refused(err, 409) {
		t.Errorf("another rewind: %v", err)
	}
	close(files.end)
	if got := <-done; got.err != nil || got.Error != "one file would not go" || got.Safety != "m" {
		t.Errorf("%+v", got)
	}
}
