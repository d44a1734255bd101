package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/engine/enginetest"
	"harness/engine/remote"
)

// patience is how long anything may take that takes no time, on a machine that
// has much else to do.
const patience = 60 * time.Second

// s2Only is a runner by S2's text and nothing else: it was written without a
// look at ours.
func s2Only(w http.ResponseWriter, r *http.Request) {
	switch r.Method + " " + r.URL.Path {
	case "GET /health":
		fmt.Fprint(w, `{ "ok": true, "busy": false, "hasAnthropicKey": true }`)
	case "POST /query":
		var q struct{ Prompt string }
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		send := func(event, data string) {
			fmt.Fprintf(w, "event: %s\ndata: {\"type\":%q%s}\n\n", event, event, data)
			w.(http.Flusher).Flush()
		}
		send("run.started", `,"requestId":"r-1"`)
		switch q.Prompt {
		case "fail":
			send("run.error", `,"message":"the model is away"`)
		case "silent":
			send("run.completed", `,"result":"only a result"`)
		case "hang":
			send("assistant.delta", `,"text":"working"`)
			<-r.Context().Done()
		case "vanish":
			send("assistant.delta", `,"text":"half"`)
		default:
			send("assistant.delta", `,"text":"Hello"`)
			send("tool.started", `,"toolName":"Read","toolUseId":"toolu_1"`)
			send("assistant.delta", `,"text":" world"`)
			send("run.completed", `,"result":"Hello world","sessionId":"conv-7"`)
		}
	default:
		http.NotFound(w, r)
	}
}

