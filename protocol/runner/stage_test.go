package runner_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/engine/script"
	"harness/protocol/runner"
)

const patience = 20 * time.Second

// stage is a runner that plays a script, and a client of it.
type stage struct {
	*testing.T
	engine *script.Engine
	runner *runner.Runner
	url    string
	*runner.Client
}

func open(t *testing.T, src string, opts *runner.Options) *stage {
	t.Helper()
	s, err := script.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	e := script.New(s, nil)
	w := openWith(t, e, opts)
	w.engine = e
	return w
}

// openWith is a stage whose engine is another.
func openWith(t *testing.T, e harness.Engine, opts *runner.Options) *stage {
	t.Helper()
	if opts == nil {
		opts = &runner.Options{}
	}
	w := &stage{T: t}
	w.runner = runner.New(e, opts)
	srv := httptest.NewServer(w.runner)
	t.Cleanup(func() {
		w.runner.Close()
		srv.CloseClientConnections()
		srv.Close()
	})
	w.url = srv.URL
	var err error
	if w.Client, err = runner.NewClient(srv.URL, opts.Token); err != nil {
		t.Fatal(err)
	}
	return w
}

// ctx bounds everything of a test.
func (w *stage) ctx() context.Context {
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	w.Cleanup(cancel)
	return ctx
}

// query starts a run with an id.
func (w *stage) query(id, prompt string) *runner.Stream {
	w.Helper()
	return w.start(runner.Query{Prompt: prompt, RequestID: id, Attempt: 1})
}

// start starts a run.
func (w *stage) start(q runner.Query) *runner.Stream {
	w.Helper()
	s, err := w.Query(w.ctx(), q)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { s.Close() })
	return s
}

func (w *stage) attach(id string, after uint64) *runner.Stream {
	w.Helper()
	s, err := w.Attach(w.ctx(), id, after)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { s.Close() })
	return s
}

// next reads an event, which must be of a kind.
func (w *stage) next(s *runner.Stream, kind runner.Kind) runner.Frame {
	w.Helper()
	f, err := s.Next()
	if err != nil || f.Type != kind {
		w.Fatalf("the next event is %s %+v, %v; want %s", f.Type, f, err, kind)
	}
	return f
}

// to reads up to and with an event of a kind.
func (w *stage) to(s *runner.Stream, kind runner.Kind) (all []runner.Frame) {
	w.Helper()
	for {
		f, err := s.Next()
		if err != nil {
			w.Fatalf("waiting for %s after %+v: %v", kind, all, err)
		}
		if all = append(all, f); f.Type == kind {
			return all
		}
	}
}

// text is what the assistant says in events.
func text(all []runner.Frame) string {
	var b strings.Builder
	for _, f := range all {
		if f.Type == runner.Delta {
			b.WriteString(f.Text)
		}
	}
	return b.String()
}

// do sends what curl would.
func (w *stage) do(method, path, body string, header ...string) (int, string) {
	w.Helper()
	req, err := http.NewRequestWithContext(w.ctx(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		w.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// lines reads what a client of S2's text reads: events and their data.
func lines(t testing.TB, body io.Reader) (all []string) {
	t.Helper()
	for in := bufio.NewScanner(body); in.Scan(); {
		if line := in.Text(); strings.HasPrefix(line, "event: ") || strings.HasPrefix(line, "data: ") {
			all = append(all, line)
		}
	}
	return all
}

// with is another runner, with another engine.
func (w *stage) with(e harness.Engine, opts *runner.Options) *stage {
	w.Helper()
	r := runner.New(e, opts)
	srv := httptest.NewServer(r)
	w.Cleanup(func() {
		r.Close()
		srv.CloseClientConnections()
		srv.Close()
	})
	c, err := runner.NewClient(srv.URL, opts.Token)
	if err != nil {
		w.Fatal(err)
	}
	return &stage{T: w.T, runner: r, url: srv.URL, Client: c}
}
