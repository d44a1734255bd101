package rest

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"harness/internal/shape"
	"harness/internal/strict"
)

// Bounds of what a client may send.
const (
	// maxBody holds the largest prompt once over, escaped.
	maxBody = 1 << 20
	// maxKey is the length of the kernel's client keys.
	maxKey = 128
	// bodyFor and importFor are how long a client may take to send its body.
	bodyFor   = 30 * time.Second
	importFor = 5 * time.Minute
)

// deadline bounds the time to read a body; call what it returns when it is read
// to its end. What was not, keeps its bound: the rest of it is waited for before
// the answer.
func deadline(w http.ResponseWriter, d time.Duration) (done func()) {
	c := http.NewResponseController(w) // one without deadlines has nobody on the other side
	c.SetReadDeadline(time.Now().Add(d))
	return func() { c.SetReadDeadline(time.Time{}) }
}

// readParams fills the struct that into points to from path and query.
func readParams(r *http.Request, plan *shape.Plan, into any) error {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil { // what cannot be read must not count as left out
		return badField("query", "is not well formed")
	}
	return broken(plan.Values(func(name string) (string, bool) {
		if v := r.PathValue(name); v != "" {
			return v, true
		}
		return query.Get(name), query.Has(name)
	}, into))
}

// readBody fills the struct that into points to from a JSON object. A body that
// is left out is an empty object.
func readBody(w http.ResponseWriter, r *http.Request, plan *shape.Plan, into any) error {
	done := deadline(w, bodyFor)
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return unread(err, maxBody)
	}
	done()
	if len(body) == 0 {
		return broken(plan.Read([]byte("{}"), into))
	}
	if err := mediaIs(r, mediaJSON); err != nil {
		return err
	}
	body = []byte(strings.Trim(string(body), " \t\r\n"))
	if err := strict.Check(body, maxBody); err != nil {
		return badField("body", "must be JSON that is understood alike everywhere: "+err.Error())
	}
	if body[0] != '{' {
		return badField("body", "must be an object")
	}
	return broken(plan.Read(body, into))
}

// unread says why a body could not be read.
func unread(err error, limit int64) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooBig(limit)
	}
	return badField("body", "it ended before its end")
}

func tooBig(limit int64) error {
	p := *errBodyTooBig
	p.Detail = fmt.Sprintf("the body has more than %d bytes", limit)
	return &p
}

// mediaIs refuses a body of a type that is not among those wanted.
func mediaIs(r *http.Request, wanted ...string) error {
	got, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || !slices.Contains(wanted, got) {
		p := *errMedia
		p.Detail = "wanted " + strings.Join(wanted, " or ")
		return &p
	}
	return nil
}

// idempotencyKey is the request's Idempotency-Key; it may have none.
func idempotencyKey(r *http.Request) (string, error) {
	key := r.Header.Get("Idempotency-Key")
	if len(key) > maxKey || !utf8.ValidString(key) {
		return "", badField("Idempotency-Key", fmt.Sprintf("must be at most %d bytes of UTF-8", maxKey))
	}
	return key, nil
}
