package kernel_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"harness"
	"harness/kernel"
)

// warden stands before a Rewinder: it lets a call through when the test says
// so, or makes it fail.
type warden struct {
	harness.Rewinder
	calls chan string // what is called
	pass  chan error  // nil lets it through
}

func (w *warden) Mark(ctx context.Context, id harness.SessionID, phase harness.MarkPhase) (harness.Mark, error) {
	w.calls <- string(phase)
	if err := <-w.pass; err != nil {
		return harness.Mark{}, err
	}
	return w.Rewinder.Mark(ctx, id, phase)
}

func (w *warden) Rewind(ctx context.Context, to harness.Rewinding) (harness.Rewound, error) {
	w.calls <- "rewind"
	if err := <-w.pass; err != nil {
		return harness.Rewound{}, err
	}
	return w.Rewinder.Rewind(ctx, to)
}

// guarded puts a warden before the yard's files.
func (y *yard) guarded(opts kernel.Options) *warden {
	y.t.Helper()
	y.k.Close()
	files, err := y.trees.Of(y.dir)
	if err != nil {
		y.t.Fatal(err)
	}
	w := &warden{files, make(chan string), make(chan error)}
	opts.Files = func(string) (harness.Rewinder, error) { return w, nil }
	y.bootWith(y.mem, y.engine, &opts)
	return w
}

// let waits for a call and answers it.
func (w *warden) let(t *testing.T, what string, err error) {
	t.Helper()
	if got := <-w.calls; got != what {
		t.Fatalf("%s is called, want %s", got, what)
	}
	w.pass <- err
}

func TestATurnChangesNothingBeforeFilesAreKeptAndEndsBehindThat(t *testing.T) {
	t.Parallel()
	for _, asks := range []bool{true, false} {
		y := newYard(t, asks)
		w := y.guarded(kernel.Options{})
		y.submit("write a one\nwrite b one")
		if got := <-w.calls; got != "before" {
			t.Fatalf("%s is called", got)
		}
		y.has("")
		w.pass <- nil
		if got := <-w.calls; got != "after" {
			t.Fatalf("%s is called", got)
		}
		y.has("a=one b=one")
		if st := y.state(); st.Turn == nil || st.Messages[1].Content.String() != "done" {
			t.Errorf("its end is told before files are kept, or its words are not: %+v", st.Turn)
		}
		y.refused(harness.ErrNotRunning, harness.Steer{Parts: harness.TextPart("too late")})
		y.refused(harness.ErrBusy, harness.Rewind{Message: "itm_1"})
		y.do(harness.Cancel{}) // too late as well
		w.pass <- nil
		if st := y.rest(); st.Status != harness.Idle {
			t.Errorf("status %s", st.Status)
		}
	}
}

func TestATurnThatFilesAreNotKeptForRunsAndSaysSo(t *testing.T) {
	t.Parallel()
	y := newYard(t, true)
	y.put("a", "zero")
	kept := y.turn("write a zero")
	w := y.guarded(kernel.Options{})
	r := y.submit("write a one\nwrite a two")
	w.let(t, "before", errors.New("disk full"))
	y.rest() // no second try, and nothing to keep at its end
	y.has("a=two")
	i := slices.IndexFunc(y.log(), func(e harness.Event) bool {
		c, ok := e.Payload.(*harness.SessionCheckpoint)
		return ok && c.Status == harness.CheckpointFailed && c.Phase == harness.MarkBefore && c.Mark == "" && strings.Contains(c.SummaryText, "disk full")
	})
	if i < 0 {
		t.Errorf("the log does not say so:\n%s", y.story())
	}
	_, err := y.k.Do(t.Context(), y.id, harness.Rewind{Message: r.Item})
	if !errors.Is(err, harness.ErrUnsupported) || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("rewind: %v", err)
	}
	go func() { <-w.calls; w.pass <- nil }()
	y.changed(y.rewind(harness.Rewind{Message: kept}), "| a") // what was not kept may be anybody's
}

func TestNoTurnStartsDuringARewind(t *testing.T) {
	t.Parallel()
	y := newYard(t, true)
	m := y.turn("write a one")
	w := y.guarded(kernel.Options{})
	done := make(chan error, 1)
	go func() {
		_, err := y.k.Do(t.Context(), y.id, harness.Rewind{Message: m})
		done <- err
	}()
	<-w.calls
	y.refused(harness.ErrBusy, harness.Rewind{Message: m})
	y.refused(harness.ErrBusy, harness.Submit{Parts: harness.TextPart("read a")})
	y.refused(harness.ErrNotRunning, harness.Cancel{})
	y.submit("write a two")
	if st := y.state(); st.Turn != nil || st.Status != harness.Queued {
		t.Errorf("status %s, turn %+v", st.Status, st.Turn)
	}
	w.pass <- nil
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	w.let(t, "before", nil)
	w.let(t, "after", nil)
	y.rest()
	y.has("a=two")
	if got, want := strings.Join(told(y.log(), "rewind", "turn_start", "user_message"), " "), "user_message turn_start user_message rewind turn_start"; got != want {
		t.Errorf("told %s, want %s", got, want)
	}
}

func told(log []harness.Event, kinds ...harness.Type) []string {
	var list []string
	for _, e := range log {
		if slices.Contains(kinds, e.Type()) {
			list = append(list, string(e.Type()))
		}
	}
	return list
}

// A rewind that nobody was told about never was: the prompt that waited for it
// runs after a crash.
func TestARewindThatACrashCutsOffIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	y := newYard(t, true)
	m := y.turn("write a one")
	w := y.guarded(kernel.Options{})
	go y.k.Do(context.Background(), y.id, harness.Rewind{Message: m}) // it hears of its end, or of the kernel's
	<-w.calls
	y.submit("write b one")
	y.mem = y.mem.Clone()
	old := y.k
	y.start()
	if _, err := y.k.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	y.rest()
	y.has("a=one b=one")
	if got := told(y.log(), "rewind"); len(got) > 0 {
		t.Errorf("the log has %v", got)
	}
	w.pass <- errors.New("killed")
	go func() { // what the old kernel still runs
		for range w.calls {
			w.pass <- nil
		}
	}()
	old.Close()
	close(w.calls)
}

func TestACancelBeforeAnEngineBeganEndsItsTurn(t *testing.T) {
	t.Parallel()
	y := newYard(t, false)
	w := y.guarded(kernel.Options{})
	y.submit("write a one")
	<-w.calls
	y.do(harness.Steer{Parts: harness.TextPart("and more")})
	y.do(harness.Cancel{})
	w.pass <- nil
	w.let(t, "after", nil)
	y.rest()
	y.has("")
	y.tells(`session_state idle
		user_message submit write a one
		turn_start 1
		user_message steer and more
		hook_event cancel_requested
		turn_end cancelled user`)
}

// Names of files are texts like others.
func TestARewindAndItsMarksHideSecrets(t *testing.T) {
	t.Parallel()
	y := newYard(t, true)
	w := y.guarded(kernel.Options{Redact: newRedactor(t)})
	r := y.submit("write a one")
	w.let(t, "before", nil)
	<-w.calls
	y.put("file-"+canary, "two") // in the turn
	w.pass <- errors.New("no room for " + canary)
	y.rest()
	go func() { <-w.calls; w.pass <- nil }()
	if got := y.rewind(harness.Rewind{Message: r.Item, Actor: canary, ClientKey: canary}); len(got.FilesChanged) != 2 {
		t.Errorf("%+v", got)
	}
	y.has("")
	y.hides(canary)
}