// serve is an engine whose runner is a handler.
func serve(t testing.TB, h http.HandlerFunc) *remote.Engine {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	e, err := remote.Open(srv.URL, "a token of some length")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// run is one turn on a host that records it.
func run(t testing.TB, e harness.Engine, prompt string) (*enginetest.Host, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	h := enginetest.NewHost("ses_1")
	err := e.Run(ctx, h.Begin(prompt), h)
	if ctx.Err() != nil {
		t.Fatalf("%q: the turn did not end", prompt)
	}
	return h, err
}

// said is what the assistant said.
func said(s *harness.State) string {
	var b strings.Builder
	for _, m := range s.Messages {
		if m.Role == harness.Assistant {
			b.WriteString(m.Content.String())
		}
	}
	return b.String()
}

func TestARunnerThatKnowsOnlyS2Works(t *testing.T) {
	t.Parallel()
	e := serve(t, s2Only)
	if lacks := e.Abilities().Lacks(); !slices.Contains(lacks.Events, "tool_outcome") || !slices.Contains(lacks.Commands, "approve") {
		t.Errorf("it lacks %+v", lacks)
	}
	told := enginetest.NewLedger(t)
	heard := told.Watch(t, e)
	h, err := run(t, heard, "go")
	if err != nil {
		t.Fatal(err)
	}
	s := h.State()
	if said(s) != "Hello world" || s.EngineRef != "conv-7" || len(s.Turn.Open) != 1 || s.Turn.Open[0].ID != "toolu_1" || s.Turn.Open[0].Name != "Read" {
		t.Errorf("said %q, ref %q, calls %+v", said(s), s.EngineRef, s.Turn.Open)
	}
	if h, err := run(t, e, "silent"); err != nil || said(h.State()) != "only a result" {
		t.Errorf("a runner that does not stream: %q, %v", said(h.State()), err)
	}
	if _, err := run(t, e, "fail"); err == nil || err.Error() != "the model is away" || errors.Is(err, harness.ErrRetry) {
		t.Errorf("a run that fails: %v", err)
	}
	if h, err := run(t, e, "vanish"); !errors.Is(err, harness.ErrRetry) || said(h.State()) != "half" {
		t.Errorf("a stream that ends too early: %v", err)
	}
	turn := enginetest.NewHost("ses_1").Begin("go")
	if e.Survives(t.Context(), turn) {
		t.Error("a run of S2's text cannot be followed again")
	}
	h.End(nil)
	if err := heard.Run(t.Context(), h.Begin("go on"), h); err != nil {
		t.Errorf("a conversation that goes on: %v", err)
	}
	h.End(nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	h.After = func(string) { cancel(harness.ErrNotRunning) }
	if err := heard.Run(ctx, h.Begin("hang"), h); !errors.Is(err, harness.ErrNotRunning) {
		t.Errorf("a run that is cancelled: %v", err)
	}
	told.Settle(e.Abilities(), 1)
}

func TestHangingUpCancelsARunOfS2sText(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	e := serve(t, func(w http.ResponseWriter, r *http.Request) {
		s2Only(w, r)
		if r.URL.Path == "/query" {
			close(left)
		}
	})
	for name, cause := range map[string]error{"cancel": harness.ErrNotRunning, "shutdown": harness.ErrShutdown} {
		ctx, cancel := context.WithCancelCause(t.Context())
		h := enginetest.NewHost("ses_1")
		h.After = func(what string) {
			if what == "emit token" {
				cancel(cause)
			}
		}
		left = make(chan struct{})
		if err := e.Run(ctx, h.Begin("hang"), h); !errors.Is(err, cause) {
			t.Errorf("%s: %v", name, err)
		}
		select {
		case <-left:
		case <-time.After(patience):
			t.Fatalf("%s: the runner still works", name)
		}
	}
}

func TestARunnerThatBreaksTheProtocolEndsItsTurnWithOneError(t *testing.T) {
	t.Parallel()
	const begin = "id: 1\nevent: run.started\ndata: {\"type\":\"run.started\",\"requestId\":\"%s\"}\n\n"
	event := func(id int, kind, fields string) string {
		return fmt.Sprintf("id: %d\nevent: %s\ndata: {\"type\":%q%s}\n\n", id, kind, kind, fields)
	}
	endless := func(unit string) func(io.Writer) {
		return func(w io.Writer) {
			for range 100 << 20 / len(unit) {
				if _, err := io.WriteString(w, unit); err != nil {
					return
				}
			}
		}
	}
	long := strings.Repeat("x", 64<<10)
	for _, c := range []struct {
		name, say string
		more      func(io.Writer)
		want      string // "" completes
	}{
		{"an event of 100 MB", begin + "data: ", endless(long), "larger than"},
		{"a line without an end", begin, endless(long), "larger than"},
		{"nothing but comments", begin + ":", endless(long + "\n:"), "larger than"},
		{"the events of another run", strings.ReplaceAll(begin, "%s", "trn_other"), nil, "asked for"},
		{"a beginning without an id", begin[len("id: 1\n"):] + event(1, "assistant.delta", ""), nil, "comes after"},
		{"a gap", begin + event(3, "assistant.delta", `,"text":"x"`), nil, "event 3 comes after event 1"},
		{"an event twice", begin + event(2, "assistant.delta", `,"text":"x"`) + event(2, "assistant.delta", `,"text":"x"`), nil, "event 2 comes after event 2"},
		{"no beginning", event(1, "assistant.delta", `,"text":"x"`), nil, "begins with"},
		{"two beginnings", begin + event(2, "run.started", `,"requestId":"x"`), nil, "begins twice"},
		{"a call without a name", begin + event(2, "tool.started", `,"toolUseId":"t"`), nil, "is named"},
		{"a call with a long id", begin + event(2, "tool.started", `,"toolName":"a","toolUseId":"`+long+`"`), nil, "is named"},
		{"a call with bells", begin + event(2, "tool.started", `,"toolName":"a\u0007","toolUseId":"t"`), nil, "is named"},
		{"a question about nothing", begin + event(2, "approval.requested", `,"toolName":"a","toolUseId":"t"`), nil, "not open"},
		{"what only the server says", begin + event(2, "event", `,"name":"turn_end","payload":{"turn_id":"x","status":"completed"}`), nil, "invalid input"},
		{"the words of a user", begin + event(2, "event", `,"name":"user_message","payload":{"item_id":"x","parts":[]}`), nil, "invalid input"},
		{"an event without a name", begin + event(2, "event", ``), nil, "no name"},
		{"no JSON", begin + "id: 2\ndata: hello\n\n", nil, "not JSON"},
		{"JSON of another kind", begin + "id: 2\nevent: assistant.delta\ndata: {\"text\":7}\n\n", nil, "not JSON"},
		{"a million calls", begin, func(w io.Writer) {
			for i := range 1_000_000 {
				if _, err := io.WriteString(w, event(i+2, "tool.started", fmt.Sprintf(`,"toolName":"a","toolUseId":"t%d"`, i))); err != nil {
					return
				}
			}
		}, "more than 10000 calls"},
		{"an unknown kind", begin + event(2, "of.tomorrow", `,"x":1`) + event(3, "run.completed", ``), nil, ""},
		{"two ends", begin + event(2, "run.completed", ``) + event(3, "run.completed", ``), nil, ""},
		{"words after the end", begin + event(2, "run.completed", ``) + event(3, "assistant.delta", `,"text":"forged"`), nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := serve(t, func(w http.ResponseWriter, r *http.Request) {
				switch r.Method + " " + r.URL.Path {
				case "GET /health":
					fmt.Fprint(w, `{"ok":true,"busy":false,"hasAnthropicKey":false,"abilities":{"tools":true}}`)
				case "POST /query":
					var q struct{ RequestID string }
					_ = json.NewDecoder(r.Body).Decode(&q)
					w.Header().Set("Content-Type", "text/event-stream")
					fmt.Fprint(w, strings.ReplaceAll(c.say, "%s", q.RequestID))
					w.(http.Flusher).Flush()
					if c.more != nil {
						c.more(w)
					}
				default:
					http.NotFound(w, r)
				}
			})
			h, err := run(t, e, "go")
			switch {
			case c.want == "" && err != nil:
				t.Errorf("Run returned %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "does not keep to its protocol") || errors.Is(err, harness.ErrRetry)):
				t.Errorf("Run returned %v, want a fault with %q", err, c.want)
			}
			if strings.Contains(said(h.State()), "forged") {
				t.Error("it spoke after its end")
			}
		})
	}
}

func TestAnAnswerThatIsNoStreamOfEventsIsRefused(t *testing.T) {
	t.Parallel()
	reached := false
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer target.Close()
	const well = `{"ok":true,"busy":false,"hasAnthropicKey":false}`
	for _, c := range []struct {
		name          string
		health, query http.HandlerFunc
		want          string
	}{
		{"another content type", nil, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "hi")
		}, `is "text/html"`},
		{"a packed stream", nil, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Content-Encoding", "gzip")
		}, "encoded"},
		{"a redirect", nil, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, target.URL, http.StatusTemporaryRedirect)
		}, "redirect"},
		{"a redirect of health", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target.URL, http.StatusFound) }, nil, "redirect"},
		{"no runner at all", http.NotFound, nil, "no runner"},
		{"a page", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, nil, "no runner"},
		{"an endless answer", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat(" ", 2<<20)+well) }, nil, "larger"},
		{"not well", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"ok":false}`) }, nil, "not well"},
		{"a stranger", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, nil, "401"},
		{"a failure", nil, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "500"},
	} {
		e := serve(t, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/query" && c.query != nil:
				c.query(w, r)
			case c.health != nil:
				c.health(w, r)
			default:
				fmt.Fprint(w, well)
			}
		})
		if _, err := run(t, e, "go"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Run returned %v, want %q", c.name, err, c.want)
		}
	}
	if reached {
		t.Error("a redirect was followed")
	}
}
