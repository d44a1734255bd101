package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"harness/tool"
	"harness/tool/mcp"
)

func TestAServerThatNeverAnswersEndsInTheTimeout(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"hang", "deaf"} {
		s := ours(t, kind)
		s.Start = 500 * time.Millisecond
		began := time.Now()
		_, err := mcp.Open(t.Context(), s, workspace(t))
		if err == nil || !strings.Contains(err.Error(), "it did not start within 500ms") || time.Since(began) > 10*time.Second {
			t.Errorf("%s: %v after %v", kind, err, time.Since(began))
		}
	}
}

func TestAStartCanBeCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	time.AfterFunc(200*time.Millisecond, func() { cancel(why) })
	if _, err := mcp.Open(ctx, ours(t, "hang"), workspace(t)); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

func TestAServerThatDiesAtTheStartSaysItsLastWords(t *testing.T) {
	t.Parallel()
	_, err := mcp.Open(t.Context(), ours(t, "gone"), workspace(t))
	if err == nil || !strings.Contains(err.Error(), "exit code 7") || !strings.Contains(err.Error(), "cannot find my configuration") {
		t.Errorf("got %v", err)
	}
	_, err = mcp.Open(t.Context(), mcp.Server{Name: "none", Command: "/no/such/program"}, workspace(t))
	if err == nil || !strings.Contains(err.Error(), "/no/such/program") {
		t.Errorf("got %v", err)
	}
}

func TestAServerThatRefusesUsSaysWhy(t *testing.T) {
	t.Parallel()
	if _, err := mcp.Open(t.Context(), ours(t, "refuses"), workspace(t)); err == nil || !strings.Contains(err.Error(), "not today") {
		t.Errorf("got %v", err)
	}
}

func TestAListWithoutAnEndEnds(t *testing.T) {
	t.Parallel()
	if got := open(t, ours(t, "pages")).Status(); got.State != mcp.Ready || got.Tools != 64 {
		t.Errorf("status %+v", got)
	}
}

