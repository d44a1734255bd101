package modeltest

import (
	"context"
	"net/http"
	"time"
)

// player carries out the lines of one answer.
type player struct {
	*speaker
	server *Server
	w      http.ResponseWriter
	ctx    context.Context
	begun  bool
	slow   bool
	wait   time.Duration
}

// send writes bytes so that they leave now.
func (p *player) send(b []byte) {
	if !p.req.Stream {
		return
	}
	size := len(b)
	if p.slow {
		size = 1
	}
	for ; len(b) > 0; b = b[min(size, len(b)):] {
		if p.wait > 0 {
			wait(p.ctx, p.wait)
		}
		if _, err := p.w.Write(b[:min(size, len(b))]); err != nil {
			return
		}
		p.flush()
	}
}

func (p *player) flush() {
	if f, ok := p.w.(http.Flusher); ok {
		f.Flush()
	}
}

// begin sends the headers and the protocol's opening.
func (p *player) begin() {
	if p.begun {
		return
	}
	p.begun = true
	identify(p.w, p.speaker)
	if !p.req.Stream {
		return
	}
	if p.w.Header().Get("Content-Type") == "" {
		p.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		if p.req.Format == Generate {
			p.w.Header().Set("Content-Type", "text/event-stream")
		}
	}
	p.w.Header().Set("Cache-Control", "no-cache")
	p.w.WriteHeader(http.StatusOK)
	p.flush()
	p.start(p.speaker)
}

func (p *player) play(lines []line) {
	for _, l := range lines { // what is counted at the end is known from the beginning
		switch l.verb {
		case "usage":
			p.use = l.use
		case "stop":
			p.stop = l.name
		}
	}
	for i := range lines {
		if !p.line(&lines[i]) {
			return
		}
	}
	p.begin()
	p.close()
	if p.req.Stream {
		p.finish(p.speaker)
		return
	}
	if p.w.Header().Get("Content-Type") == "" {
		p.w.Header().Set("Content-Type", "application/json")
	}
	p.w.Write(p.whole(p.speaker)) // a client that left has seen enough
}

// line reports whether the answer goes on.
func (p *player) line(l *line) bool {
	switch l.verb {
	case "usage", "stop":
		return true
	case "header":
		p.w.Header().Set(l.name, l.text)
		return true
	case "status":
		complain(p.w, p.speaker, l.n, l.text)
		return false
	case "slow":
		p.slow, p.wait = true, l.wait
		return true
	case "pause":
		return p.pause(l.text)
	}
	if l.verb == "error" && !p.req.Stream { // there is no middle to fail in
		complain(p.w, p.speaker, http.StatusInternalServerError, l.text)
		return false
	}
	p.begin()
	switch l.verb {
	case "say":
		text := l.text
		if b := p.last(); b != nil && !b.done && b.kind == "text" {
			text = " " + text
		}
		p.say("text", "", "", text, words(text))
	case "think":
		p.say("thinking", "", "", l.text, words(l.text))
	case "redact":
		p.say("redacted", "", "", l.text, nil)
	case "call":
		p.say("call", l.id, l.name, l.text, bits(l.text))
		p.close()
	case "part":
		p.say("call", l.id, l.name, l.text, bits(l.text))
	case "ping":
		p.ping(p.speaker)
	case "raw":
		p.send([]byte(l.text))
	case "drop":
		panic(http.ErrAbortHandler)
	case "end":
		return false
	case "error":
		p.fail(p.speaker, l.name, l.text)
		return false
	}
	return true
}

// pause waits at a gate, or without one until the client has left.
func (p *player) pause(gate string) bool {
	if gate != "" {
		return p.server.pause(p.ctx, gate)
	}
	select {
	case <-p.ctx.Done():
	case <-p.server.closed:
	}
	return false
}
