package runner

import (
	"io"
	"net/http"
	"time"
)

// pingEvery is how often a quiet stream says that it is there.
const pingEvery = 15 * time.Second

// writeWithin is how long a client may take to read what is written at once.
// One that does not is cut off; it can come back.
const writeWithin = 30 * time.Second

// writeAtOnce is how much that is.
const writeAtOnce = 64 << 10

// follow sends a run's events after one, until the run is over or the client is
// gone.
func (r *Runner) follow(w http.ResponseWriter, req *http.Request, run *run, after uint64) {
	r.mu.Lock()
	r.attached++
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		r.attached--
		r.used = time.Now()
		r.mu.Unlock()
	}()
	at, err := run.spool.after(after)
	if err != nil {
		refuse(w, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	out := http.NewResponseController(w)
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		_, size, ended, changed := run.spool.look()
		if size > at {
			_ = out.SetWriteDeadline(time.Now().Add(writeWithin)) // a writer without deadlines is a test's
			n, err := io.Copy(w, io.NewSectionReader(run.spool.file, at, min(size-at, writeAtOnce)))
			if at += n; err != nil || n == 0 {
				return
			}
			if at < size {
				continue
			}
		}
		if out.Flush() != nil {
			return
		}
		if ended {
			run.end()
			return
		}
		select {
		case <-changed:
		case <-req.Context().Done():
			return
		case <-ping.C:
			_ = out.SetWriteDeadline(time.Now().Add(writeWithin))
			if _, err := io.WriteString(w, ": ping\n\n"); err != nil {
				return
			}
		}
	}
}
