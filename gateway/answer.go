package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"harness"
)

// refusedError is a refusal with a status of its own.
type refusedError struct {
	status     int
	code, text string
}

func (e *refusedError) Error() string { return e.text }

func refused(status int, code, text string) error { return &refusedError{status, code, text} }

// told is what somebody who is refused is told: a code, and why.
func told(err error) (code, text string) {
	_, code, text = refusalOf(err)
	return code, text
}

// refusalOf is the status, the code and the words for err.
func refusalOf(err error) (status int, code, text string) {
	if e, ok := errors.AsType[*refusedError](err); ok {
		return e.status, e.code, e.text
	}
	if _, slow := errors.AsType[*ThrottledError](err); slow {
		return http.StatusTooManyRequests, harness.ErrTooMany.Code, err.Error()
	}
	e := harness.AsError(err)
	status, ok := statuses[e]
	if !ok {
		status = http.StatusInternalServerError
	}
	return status, e.Code, harness.ClientText(err)
}

// statuses are those of the errors that the edge and its logins answer with.
var statuses = map[*harness.Error]int{
	harness.ErrUnauthenticated: http.StatusUnauthorized,
	harness.ErrForbidden:       http.StatusForbidden,
	harness.ErrInvalid:         http.StatusBadRequest,
	harness.ErrTooLarge:        http.StatusRequestEntityTooLarge,
	harness.ErrTooMany:         http.StatusTooManyRequests,
	harness.ErrUnavailable:     http.StatusServiceUnavailable,
}

// refuse answers with an RFC 9457 problem document.
func refuse(w http.ResponseWriter, err error) {
	status, code, text := refusalOf(err)
	if status == http.StatusInternalServerError {
		code, text = harness.ErrInternal.Code, harness.ErrInternal.Text
	}
	throttled, slow := errors.AsType[*ThrottledError](err)
	if l, ok := w.(*line); ok {
		l.refusal = &harness.Refusal{Code: code, Text: text}
	}
	h := w.Header()
	switch status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Bearer realm="harness"`)
	case http.StatusTooManyRequests:
		wait := 1
		if slow {
			wait = max(1, int(math.Ceil(throttled.Wait.Seconds())))
		}
		h.Set("Retry-After", strconv.Itoa(wait))
	case http.StatusMisdirectedRequest, http.StatusRequestURITooLong, http.StatusRequestEntityTooLarge:
		h.Set("Connection", "close")
	}
	h.Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{
		"type": "urn:harness:problem:" + code, "title": http.StatusText(status), "status": status, "code": code, "detail": text,
	}) // a client that is gone needs no answer
}

// contentPolicy lets a page have only what this server serves, and only itself
// be its frame.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
	"manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; object-src 'none'"

// secureHeaders are on every answer. A handler may replace what is not about
// security.
func secureHeaders(h http.Header, n *Names) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "no-store")
	if n.secure && n.public {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// boundBody bounds the size of a body, and the time it may take. One that says
// that it is larger is refused before it is sent, if the client waits for that.
func boundBody(w http.ResponseWriter, r *http.Request, limit int64) error {
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return nil
	}
	if limit == 0 {
		limit = MaxBody
	}
	if limit > 0 && r.ContentLength > limit {
		throwAway(w, r)
		return fmt.Errorf("the body has more than %d bytes: %w", limit, harness.ErrTooLarge)
	}
	if limit > 0 {
		r.Body = http.MaxBytesReader(w, r.Body, limit)
	}
	timeBody(w, r, BodyFor)
	return nil
}

// timeBody bounds the time that a body may take from now on.
func timeBody(w http.ResponseWriter, r *http.Request, d time.Duration) {
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return
	}
	rc := http.NewResponseController(w)
	if rc.SetReadDeadline(time.Now().Add(d)) != nil {
		return // nobody is on the other side
	}
	if _, ok := r.Body.(*timed); !ok {
		r.Body = &timed{ReadCloser: r.Body, rc: rc}
	}
}

// press bounds the time that a stranger may take to take its answer: one that
// asks and does not read would hold its connection for ever.
func (l *line) press() {
	if http.NewResponseController(l.ResponseWriter).SetWriteDeadline(time.Now().Add(AnswerFor)) == nil && l.visit != nil {
		l.visit.pressed.Store(true)
	}
}

// relax ends the bound of an earlier answer on the same connection: a caller may
// be told something for as long as it listens.
func (l *line) relax() {
	if l.visit != nil && l.visit.pressed.Swap(false) {
		http.NewResponseController(l.ResponseWriter).SetWriteDeadline(time.Time{}) // it could be set, so it can be ended
	}
}

// Bounds of what is read only to be thrown away: a body that somebody took for
// small enough, over a line that is not slow.
const (
	maxAway = 16 << 20
	awayFor = 5 * time.Second
)

// throwAway reads what a client sends without waiting to be told that it may:
// closing a connection with unread bytes inside resets it, and destroys the
// answer on its way.
func throwAway(w http.ResponseWriter, r *http.Request) {
	rc := http.NewResponseController(w)
	if r.Header.Get("Expect") != "" || rc.SetReadDeadline(time.Now().Add(awayFor)) != nil {
		return
	}
	io.CopyN(io.Discard, r.Body, maxAway) // whatever is left, or wrong, the answer is the same
}

// timed ends the time limit with the body, because the answer may take longer.
type timed struct {
	io.ReadCloser
	rc *http.ResponseController
}

func (t *timed) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	if err == io.EOF {
		t.rc.SetReadDeadline(time.Time{}) // it could be set, so it can be ended
	}
	return n, err
}