func TestAServerThatOnlyKnowsTheLatestHandshakeWorks(t *testing.T) {
	t.Parallel()
	c := open(t, ours(t, "modern"))
	if got, err := c.Tools()[0].Run(t.Context(), nil, nil); err != nil || got.Text != "done" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestACallInFlightFailsWhenItsServerDiesAndTheNextStartsItAgain(t *testing.T) {
	t.Parallel()
	c := open(t, ours(t, "good"))
	first := must(t, c, "pid", "").Text
	stuck := make(chan error, 1)
	go func() { _, err := run(t, c, "stuck", ""); stuck <- err }()
	for range 4 {
		began := time.Now()
		_, err := run(t, c, "die", "")
		if err == nil || !strings.Contains(err.Error(), `mcp server "good": `) || !strings.Contains(err.Error(), "exit code 3") || !strings.Contains(err.Error(), "the disk is on fire") {
			t.Fatalf("die: %v", err)
		}
		if d := time.Since(began); d > 20*time.Second {
			t.Errorf("it took %v to find out", d)
		}
	}
	if err := <-stuck; err == nil || !strings.Contains(err.Error(), "exit code 3") {
		t.Errorf("the call beside it: %v", err)
	}
	if _, err := run(t, c, "pid", ""); err == nil || !strings.Contains(err.Error(), "it died 4 times") {
		t.Errorf("after the last restart: %v", err)
	}
	if s := c.Status(); s.State != mcp.Failed {
		t.Errorf("status %+v", s)
	}
	if runs(first) {
		t.Error("the first process is still there")
	}
}

func TestARestartedServerIsUsable(t *testing.T) {
	t.Parallel()
	c := open(t, ours(t, "good"))
	first := must(t, c, "pid", "").Text
	_, _ = run(t, c, "die", "")
	if s := c.Status(); s.State != mcp.Down || s.Err == nil {
		t.Errorf("status %+v", s)
	}
	if second := must(t, c, "pid", "").Text; second == first {
		t.Error("it is the same process")
	}
	if changed, err := c.Refresh(t.Context()); changed || err != nil {
		t.Errorf("refresh: %v, %v", changed, err)
	}
	if s := c.Status(); s.State != mcp.Ready {
		t.Errorf("status %+v", s)
	}
}

func TestASlowCallTimesOutAndTheServerStays(t *testing.T) {
	t.Parallel()
	s := ours(t, "good")
	s.Call = 3 * time.Second
	c := open(t, s)
	before := must(t, c, "pid", "").Text
	if _, err := run(t, c, "stuck", ""); err == nil || !strings.Contains(err.Error(), "no answer within 3s; what was asked for may still happen") {
		t.Errorf("got %v", err)
	}
	if after := must(t, c, "pid", "").Text; after != before {
		t.Error("a server that answers pings was started again")
	}
}

func TestAFrozenServerIsReplaced(t *testing.T) {
	t.Parallel()
	s := ours(t, "good")
	s.Call = 3 * time.Second
	c := open(t, s)
	before := must(t, c, "pid", "").Text
	if _, err := run(t, c, "frozen", ""); err == nil || !strings.Contains(err.Error(), "no answer within 3s") {
		t.Errorf("got %v", err)
	}
	if after := must(t, c, "pid", "").Text; after == before {
		t.Error("the frozen process answered")
	}
	if runs(before) {
		t.Error("the frozen process is still there")
	}
}

func TestACancelledCallReturnsAtOnce(t *testing.T) {
	t.Parallel()
	c := open(t, ours(t, "good"))
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	began := time.Now()
	_, err := find(t, c.Tools(), "mcp__good__stuck").Run(ctx, &tool.Env{}, json.RawMessage(`{}`))
	if !errors.Is(err, context.Canceled) || time.Since(began) > 10*time.Second {
		t.Errorf("got %v after %v", err, time.Since(began))
	}
	must(t, c, "echo", "")
}

// TestAFloodIsCutOffWithoutGrowing floods in every way a server can think of.
func TestAFloodIsCutOffWithoutGrowing(t *testing.T) { // not parallel: it looks at the heap
	for _, how := range []string{"flood-bytes", "flood-notices", "flood-lines", "flood-answers", "flood-line", "flood-errors"} {
		t.Run(how, func(t *testing.T) {
			c := open(t, ours(t, "good"))
			before := heap()
			_, err := run(t, c, how, "")
			if err == nil || !strings.Contains(err.Error(), "far more than it is asked for") {
				t.Errorf("got %v", err)
			}
			if grown := heap() - before; grown > 64<<20 {
				t.Errorf("the heap grew by %d MB", grown>>20)
			}
			if _, err := run(t, c, "echo", ""); err == nil || !strings.Contains(err.Error(), "it was cut off") {
				t.Errorf("the call after it: %v", err)
			}
			if s := c.Status(); s.State != mcp.Failed {
				t.Errorf("status %+v", s)
			}
		})
	}
	for _, kind := range []string{"bytes", "notices"} {
		t.Run("from the start "+kind, func(t *testing.T) {
			if _, err := mcp.Open(t.Context(), ours(t, kind), workspace(t)); err == nil || !strings.Contains(err.Error(), "far more than it is asked for") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// runs reports whether a process can still do anything; who buries it is not
// our business.
func runs(pid string) bool {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !bytes.Contains(b, []byte(") Z "))
}

func heap() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestWhatAServerPrintsByMistakeDoesNoHarm(t *testing.T) {
	t.Parallel()
	c := open(t, ours(t, "good"))
	for range 5 {
		if got := must(t, c, "prints", "").Text; got != "printed" {
			t.Errorf("got %q", got)
		}
	}
}

func TestTheListOfToolsChangesOnlyWhenItIsRefreshed(t *testing.T) {
	t.Parallel()
	c := open(t, ours(t, "good"))
	before := asJSON(names(c.Tools()))
	must(t, c, "grow", "")
	must(t, c, "echo", "") // what came before its answer has been read
	if got := asJSON(names(c.Tools())); got != before {
		t.Errorf("in the middle of a turn the list became %s", got)
	}
	deadline := time.Now().Add(time.Minute)
	for tick := time.NewTicker(time.Millisecond); ; <-tick.C {
		changed, err := c.Refresh(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if changed {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the change is not noticed")
		}
	}
	find(t, c.Tools(), "mcp__good__grown")
	must(t, c, "grown", "")
	if changed, err := c.Refresh(t.Context()); changed || err != nil {
		t.Errorf("again: %v, %v", changed, err)
	}
}

func TestOneBadServerDoesNotBreakTheOthers(t *testing.T) {
	t.Parallel()
	hang := ours(t, "hang")
	hang.Start = time.Second
	other := ours(t, "good")
	other.Name = "Good"
	set := mcp.OpenAll(t.Context(), []mcp.Server{ours(t, "gone"), ours(t, "good"), hang, other, ours(t, "good"), {Name: "empty"}}, workspace(t))
	t.Cleanup(set.Close)
	for i, want := range []mcp.State{mcp.Failed, mcp.Ready, mcp.Failed, mcp.Ready, mcp.Failed, mcp.Failed} {
		if s := set.Status()[i]; s.State != want || (s.Err == nil) != (want == mcp.Ready) {
			t.Errorf("server %d: %+v, want %s", i, s, want)
		}
	}
	seen := map[string]bool{}
	for _, name := range names(set.Tools()) {
		if seen[name] || len(name) > mcp.MaxName {
			t.Errorf("the name %s is not usable", name)
		}
		seen[name] = true
	}
	if got, err := find(t, set.Tools(), "mcp__good__echo").Run(t.Context(), nil, nil); err != nil || got.Text != "{}" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestACallAfterCloseIsRefusedAndNothingIsLeft(t *testing.T) {
	t.Parallel()
	c := open(t, ours(t, "good"))
	pid := must(t, c, "pid", "").Text
	stuck := make(chan error, 1)
	go func() { _, err := run(t, c, "stuck", ""); stuck <- err }()
	must(t, c, "echo", "")
	c.Close()
	c.Close()
	if err := <-stuck; err == nil {
		t.Error("the call in flight succeeded")
	}
	if _, err := run(t, c, "echo", ""); err == nil || !strings.Contains(err.Error(), "it was closed") {
		t.Errorf("got %v", err)
	}
	if runs(pid) {
		t.Error("the process is still there")
	}
}

func TestAServerDiesWithItsWorkspace(t *testing.T) {
	t.Parallel()
	w := workspace(t)
	c, err := mcp.Open(t.Context(), ours(t, "good"), w)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	pid := must(t, c, "pid", "").Text
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, c, "echo", ""); err == nil {
		t.Error("a call succeeded")
	}
	if runs(pid) {
		t.Error("the process is still there")
	}
}
