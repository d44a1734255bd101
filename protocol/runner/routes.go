package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"

	"harness"
)

// routes is everything a runner answers.
func (r *Runner) routes() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"GET /health":                         r.health,
		"POST /query":                         r.query,
		"GET /runs/{id}":                      r.show,
		"GET /runs/{id}/events":               r.events,
		"POST /runs/{id}/cancel":              r.cancel,
		"POST /runs/{id}/steer":               r.steer,
		"POST /runs/{id}/config":              r.config,
		"POST /runs/{id}/approvals/{call...}": r.approve,
		"POST /runs/{id}/tasks/{task}":        r.task,
		"DELETE /runs/{id}":                   r.forget,
		"POST /workspace/marks":               r.mark,
		"DELETE /workspace/marks/{session}":   r.unmark,
		"POST /workspace/rewind":              r.rewind,
	}
}

func (r *Runner) health(w http.ResponseWriter, _ *http.Request) {
	can := Abilities(r.engine.Abilities())
	h := Health{OK: true, HasAnthropicKey: r.opts.HasKey, Version: r.opts.Version, Abilities: &can, Snapshots: r.keeps()}
	r.mu.Lock()
	run := r.run
	r.mu.Unlock()
	if run != nil {
		s := run.status()
		h.Run, h.Busy = &s, s.State == Running
	}
	answer(w, http.StatusOK, h)
}

func (r *Runner) query(w http.ResponseWriter, req *http.Request) {
	var q Query
	if err := read(w, req, MaxQuery, &q); err != nil {
		refuse(w, err)
		return
	}
	switch {
	case q.Prompt == "" && len(q.Parts) == 0:
		refuse(w, fmt.Errorf("there is no prompt: %w", harness.ErrInvalid))
		return
	case q.RequestID != "" && harness.CheckID("requestId", q.RequestID) != nil:
		refuse(w, harness.CheckID("requestId", q.RequestID))
		return
	}
	run, err := r.start(q)
	if err != nil {
		refuse(w, err)
		return
	}
	r.follow(w, req, run, 0)
	if !run.kept { // whoever asked knows no way back
		run.cancel(errCancelled)
	}
}

func (r *Runner) events(w http.ResponseWriter, req *http.Request) {
	run, err := r.find(req.PathValue("id"))
	var after uint64
	if last := req.Header.Get("Last-Event-ID"); last != "" && err == nil {
		if after, err = strconv.ParseUint(last, 10, 64); err != nil {
			err = fmt.Errorf("Last-Event-ID %q is no number: %w", last, harness.ErrInvalid)
		}
	}
	if err == nil {
		if frames, _, _, _ := run.spool.look(); after > frames {
			err = fmt.Errorf("event %d is not there yet: %w", after, harness.ErrInvalid)
		}
	}
	if err != nil {
		refuse(w, err)
		return
	}
	r.follow(w, req, run, after)
}

func (r *Runner) show(w http.ResponseWriter, req *http.Request) {
	run, err := r.find(req.PathValue("id"))
	if err != nil {
		refuse(w, err)
		return
	}
	answer(w, http.StatusOK, run.status())
}

func (r *Runner) cancel(w http.ResponseWriter, req *http.Request) {
	var c Cancelling
	run, err := r.find(req.PathValue("id"))
	if err == nil && req.ContentLength != 0 {
		err = read(w, req, MaxCommand, &c)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	why := errCancelled
	if c.Held {
		why = harness.ErrHeld
	}
	run.cancel(why)
	w.WriteHeader(http.StatusAccepted)
}

func (r *Runner) steer(w http.ResponseWriter, req *http.Request) {
	var words Words
	run, err := r.find(req.PathValue("id"))
	if err == nil {
		err = read(w, req, MaxCommand, &words)
	}
	if err == nil {
		err = r.say(run, words)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	answer(w, http.StatusOK, run.status())
}

// say passes words on, also to a run that has just completed: then it goes on.
func (r *Runner) say(run *run, words Words) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.run != run {
		return harness.ErrNotRunning
	}
	if r.rewinding {
		return harness.ErrBusy
	}
	again, err := run.say(words)
	if again {
		r.wg.Go(func() { run.work(r.engine) })
	}
	return err
}

func (r *Runner) config(w http.ResponseWriter, req *http.Request) {
	var c harness.Config
	run, err := r.find(req.PathValue("id"))
	if err == nil {
		err = read(w, req, MaxCommand, &c)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	run.configure(c)
	w.WriteHeader(http.StatusNoContent)
}

func (r *Runner) approve(w http.ResponseWriter, req *http.Request) {
	var a Answer
	run, err := r.find(req.PathValue("id"))
	if err == nil {
		err = read(w, req, MaxCommand, &a)
	}
	if err == nil {
		err = run.decide(harness.CallID(req.PathValue("call")), a)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (r *Runner) task(w http.ResponseWriter, req *http.Request) {
	var t TaskReport
	run, err := r.find(req.PathValue("id"))
	if err == nil {
		err = read(w, req, MaxQuery, &t) // an answer is as long as a model likes
	}
	if err == nil {
		err = run.report(req.PathValue("task"), t)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (r *Runner) forget(w http.ResponseWriter, req *http.Request) {
	run, err := r.find(req.PathValue("id"))
	if err == nil && run.running() {
		err = harness.ErrBusy
	}
	if err != nil {
		refuse(w, err)
		return
	}
	r.mu.Lock()
	if r.run == run && !run.running() {
		r.drop()
	}
	r.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

// read takes a JSON body, and only as such: what a page of a browser could send
// without asking is something else.
func read(w http.ResponseWriter, req *http.Request, limit int64, into any) error {
	if kind, _, err := mime.ParseMediaType(req.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return fmt.Errorf("the body must be application/json: %w", harness.ErrInvalid)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, limit))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return fmt.Errorf("the body is larger than %d bytes: %w", limit, harness.ErrTooLarge)
	}
	if err != nil {
		return fmt.Errorf("read the body: %w: %w", err, harness.ErrInvalid)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("read the body: %w: %w", err, harness.ErrInvalid)
	}
	return nil
}

func answer(w http.ResponseWriter, code int, v any) {
	b, err := encode(v)
	if err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(append(b, '\n')) // a client that is gone needs no answer
}

// statuses says how HTTP spells the closed set; what is not there is 500.
var statuses = map[*harness.Error]int{
	harness.ErrInvalid: http.StatusBadRequest, harness.ErrTooLarge: http.StatusRequestEntityTooLarge,
	harness.ErrUnauthenticated: http.StatusUnauthorized, harness.ErrForbidden: http.StatusForbidden,
	harness.ErrNotFound: http.StatusNotFound, harness.ErrTurnNotFound: http.StatusNotFound, harness.ErrNoApproval: http.StatusNotFound,
	harness.ErrBusy: http.StatusConflict, harness.ErrNotRunning: http.StatusConflict, harness.ErrDecided: http.StatusConflict,
	harness.ErrQueueFull: http.StatusTooManyRequests, harness.ErrUnsupported: http.StatusNotImplemented, harness.ErrUnavailable: http.StatusServiceUnavailable,
}

func refuse(w http.ResponseWriter, err error) {
	e := harness.AsError(err)
	code := statuses[e]
	if code == 0 {
		code = http.StatusInternalServerError
	}
	answer(w, code, struct {
		Error Problem `json:"error"`
	}{Problem{e.Code, harness.ClientText(err)}})
}
