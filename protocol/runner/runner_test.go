package runner_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/engine/script"
	"harness/protocol/runner"
)

// A client that knows only S2's text reads only S2's words, each as it is there.
func TestAClientThatKnowsOnlyS2IsServed(t *testing.T) {
	t.Parallel()
	w := open(t, "say Hello\ntool Read toolu_1\noutcome ok\nsay \" world\"\n", nil)
	if code, body := w.do("GET", "/health", ""); code != 200 || !strings.HasPrefix(body, `{"ok":true,"busy":false,"hasAnthropicKey":false,`) {
		t.Errorf("GET /health: %d %s", code, body)
	}
	res, err := http.Post(w.url+"/query", "application/json", strings.NewReader(`{"prompt":"go"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got := res.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("Content-Type %s", got)
	}
	got := strings.Join(lines(t, res.Body), "\n")
	for _, want := range []string{
		"event: run.started\ndata: {\"type\":\"run.started\",\"requestId\":\"run_",
		"event: assistant.delta\ndata: {\"type\":\"assistant.delta\",\"text\":\"Hello\"}",
		"event: tool.started\ndata: {\"type\":\"tool.started\",\"toolName\":\"Read\",\"toolUseId\":\"toolu_1\"",
		"event: assistant.delta\ndata: {\"type\":\"assistant.delta\",\"text\":\" world\"}",
		"event: run.completed\ndata: {\"type\":\"run.completed\",\"result\":\"Hello world\",\"sessionId\":\"script:",
	} {
		at := strings.Index(got, want)
		if at < 0 {
			t.Fatalf("%q is missing from\n%s", want, got)
		}
		got = got[at+len(want):]
	}
}

func TestARunThatFailsSaysWhy(t *testing.T) {
	t.Parallel()
	w := open(t, "fail it broke\n", nil)
	s := w.query("trn_1", "go")
	w.next(s, runner.Started)
	if f := w.next(s, runner.Failed); f.Message != "it broke" || f.Retryable {
		t.Errorf("got %+v", f)
	}
	if _, err := s.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}
}

func TestASecondRunIsRefusedWhileOneIsUnderWay(t *testing.T) {
	t.Parallel()
	w := open(t, "say one\ngate go\nsay two\n", nil)
	s := w.query("trn_1", "go")
	w.to(s, runner.Delta)
	if code, body := w.do("POST", "/query", `{"prompt":"more"}`); code != 409 || !strings.Contains(body, `"busy"`) {
		t.Errorf("a second run: %d %s", code, body)
	}
	if h, err := w.Health(w.ctx()); err != nil || !h.Busy || h.Run.State != runner.Running {
		t.Errorf("health is %+v, %v", h, err)
	}
	same := w.query("trn_1", "go") // asked again, because the answer was lost
	w.engine.Open("go")
	for _, stream := range []*runner.Stream{s, same} {
		w.to(stream, runner.Completed)
	}
	if h, err := w.Health(w.ctx()); err != nil || h.Busy {
		t.Errorf("health is %+v, %v", h, err)
	}
	w.to(w.query("trn_2", "go"), runner.Completed)
	if _, err := w.Status(w.ctx(), "trn_1"); !runner.Refused(err, 404) {
		t.Errorf("the run before is not forgotten: %v", err)
	}
}

// A session does one thing at a time: who asks for another has given up the
// first, which would keep the runner busy for nobody.
func TestAnotherTurnOfTheSameSessionEndsARunThatWasGivenUp(t *testing.T) {
	t.Parallel()
	w := open(t, "say working\nwhen first\n  hang\nend\n", nil)
	first, err := w.Query(w.ctx(), runner.Query{Prompt: "first", RequestID: "trn_1", SessionID: "ses_1", Attempt: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	w.to(first, runner.Delta)
	if _, err := w.Query(w.ctx(), runner.Query{Prompt: "x", RequestID: "trn_2", SessionID: "ses_2", Attempt: 1}); !runner.Refused(err, 409) {
		t.Errorf("another session: %v", err)
	}
	if _, err := w.Query(w.ctx(), runner.Query{Prompt: "x", RequestID: "trn_1", SessionID: "ses_1", Attempt: 2}); err != nil && !runner.Refused(err, 409) {
		t.Errorf("another attempt: %v", err)
	}
	w.to(first, runner.Cancelled)
	s, err := w.Query(w.ctx(), runner.Query{Prompt: "x", RequestID: "trn_1", SessionID: "ses_1", Attempt: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w.to(s, runner.Completed)
}

// From any event on, a run is told the same.
func TestARunIsFollowedAgainFromAnyOfItsEvents(t *testing.T) {
	t.Parallel()
	var src strings.Builder
	for i := range 700 { // beyond what is remembered of the places of events
		fmt.Fprintf(&src, "say %q\n", fmt.Sprintf("%d\n", i))
	}
	src.WriteString("gate go\nsay last\n")
	w := open(t, src.String(), nil)
	s := w.query("trn_1", "go")
	var all []runner.Frame
	for range 701 {
		f, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	s.Close() // nobody listens, and the run goes on
	w.engine.Open("go")
	for _, after := range []uint64{0, 1, 255, 256, 257, 511, 512, 700, 701, 702} {
		got := w.to(w.attach("trn_1", after), runner.Completed)
		if got[0].ID != after+1 || got[len(got)-1].ID != 703 {
			t.Errorf("after %d: from %d to %d", after, got[0].ID, got[len(got)-1].ID)
		}
		for _, f := range got {
			if f.ID <= 701 && !reflect.DeepEqual(f, all[f.ID-1]) {
				t.Errorf("event %d is %+v, was %+v", f.ID, f, all[f.ID-1])
			}
		}
	}
	for _, c := range []struct{ id, last string }{{"trn_1", "704"}, {"trn_1", "x"}, {"trn_1", "-1"}} {
		if code, body := w.do("GET", "/runs/"+c.id+"/events", "", "Last-Event-ID", c.last); code != 400 {
			t.Errorf("after %s: %d %s", c.last, code, body)
		}
	}
	if code, _ := w.do("DELETE", "/runs/trn_1", ""); code != 204 {
		t.Errorf("DELETE: %d", code)
	}
	if code, _ := w.do("GET", "/runs/trn_1/events", ""); code != 404 {
		t.Errorf("after DELETE: %d", code)
	}
}

func TestAQuestionWaitsForOneAnswer(t *testing.T) {
	t.Parallel()
	w := open(t, "ask bash toolu_1 {\"command\":\"x\"} access=execute reason=\"because\" \"Run it\" => ran\nsay done\n", nil)
	s := w.query("trn_1", "go")
	asked := w.to(s, runner.Asked)
	f := asked[len(asked)-1]
	if f.ToolUseID != "toolu_1" || f.ToolName != "bash" || string(f.Input) != `{"command":"x"}` || f.Access != harness.AccessExecute || f.Description != "Run it" || f.Reason != "because" {
		t.Errorf("the question is %+v", f)
	}
	st, err := w.Status(w.ctx(), "trn_1")
	if want := []runner.Question{{ToolUseID: "toolu_1", Frame: f.ID}}; err != nil || !reflect.DeepEqual(st.Pending, want) || st.Frame != f.ID {
		t.Errorf("the run is %+v, %v; want %+v", st, err, want)
	}
	allow := runner.Answer{Decision: harness.Decision{Verdict: harness.Allow, Scope: harness.Once}}
	if err := w.Decide(w.ctx(), "trn_1", "toolu_2", allow); !runner.Refused(err, 404) {
		t.Errorf("another call: %v", err)
	}
	if err := w.Decide(w.ctx(), "trn_1", "toolu_1", runner.Answer{Decision: harness.Decision{Verdict: "perhaps"}}); !runner.Refused(err, 400) {
		t.Errorf("no verdict: %v", err)
	}
	for range 2 { // the same again is fine
		if err := w.Decide(w.ctx(), "trn_1", "toolu_1", allow); err != nil && !runner.Refused(err, 404) { // or the run is over
			t.Error(err)
		}
	}
	if err := w.Decide(w.ctx(), "trn_1", "toolu_1", runner.Answer{Decision: harness.Decision{Verdict: harness.Deny}}); !runner.Refused(err, 409, 404) {
		t.Errorf("another answer: %v", err)
	}
	if got := text(w.to(s, runner.Completed)); got != "done" {
		t.Errorf("the run said %q", got)
	}
}

func TestAnAnswerMayBeThatThereIsNone(t *testing.T) {
	t.Parallel()
	w := open(t, "ask bash toolu_1 {} => ran\n", nil)
	s := w.query("trn_1", "go")
	w.to(s, runner.Asked)
	if err := w.Decide(w.ctx(), "trn_1", "toolu_1", runner.Answer{Error: &runner.Problem{Code: "invalid", Message: "not open"}}); err != nil {
		t.Fatal(err)
	}
	all := w.to(s, runner.Failed)
	if f := all[len(all)-1]; !strings.Contains(f.Message, "not open: invalid input") {
		t.Errorf("the run failed with %q", f.Message)
	}
}

func TestWordsAreHeardOnceByTheirKey(t *testing.T) {
	t.Parallel()
	w := open(t, "say waiting\nsteer \"1:\"\ngate go\nlisten \" 2:\"\n", nil)
	s := w.query("trn_1", "go")
	w.to(s, runner.Delta)
	for range 3 {
		if got, err := w.Steer(w.ctx(), "trn_1", runner.Words{Key: "itm_1", Message: "left"}); err != nil || got.State != runner.Running {
			t.Fatal(got, err)
		}
	}
	if got := text(w.to(s, runner.Delta)); got != "1:left" {
		t.Errorf("heard %q", got)
	}
	for key, word := range map[string]string{"itm_1": "left", "itm_2": "right"} {
		if _, err := w.Steer(w.ctx(), "trn_1", runner.Words{Key: key, Parts: harness.TextPart(word)}); err != nil {
			t.Fatal(err)
		}
	}
	w.engine.Open("go")
	if got := text(w.to(s, runner.Completed)); got != " 2:right" {
		t.Errorf("heard %q", got)
	}
}

// A word that comes when the run has just completed is not lost: the run goes on.
func TestAWordThatComesTooLateOpensTheRunAgain(t *testing.T) {
	t.Parallel()
	w := open(t, "say first\n=== next\nsay you said:\necho\n", nil)
	all := w.to(w.query("trn_1", "go"), runner.Completed)
	end := all[len(all)-1].ID
	for i := range 2 {
		got, err := w.Steer(w.ctx(), "trn_1", runner.Words{Key: "itm_1", Message: "wait"})
		if err != nil || got.State != runner.Running && got.Frame == end {
			t.Errorf("said the %dth time: %+v, %v", i+1, got, err)
		}
	}
	more := w.to(w.attach("trn_1", end), runner.Completed)
	if more[0].ID != end+1 || text(more) != "you said:wait" {
		t.Errorf("the run goes on with %d: %q", more[0].ID, text(more))
	}
}

func TestARunIsCancelledOnceAndItsWordsAreRefused(t *testing.T) {
	t.Parallel()
	w := open(t, "say working\nhang\n", nil)
	s := w.query("trn_1", "go")
	w.to(s, runner.Delta)
	for range 2 {
		if err := w.Cancel(w.ctx(), "trn_1", runner.Cancelling{}); err != nil {
			t.Fatal(err)
		}
	}
	w.next(s, runner.Cancelled)
	if _, err := s.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}
	if _, err := w.Steer(w.ctx(), "trn_1", runner.Words{Message: "hello"}); !runner.Refused(err, 409) {
		t.Errorf("words to a cancelled run: %v", err)
	}
	if err := w.Cancel(w.ctx(), "trn_2", runner.Cancelling{}); !runner.Refused(err, 404) {
		t.Errorf("another run: %v", err)
	}
}

func TestARunWithoutAnIDEndsWithItsConnection(t *testing.T) {
	t.Parallel()
	w := open(t, "say working\nhang\n", nil)
	ctx, cancel := context.WithCancel(w.ctx())
	s, err := w.Query(ctx, runner.Query{Prompt: "go"})
	if err != nil {
		t.Fatal(err)
	}
	w.to(s, runner.Delta)
	h, err := w.Health(w.ctx())
	if err != nil {
		t.Fatal(err)
	}
	follower := w.attach(h.Run.RequestID, 0)
	cancel()
	w.to(follower, runner.Cancelled)
}

func TestTheConfigurationOfARunCanChange(t *testing.T) {
	t.Parallel()
	seen := make(chan harness.Config)
	w := openEngine(t, func(ctx context.Context, _ harness.Turn, h harness.Host) error {
		seen <- h.Config()
		<-seen
		seen <- h.Config()
		return nil
	})
	w.query("trn_1", "go")
	<-seen
	want := harness.Config{Model: "big", PermissionMode: harness.FullAuto}
	if err := w.Configure(w.ctx(), "trn_1", want); err != nil {
		t.Fatal(err)
	}
	seen <- harness.Config{}
	if got := <-seen; got != want {
		t.Errorf("the configuration is %+v, want %+v", got, want)
	}
}

// engineFunc is an engine in a test's own words.
type engineFunc func(context.Context, harness.Turn, harness.Host) error

func (f engineFunc) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	return f(ctx, t, h)
}
func (engineFunc) Abilities() harness.Abilities { return harness.Abilities{Tools: true} }

func openEngine(t *testing.T, f engineFunc) *stage {
	t.Helper()
	w := open(t, "", nil)
	return w.with(f, &runner.Options{})
}

func TestTheTurnIsWhatTheQuerySays(t *testing.T) {
	t.Parallel()
	var got harness.Turn
	var history []harness.Seq
	w := openEngine(t, func(ctx context.Context, turn harness.Turn, h harness.Host) error {
		got = turn
		for e, err := range h.History(ctx, 1) {
			if err != nil {
				return err
			}
			history = append(history, e.Seq)
		}
		return nil
	})
	var log [][]byte
	for i := range harness.Seq(3) {
		log = append(log, harness.NewEvent("ses_1", i+1, time.Now(), "", &harness.Token{Text: "x"}).JSON())
	}
	q := runner.Query{
		Prompt: "go", Resume: "ref", RequestID: "trn_1", SessionID: "ses_1", Kind: harness.Background, Attempt: 2, Fresh: true, Directory: t.TempDir(), Began: 3,
		Config: &harness.Config{Model: "m"}, Parts: []harness.Part{{Type: "text", Text: "go"}, {Type: "file", Path: "a"}},
	}
	for _, raw := range log {
		q.History = append(q.History, raw)
	}
	s, err := w.Query(w.ctx(), q)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w.to(s, runner.Completed)
	want := harness.Turn{Session: "ses_1", Kind: harness.Background, ID: "trn_1", Attempt: 2, Parts: q.Parts, Fresh: true, Directory: q.Directory, Ref: "ref", Config: *q.Config, Began: 3}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the turn is %+v, want %+v", got, want)
	}
	if !reflect.DeepEqual(history, []harness.Seq{2, 3}) {
		t.Errorf("the history is %v", history)
	}
}

func TestARunThatSaysTooMuchFailsAndSaysSo(t *testing.T) {
	t.Parallel()
	w := open(t, "", nil)
	w = w.with(engineFunc(func(ctx context.Context, _ harness.Turn, h harness.Host) error {
		for {
			if err := h.Emit(ctx, &harness.Token{Text: strings.Repeat("x", 1000)}); err != nil {
				<-ctx.Done() // also an engine that does not listen is stopped
				return nil
			}
		}
	}), &runner.Options{MaxSpool: 100_000, Spool: t.TempDir()})
	all := w.to(w.query("trn_1", "go"), runner.Failed)
	if f := all[len(all)-1]; !strings.Contains(f.Message, "more than is kept") || len(all) < 50 {
		t.Errorf("%d events, and then %+v", len(all), f)
	}
}

func TestAPanicOfTheEngineIsTheFailureOfItsRun(t *testing.T) {
	t.Parallel()
	w := openEngine(t, func(context.Context, harness.Turn, harness.Host) error { panic("oh") })
	all := w.to(w.query("trn_1", "go"), runner.Failed)
	if f := all[len(all)-1]; !strings.Contains(f.Message, "panicked: oh") {
		t.Errorf("got %+v", f)
	}
	w.to(w.query("trn_2", "go"), runner.Failed)
}

func TestNobodyIsServedWithoutTheTokenAndNoBrowserAtAll(t *testing.T) {
	t.Parallel()
	w := open(t, "say hello\n", &runner.Options{Token: "sesame-sesame-sesame"})
	for _, path := range []string{"GET /health", "POST /query", "GET /runs/x", "DELETE /runs/x", "POST /runs/x/cancel"} {
		method, at, _ := strings.Cut(path, " ")
		for _, header := range []string{"", "Bearer wrong", "Basic sesame-sesame-sesame", "sesame-sesame-sesame"} {
			if code, _ := w.do(method, at, `{"prompt":"x"}`, "Authorization", header); code != 401 {
				t.Errorf("%s with %q: %d", path, header, code)
			}
		}
		if code, _ := w.do(method, at, `{"prompt":"x"}`, "Authorization", "Bearer sesame-sesame-sesame", "Origin", "https://evil.example"); code != 403 {
			t.Errorf("%s from a page: %d", path, code)
		}
	}
	w.to(w.query("trn_1", "go"), runner.Completed)
	if code, _ := w.do("POST", "/query", `prompt=x`, "Authorization", "Bearer sesame-sesame-sesame", "Content-Type", "text/plain"); code != 400 {
		t.Errorf("a form: %d", code)
	}
}

func TestWhatARunnerIsAskedHasBounds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := open(t, "say hello\n", &runner.Options{Directory: dir, Within: dir})
	for _, c := range []struct {
		path, body string
		code       int
	}{
		{"/query", `{`, 400}, {"/query", `{}`, 400}, {"/query", `{"prompt":"x","requestId":"../x"}`, 400}, {"/query", `{"prompt":"x","directory":"rel"}`, 400},
		{"/query", `{"prompt":"x","directory":"` + dir + `/../other"}`, 403}, {"/query", `{"prompt":"x","directory":"/"}`, 403}, {"/query", `{"prompt":"x","directory":"` + dir + `/a"}`, 200},
		{"/workspace/rewind", `{"mark":"m"}`, 501}, {"/runs/x/steer", `{"message":"` + strings.Repeat("x", runner.MaxCommand) + `"}`, 404},
	} {
		if code, body := w.do("POST", c.path, c.body); code != c.code {
			t.Errorf("POST %s %.100s: %d %.200s, want %d", c.path, c.body, code, body, c.code)
		}
	}
	w.to(w.query("trn_1", "go"), runner.Completed)
	if code, _ := w.do("POST", "/runs/trn_1/steer", `{"message":"`+strings.Repeat("x", runner.MaxCommand)+`"}`); code != 413 {
		t.Errorf("a long word: %d", code)
	}
	if code, _ := w.do("POST", "/runs/trn_1/steer", `{"message":""}`); code != 400 {
		t.Errorf("no word: %d", code)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestARunnerRestsWhenNobodyNeedsItAndNotBefore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := runner.New(script.New(must(script.Parse("say a\n")), nil), nil)
		defer r.Close()
		began := time.Now()
		if err := r.Rest(t.Context(), runner.IdleAfter); err != nil || time.Since(began) != runner.IdleAfter {
			t.Errorf("an idle one rested after %s, %v", time.Since(began), err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(os.ErrClosed)
		if err := r.Rest(ctx, time.Hour); !errors.Is(err, os.ErrClosed) {
			t.Errorf("told to end: %v", err)
		}
	})
}

func TestAClosedRunnerEndsItsRunAndTakesNoOther(t *testing.T) {
	t.Parallel()
	w := open(t, "say working\nhang\n", nil)
	s := w.query("trn_1", "go")
	w.to(s, runner.Delta)
	w.runner.Close()
	all := w.to(s, runner.Failed)
	if f := all[len(all)-1]; !f.Retryable || !strings.Contains(f.Message, "stopped") {
		t.Errorf("got %+v", f)
	}
	if code, _ := w.do("POST", "/query", `{"prompt":"x"}`); code != 503 {
		t.Errorf("after the end: %d", code)
	}
}
