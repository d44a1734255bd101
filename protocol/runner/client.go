package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"harness"
)

// How long a runner may take for something that takes no time.
const (
	dialWithin   = 5 * time.Second
	answerWithin = 30 * time.Second
)

// rewindWithin is for what takes its time: many files.
const rewindWithin = 10 * time.Minute

// Client talks to one runner, and believes it nothing: every answer has a
// bound, no redirect is followed, nothing compressed is unpacked.
type Client struct {
	http  *http.Client
	slow  *http.Client // for answers that take their time
	base  string
	token string
}

// NewClient is for a runner at a URL of the configuration.
func NewClient(address, token string) (*Client, error) {
	u, g, err := parse(address)
	if err != nil {
		return nil, err
	}
	return newClient(strings.TrimSuffix(u.String(), "/"), token, g.dialer().DialContext), nil
}

// NewSocketClient is for a runner of this machine, behind a Unix socket.
func NewSocketClient(path, token string) *Client {
	return newClient("http://runner", token, func(ctx context.Context, _, _ string) (net.Conn, error) { return DialSocket(ctx, path) })
}

func newClient(base, token string, dial func(ctx context.Context, network, address string) (net.Conn, error)) *Client {
	wire := &http.Transport{
		DialContext: dial, DisableCompression: true, ResponseHeaderTimeout: answerWithin, TLSHandshakeTimeout: dialWithin,
		MaxResponseHeaderBytes: 64 << 10,
		// A connection of its own for each request: a turn leaves none behind.
		DisableKeepAlives: true,
	}
	patient := wire.Clone()
	patient.ResponseHeaderTimeout = rewindWithin
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{
		http: &http.Client{Transport: wire, CheckRedirect: stay}, slow: &http.Client{Transport: patient, CheckRedirect: stay},
		base: base, token: token,
	}
}

// FaultError says that a runner does not keep to the protocol.
type FaultError struct{ What string }

func (e *FaultError) Error() string { return "the runner does not keep to its protocol: " + e.What }

func fault(format string, args ...any) error { return &FaultError{fmt.Sprintf(format, args...)} }

// StatusError is an answer that refuses.
type StatusError struct {
	Code    int
	Problem Problem // empty if the runner did not say
}

func (e *StatusError) Error() string {
	if e.Problem.Message == "" {
		return "the runner answered " + strconv.Itoa(e.Code) + " " + http.StatusText(e.Code)
	}
	return "the runner answered " + strconv.Itoa(e.Code) + ": " + e.Problem.Message
}

// Refused reports whether a runner answered with one of these codes.
func Refused(err error, codes ...int) bool {
	e, ok := errors.AsType[*StatusError](err)
	for _, c := range codes {
		if ok && e.Code == c {
			return true
		}
	}
	return false
}

// do sends a request and returns the answer, if it is one.
func (c *Client) do(ctx context.Context, method, path string, header http.Header, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	for k, v := range header {
		req.Header[k] = v
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := c.http.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // without the address
		}
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	switch code := res.StatusCode; {
	case code >= 200 && code < 300:
		return res, nil
	case code >= 300 && code < 400:
		res.Body.Close()
		return nil, fault("it answers with a redirect")
	}
	defer res.Body.Close()
	said := struct{ Error Problem }{}
	text, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	_ = json.Unmarshal(text, &said) // a runner of somebody else's says it in its own way
	return nil, &StatusError{res.StatusCode, said.Error}
}

// call sends something small and reads something small.
func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	return c.exchange(ctx, MaxCommand, method, path, in, out)
}

// work is call for what takes its time and may have more to tell.
func (c *Client) work(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, rewindWithin)
	defer cancel()
	return (&Client{http: c.slow, base: c.base, token: c.token}).exchange(ctx, MaxFrame, method, path, in, out)
}

// exchange sends something small and reads an answer of at most so many bytes.
func (c *Client) exchange(ctx context.Context, most int64, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = encode(in); err != nil {
			return fmt.Errorf("%s %s: %w: %w", method, path, err, harness.ErrInvalid)
		}
	}
	res, err := c.do(ctx, method, path, nil, body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, most+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s %s: %w", method, path, err)
	case out == nil:
		return nil
	case int64(len(text)) > most:
		return fault("its answer to %s is larger than %d bytes", path, most)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fault("its answer to %s is not JSON of the protocol", path)
	}
	return nil
}

