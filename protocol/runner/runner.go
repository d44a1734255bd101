package runner

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"harness"
)

type rawEvent = json.RawMessage

// Options are the rest of what a runner can be told. The zero value works.
type Options struct {
	Token     string // what callers must bring; "" lets everybody in who reaches it
	Spool     string // directory for what a run says; the system's for temporary files if ""
	Directory string // where a query without a directory works
	Within    string // where all of them must be, unless ""
	HasKey    bool   // hasAnthropicKey of S2's health
	Version   string
	MaxSpool  int64 // MaxSpool if 0

	// Files finds what keeps the files of a directory; nil if nothing does.
	Files func(directory string) (harness.Rewinder, error)
	Data  string // directory that remembers which runs' files were kept; nothing does if ""
	Log   *slog.Logger
}

// Runner serves one engine. It implements [http.Handler].
type Runner struct {
	engine harness.Engine
	opts   Options
	mux    *http.ServeMux
	runs   *records
	wg     sync.WaitGroup // runs

	mu        sync.Mutex // guards what follows
	run       *run       // the latest
	attached  int        // how many follow it
	used      time.Time  // when somebody last asked for something
	rewinding bool
	closed    bool
}

// New makes a runner. Close ends it.
func New(e harness.Engine, opts *Options) *Runner {
	r := &Runner{engine: e, mux: http.NewServeMux(), used: time.Now()}
	if opts != nil {
		r.opts = *opts
	}
	if r.opts.MaxSpool == 0 {
		r.opts.MaxSpool = MaxSpool
	}
	if r.opts.Log == nil {
		r.opts.Log = slog.New(slog.DiscardHandler)
	}
	r.runs = &records{dir: r.opts.Data}
	for pattern, h := range r.routes() {
		r.mux.HandleFunc(pattern, h)
	}
	return r
}

// Close ends the run under way and returns when its engine is gone.
func (r *Runner) Close() {
	r.mu.Lock()
	r.closed = true
	if r.run != nil {
		r.run.cancel(errStopped)
	}
	r.mu.Unlock()
	r.wg.Wait()
}

// ServeHTTP refuses strangers and browsers, and serves the rest.
func (r *Runner) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Header.Get("Origin") != "" || req.Header.Get("Sec-Fetch-Site") != "" {
		refuse(w, fmt.Errorf("a runner is no place for a browser: %w", harness.ErrForbidden))
		return
	}
	if !r.admits(req) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, harness.ErrUnauthenticated)
		return
	}
	r.mu.Lock()
	r.used = time.Now()
	r.mu.Unlock()
	r.mux.ServeHTTP(w, req)
}

// admits takes the same time whatever the token is.
func (r *Runner) admits(req *http.Request) bool {
	if r.opts.Token == "" {
		return true
	}
	scheme, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(r.opts.Token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}

// start begins a run, or finds the one that the same query began and nobody has
// heard to its end. A finished run is forgotten for it; one under way is not.
func (r *Runner) start(q Query) (*run, error) {
	if err := r.place(&q); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch old := r.run; {
	case r.closed:
		return nil, harness.ErrUnavailable
	case old != nil && q.RequestID == old.id && q.Attempt == old.attempt && !old.done():
		return old, nil
	case old != nil && old.running():
		if q.SessionID != "" && q.SessionID == old.session { // its server has given it up
			old.cancel(errCancelled)
		}
		return nil, harness.ErrBusy
	case r.rewinding:
		return nil, fmt.Errorf("files are being taken back: %w", harness.ErrBusy)
	}
	s, err := newSpool(r.opts.Spool, r.opts.MaxSpool)
	if err != nil {
		return nil, err
	}
	run := newRun(q, r.engine.Abilities(), s)
	run.keep = r.keeper(q)
	if err := run.begin(); err != nil {
		return nil, errors.Join(err, s.close())
	}
	r.drop()
	r.run = run
	r.wg.Go(func() { run.work(r.engine) })
	return run, nil
}

// place finds out where a query is to work.
func (r *Runner) place(q *Query) error {
	if q.Directory == "" {
		q.Directory = r.opts.Directory
		return nil
	}
	if !filepath.IsAbs(q.Directory) {
		return fmt.Errorf("directory %q is not absolute: %w", q.Directory, harness.ErrInvalid)
	}
	q.Directory = filepath.Clean(q.Directory)
	if r.opts.Within == "" {
		return nil
	}
	rel, err := filepath.Rel(r.opts.Within, q.Directory)
	if err != nil || !filepath.IsLocal(rel) {
		return fmt.Errorf("this runner works in %s: %w", r.opts.Within, harness.ErrForbidden)
	}
	return nil
}

// drop forgets the latest run, which is over. r.mu is held.
func (r *Runner) drop() {
	if r.run == nil {
		return
	}
	r.run.cancel(nil)
	_ = r.run.spool.close() // whoever still reads it is told that it ended
	r.run = nil
}

// find is the run with an id, if it is the latest.
func (r *Runner) find(id string) (*run, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.run == nil || r.run.id != id {
		return nil, fmt.Errorf("run %q is not here: %w", id, harness.ErrTurnNotFound)
	}
	return r.run, nil
}

func newID() string { return "run_" + strings.ToLower(rand.Text()) }
