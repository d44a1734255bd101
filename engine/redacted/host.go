package redacted

import (
	"context"
	"errors"
	"sync"

	"harness"
	"harness/internal/redact"
)

// host is a session as the engine sees it, with a stream for every place that
// text goes to.
type host struct {
	harness.Host
	r *redact.Redactor

	mu    sync.Mutex // guards texts
	texts map[place]*redact.Stream
}

// place is where text goes: a message, or the output of a call.
type place struct {
	kind   harness.Type
	item   harness.ItemID
	call   harness.CallID
	stream string
}

// said reports whether it is a message.
func (p place) said() bool { return p.call == "" }

// logOf chooses the output of a call.
func logOf(call harness.CallID) func(place) bool {
	return func(p place) bool { return p.call == call && call != "" }
}

// payload is text at a place.
func (p place) payload(text string) harness.Payload {
	switch {
	case p.call != "":
		return &harness.ToolLog{ToolCallID: p.call, Stream: p.stream, Text: text}
	case p.kind == (*harness.Thinking)(nil).Type():
		return &harness.Thinking{ItemID: p.item, Text: text}
	}
	return &harness.Token{ItemID: p.item, Text: text}
}

// text reports what can be shown at a place after more text. Words that go
// elsewhere end what was said before.
func (h *host) text(ctx context.Context, at place, text string) error {
	if at.said() {
		if err := h.flush(ctx, func(p place) bool { return p.said() && p != at }); err != nil {
			return err
		}
	}
	h.mu.Lock()
	s := h.texts[at]
	if s == nil {
		s = h.r.Stream()
		h.texts[at] = s
	}
	out := s.Next(nil, []byte(text))
	h.mu.Unlock()
	if len(out) == 0 && text != "" {
		return nil
	}
	return h.Host.Emit(ctx, at.payload(string(out)))
}

// flush reports what is held back at some places, and forgets them.
func (h *host) flush(ctx context.Context, which func(place) bool) error {
	var all []harness.Payload
	h.mu.Lock()
	for at, s := range h.texts {
		if which(at) {
			delete(h.texts, at)
			if out := s.End(nil); len(out) > 0 {
				all = append(all, at.payload(string(out)))
			}
		}
	}
	h.mu.Unlock()
	var err error
	for _, p := range all {
		err = errors.Join(err, h.Host.Emit(ctx, p))
	}
	return err
}