// stream opens a stream of events.
func (c *Client) stream(ctx context.Context, method, path string, header http.Header, body []byte) (*Stream, error) {
	res, err := c.do(ctx, method, path, header, body)
	if err != nil {
		return nil, err
	}
	kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch {
	case err != nil || kind != "text/event-stream":
		res.Body.Close()
		return nil, fault("its stream is %.100q", res.Header.Get("Content-Type"))
	case res.Header.Get("Content-Encoding") != "" && res.Header.Get("Content-Encoding") != "identity":
		res.Body.Close()
		return nil, fault("its stream is encoded as %.100q", res.Header.Get("Content-Encoding"))
	}
	return newStream(res.Body), nil
}

// Query starts a run. ctx bounds the stream, not only the start.
func (c *Client) Query(ctx context.Context, q Query) (*Stream, error) {
	body, err := encode(q)
	if err != nil {
		return nil, fmt.Errorf("query: %w: %w", err, harness.ErrInvalid)
	}
	if len(body) > MaxQuery {
		return nil, fmt.Errorf("query of %d bytes: %w", len(body), harness.ErrTooLarge)
	}
	return c.stream(ctx, http.MethodPost, "/query", http.Header{"Accept": {"text/event-stream"}}, body)
}

// Attach follows a run after one of its events; 0 is all of them.
func (c *Client) Attach(ctx context.Context, id string, after uint64) (*Stream, error) {
	header := http.Header{"Accept": {"text/event-stream"}, "Last-Event-Id": {strconv.FormatUint(after, 10)}}
	return c.stream(ctx, http.MethodGet, "/runs/"+url.PathEscape(id)+"/events", header, nil)
}

// Health asks how the runner is.
func (c *Client) Health(ctx context.Context) (Health, error) {
	var h Health
	return h, c.call(ctx, http.MethodGet, "/health", nil, &h)
}

// Status shows a run.
func (c *Client) Status(ctx context.Context, id string) (Status, error) {
	var s Status
	return s, c.call(ctx, http.MethodGet, "/runs/"+url.PathEscape(id), nil, &s)
}

// Cancel tells a run to end.
func (c *Client) Cancel(ctx context.Context, id string, how Cancelling) error {
	return c.call(ctx, http.MethodPost, "/runs/"+url.PathEscape(id)+"/cancel", how, nil)
}

// Steer says something to a run. One that has completed goes on with it, behind
// its run.completed.
func (c *Client) Steer(ctx context.Context, id string, w Words) (Status, error) {
	var s Status
	return s, c.call(ctx, http.MethodPost, "/runs/"+url.PathEscape(id)+"/steer", w, &s)
}

// Configure changes a run's configuration.
func (c *Client) Configure(ctx context.Context, id string, to harness.Config) error {
	return c.call(ctx, http.MethodPost, "/runs/"+url.PathEscape(id)+"/config", to, nil)
}

// Decide answers a question.
func (c *Client) Decide(ctx context.Context, id string, call harness.CallID, a Answer) error {
	return c.call(ctx, http.MethodPost, "/runs/"+url.PathEscape(id)+"/approvals/"+url.PathEscape(string(call)), a, nil)
}

// Report tells a run of a task that it has handed on.
func (c *Client) Report(ctx context.Context, id, task string, t TaskReport) error {
	return c.call(ctx, http.MethodPost, "/runs/"+url.PathEscape(id)+"/tasks/"+url.PathEscape(task), t, nil)
}

// Forget lets the runner forget a run that is over.
func (c *Client) Forget(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, "/runs/"+url.PathEscape(id), nil, nil)
}

// Mark has the files of the runner's directory kept as they are.
func (c *Client) Mark(ctx context.Context, m Marking) (Marked, error) {
	var got Marked
	return got, c.work(ctx, http.MethodPost, "/workspace/marks", m, &got)
}

// Unmark lets the runner forget a session's marks.
func (c *Client) Unmark(ctx context.Context, s harness.SessionID) error {
	return c.call(ctx, http.MethodDelete, "/workspace/marks/"+url.PathEscape(string(s)), nil, nil)
}

// Rewind takes files of the runner back. What could not be taken back is in the
// result's Error.
func (c *Client) Rewind(ctx context.Context, r Rewind) (harness.Rewound, error) {
	var got harness.Rewound
	return got, c.work(ctx, http.MethodPost, "/workspace/rewind", r, &got)
}
