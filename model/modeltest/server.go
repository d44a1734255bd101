package modeltest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is an http.Handler that answers by a script and remembers what it was
// asked. It can be asked by any number of clients at once.
type Server struct {
	URL string // of a server made by Serve

	script *Script
	closed chan struct{}

	mu       sync.Mutex // guards the fields below
	requests []*Request
	answers  int
	gates    map[string]*gate
}

type gate struct {
	reached, open       chan struct{}
	isReached, isOpened bool
}

// maxBody bounds what is kept of a request.
const maxBody = 64 << 20

// New makes a server for a script. Close lets go of whoever is paused.
func New(script *Script) *Server {
	return &Server{script: script, closed: make(chan struct{}), gates: map[string]*gate{}}
}

// Serve runs a server on loopback until the test ends.
func Serve(tb testing.TB, script string) *Server {
	tb.Helper()
	parsed, err := Parse(script)
	if err != nil {
		tb.Fatal(err)
	}
	s := New(parsed)
	h := httptest.NewServer(s)
	s.URL = h.URL
	tb.Cleanup(func() {
		s.Close()
		h.CloseClientConnections()
		h.Close()
	})
	return s
}

// Close ends all pauses. It is called once.
func (s *Server) Close() { close(s.closed) }

func (s *Server) gate(name string) *gate {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.gates[name]
	if g == nil {
		g = &gate{reached: make(chan struct{}), open: make(chan struct{})}
		s.gates[name] = g
	}
	return g
}

// Open lets everybody through who is paused at the gate, now and later.
func (s *Server) Open(name string) {
	g := s.gate(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !g.isOpened {
		g.isOpened = true
		close(g.open)
	}
}

// Reached is closed when an answer has come to the gate for the first time.
// Everything before it has been written then.
func (s *Server) Reached(name string) <-chan struct{} { return s.gate(name).reached }

// pause waits at a gate; it returns false if the client left or the server closed.
func (s *Server) pause(ctx context.Context, name string) bool {
	g := s.gate(name)
	s.mu.Lock()
	if !g.isReached {
		g.isReached = true
		close(g.reached)
	}
	s.mu.Unlock()
	select {
	case <-g.open:
		return true
	case <-ctx.Done():
	case <-s.closed:
	}
	return false
}

// Requests are those that asked for an answer, in the order in which they came.
func (s *Server) Requests() (asked []*Request) {
	for _, r := range s.All() {
		if r.N > 0 {
			asked = append(asked, r)
		}
	}
	return asked
}

// All are the requests of any kind.
func (s *Server) All() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Request(nil), s.requests...)
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return // the client left
	}
	req := &Request{Method: r.Method, Path: r.URL.RequestURI(), Header: r.Header.Clone(), Body: body, Format: Other}
	path := strings.TrimPrefix(r.URL.Path, "/v1")
	if r.Method == http.MethodPost {
		switch path {
		case "/messages":
			req.Format = Messages
		case "/responses":
			req.Format = Responses
		case "/chat/completions":
			req.Format = Chat
		}
		if model, stream, ok := generates(r.URL.Path); ok {
			req.Format, req.Model, req.Stream = Generate, model, stream
		}
	}
	req.read()
	s.mu.Lock()
	if req.Format != Other {
		s.answers++
		req.N = s.answers
	}
	s.requests = append(s.requests, req)
	s.mu.Unlock()
	if req.Format == Other {
		s.other(w, r, path, req)
		return
	}
	s.answer(w, r, req)
}

func dialectOf(f Format) dialect {
	switch f {
	case Responses:
		return responses{}
	case Chat:
		return chat{}
	case Generate:
		return generate{}
	case Messages, Other:
	}
	return messages{}
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, req *Request) {
	sp := &speaker{dialect: dialectOf(req.Format), req: req}
	rule := s.script.answer(req)
	if rule == nil {
		complain(w, sp, http.StatusBadRequest, fmt.Sprintf("no rule of the script covers request %d (turn %d, step %d, said %q, results %q)", req.N, req.Turn, req.Step, req.Said, req.Results))
		return
	}
	p := &player{server: s, speaker: sp, w: w, ctx: r.Context()}
	p.write = p.send
	p.play(rule.lines)
}

// complain answers with an error in the words of the protocol.
func complain(w http.ResponseWriter, sp *speaker, status int, text string) {
	identify(w, sp)
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(status)
	w.Write(sp.complaint(sp, status, text)) // a client that left has seen enough
}

// identify names an answer where the protocol does.
func identify(w http.ResponseWriter, sp *speaker) {
	switch sp.req.Format {
	case Messages:
		w.Header().Set("Request-Id", requestID(sp))
	case Responses, Chat, Other:
		w.Header().Set("X-Request-Id", requestID(sp))
	case Generate:
	}
}

// wait returns after d or when the client left.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
