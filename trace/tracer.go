package trace

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"harness"
)

// sessions is what turns are read from.
type sessions interface {
	Read(ctx context.Context, id harness.SessionID, after harness.Seq) iter.Seq2[harness.Event, error]
	At(ctx context.Context, id harness.SessionID, seq harness.Seq) (*harness.State, error)
}

// Options are a tracer's settings. The zero value works.
type Options struct {
	Log     *slog.Logger      // default: discard
	Headers map[string]string // of every request: a collector's key
	Version string            // of the service
	// Content puts prompts, answers, arguments and results on spans.
	Content bool
}

// Bounds of what a collector that does not answer can cost.
const (
	maxQueue  = 1024 // turns that wait
	sendFor   = 10 * time.Second
	maxEvents = 100_000 // of a turn that is looked at; of a longer one there is the beginning and the end
	tries     = 3
	between   = time.Second // two tries
)

// Tracer tells a collector about turns that have ended.
type Tracer struct {
	k    sessions
	url  string
	opts Options
	log  *slog.Logger
	ends chan ended
	wg   sync.WaitGroup
	stop context.CancelFunc
	http *http.Client

	mu      sync.Mutex // guards what follows
	dropped int
}

// ended is a turn and where its end is.
type ended struct {
	session harness.SessionID
	seq     harness.Seq
}

// Open tells the collector at address, as OTLP over HTTP: its base, to which
// /v1/traces is added, or the whole path. Give [Tracer.Committed] every commit.
func Open(k sessions, address string, opts *Options) (*Tracer, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%q is not the http address of a collector: %w", address, harness.ErrInvalid)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/v1/traces"
	}
	t := &Tracer{k: k, url: u.String(), ends: make(chan ended, maxQueue), log: slog.New(slog.DiscardHandler), http: &http.Client{Timeout: sendFor}}
	if opts != nil {
		t.opts = *opts
		if opts.Log != nil {
			t.log = opts.Log
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.stop = cancel
	t.wg.Go(func() { t.run(ctx) })
	return t, nil
}

// Committed hears of a commit and how it went. It does not wait: if too many
// turns wait, this one is not told.
func (t *Tracer) Committed(c harness.Commit, _ time.Duration, err error) {
	if err != nil {
		return
	}
	for _, e := range c.Events {
		if _, ok := e.Payload.(*harness.TurnEnd); !ok {
			continue
		}
		select {
		case t.ends <- ended{e.Session, e.Seq}:
		default:
			t.mu.Lock()
			t.dropped++
			t.mu.Unlock()
		}
	}
}

// Close gives what waits a moment to be told and returns when nothing runs.
func (t *Tracer) Close() error {
	t.stop()
	t.wg.Wait()
	return nil
}

// lastWords is how long a tracer that is closed goes on.
const lastWords = 2 * time.Second

func (t *Tracer) run(ctx context.Context) {
	for {
		select {
		case e := <-t.ends:
			t.trace(ctx, e)
			continue
		case <-ctx.Done():
		}
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
		defer cancel()
		for last.Err() == nil {
			select {
			case e := <-t.ends:
				t.trace(last, e)
			default:
				return
			}
		}
		return
	}
}

// trace tells of one turn, or says that it could not be told.
func (t *Tracer) trace(ctx context.Context, e ended) {
	if err := t.tell(ctx, e); err != nil && ctx.Err() == nil {
		t.log.Warn("a turn is not traced", "session", e.session, "err", err)
	}
	t.mu.Lock()
	n := t.dropped
	t.dropped = 0
	t.mu.Unlock()
	if n > 0 {
		t.log.Warn("turns are not traced: the collector is too slow", "count", n)
	}
}

func (t *Tracer) tell(ctx context.Context, e ended) error {
	events, err := t.turn(ctx, e)
	if err != nil {
		return err
	}
	spans := Of(events, t.opts.Content)
	if len(spans) == 0 {
		return nil
	}
	body := Encode("harness", t.opts.Version, spans)
	for try := 1; ; try++ {
		again, err := t.send(ctx, body)
		if err == nil || !again || try == tries {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(between * time.Duration(try)):
		}
	}
}

// turn is the events of the turn that ends at e, with the prompt before it.
func (t *Tracer) turn(ctx context.Context, e ended) (events []harness.Event, err error) {
	st, err := t.k.At(ctx, e.session, e.seq-1)
	if err != nil {
		return nil, err
	}
	if st.Turn == nil || st.Turn.Began == 0 {
		return nil, nil
	}
	if t.opts.Content && len(st.Turn.Prompt.Parts) > 0 {
		events = append(events, harness.NewEvent(e.session, st.Turn.Began, st.Turn.Started, "", &harness.UserMessage{Parts: st.Turn.Prompt.Parts}))
	}
	for ev, err := range t.k.Read(ctx, e.session, st.Turn.Began-1) {
		switch {
		case err != nil:
			return nil, err
		case ev.Seq > e.seq:
			return events, nil
		case len(events) < maxEvents || ev.Seq == e.seq:
			events = append(events, ev)
		}
	}
	return events, nil
}

// send posts once, and says whether it may be worth trying again.
func (t *Tracer) send(ctx context.Context, body []byte) (again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	req.Header.Set("User-Agent", "harness/"+t.opts.Version)
	for name, value := range t.opts.Headers {
		req.Header.Set(name, value)
	}
	resp, err := t.http.Do(req)
	if err != nil {
		return true, err
	}
	io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be used again
	resp.Body.Close()
	if resp.StatusCode/100 == 2 {
		return false, nil
	}
	status := resp.StatusCode
	return status == 429 || status == 502 || status == 503 || status == 504, fmt.Errorf("the collector answered %s", strings.TrimSpace(resp.Status))
}
