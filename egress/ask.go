package egress

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// MaxBody bounds a request: what the largest provider takes.
	MaxBody = 32 << 20
	// maxHeld bounds the requests that a proxy holds at a time, together.
	maxHeld = 256 << 20
	// maxModel bounds the name of a model.
	maxModel = 200
	// unstated is the output of a request that names no bound: the most that a
	// model gives in one answer.
	unstated = 128_000
	// window is the most that a model reads, for requests that only name what it is.
	window = 1 << 20
)

// ask is a request for a model, as far as it is judged.
type ask struct {
	model  string
	others bool // it names further models
	stored bool // it goes on from something that the provider keeps
	body   []byte
	most   int64 // tokens of output, at most
}

// bound is how many tokens the whole exchange may use: a token has a byte at
// least.
func (a *ask) bound() int64 {
	if a.stored {
		return window + a.most
	}
	return int64(len(a.body)) + a.most
}

// readBody reads the body of a request, whole. release gives its memory back.
func (p *Proxy) readBody(w http.ResponseWriter, r *http.Request) (body []byte, release func(), err error) {
	switch {
	case r.Header.Get("Content-Encoding") != "":
		return nil, nil, refuseEncoding
	case r.ContentLength > MaxBody:
		return nil, nil, refuseSize
	case !p.hold(r.ContentLength):
		return nil, nil, refuseFull
	}
	release = func() { p.hold(-r.ContentLength) }
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(p.opts.Body))
	body = make([]byte, 0, min(r.ContentLength, 1<<20)+1)
	for {
		n, err := r.Body.Read(body[len(body):cap(body)])
		if body = body[:len(body)+n]; err == io.EOF {
			break
		}
		if err != nil {
			release()
			return nil, nil, refuseShort
		}
		if len(body) == cap(body) {
			body = append(body, 0)[:len(body)]
		}
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	return body, release, nil
}

// hold counts bytes that are held, unless there are too many.
func (p *Proxy) hold(n int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n > 0 && p.held+n > maxHeld {
		return false
	}
	p.held += n
	return true
}

// readAsk finds in a body what decides about it.
func readAsk(body []byte) (*ask, error) {
	f, ok := fields(body, "model", "models", "max_tokens", "max_output_tokens", "max_completion_tokens", "n", "background", "previous_response_id", "conversation")
	a := &ask{body: body, most: unstated}
	a.others = given(f["models"])
	a.stored = given(f["previous_response_id"]) || given(f["conversation"])
	if !ok || json.Unmarshal(f["model"], &a.model) != nil || a.model == "" || len(a.model) > maxModel {
		return nil, refuseBody
	}
	if b := f["background"]; given(b) && string(b) != "false" {
		return nil, refuseBackground
	}
	stated := int64(0)
	for _, name := range []string{"max_tokens", "max_output_tokens", "max_completion_tokens"} {
		stated = max(stated, count(f[name]))
	}
	if stated > 0 {
		a.most = stated
	}
	a.most *= max(1, count(f["n"]))
	return a, nil
}

// given reports whether a field says anything.
func given(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// count is a number of tokens or answers; 0 if it is none. It cannot make a
// product overflow.
func count(raw json.RawMessage) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return min(n, 1<<24)
}
