package runner

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"harness"
)

// keeps reports whether files are kept where runs work unless they say
// otherwise.
func (r *Runner) keeps() bool {
	_, err := r.files(r.opts.Directory)
	return err == nil
}

// files keeps those of a directory, or says why nothing does.
func (r *Runner) files(directory string) (harness.Rewinder, error) {
	if r.opts.Files == nil {
		return nil, fmt.Errorf("this runner keeps no snapshots: %w", harness.ErrUnsupported)
	}
	return r.opts.Files(directory)
}

// filesIn is files, of a directory that a request names.
func (r *Runner) filesIn(directory string) (harness.Rewinder, error) {
	q := Query{Directory: directory}
	if err := r.place(&q); err != nil {
		return nil, err
	}
	return r.files(q.Directory)
}

// mark keeps files for whoever does not leave that to the runner. It may come
// while a run waits for an answer.
func (r *Runner) mark(w http.ResponseWriter, req *http.Request) {
	var m Marking
	err := read(w, req, MaxCommand, &m)
	if err == nil {
		err = harness.CheckID("sessionId", string(m.SessionID))
	}
	if err == nil && m.Phase != harness.MarkBefore && m.Phase != harness.MarkAfter {
		err = fmt.Errorf("phase %q: %w", m.Phase, harness.ErrInvalid)
	}
	var files harness.Rewinder
	if err == nil {
		files, err = r.filesIn(m.Directory)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(req.Context()), markWithin)
	defer cancel()
	got, err := files.Mark(ctx, m.SessionID, m.Phase)
	if err != nil {
		r.opts.Log.Warn("files not kept", "session", m.SessionID, "phase", m.Phase, "err", err)
		refuse(w, err)
		return
	}
	answer(w, http.StatusOK, Marked{got.ID, got.Incomplete})
}

// unmark forgets a session's marks.
func (r *Runner) unmark(w http.ResponseWriter, req *http.Request) {
	session := harness.SessionID(req.PathValue("session"))
	err := harness.CheckID("sessionId", string(session))
	var files harness.Rewinder
	if err == nil {
		files, err = r.filesIn(req.URL.Query().Get("directory"))
	}
	if err == nil {
		err = files.Forget(session)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// rewind takes files back. It goes on when whoever asked is gone: half of it
// helps nobody.
func (r *Runner) rewind(w http.ResponseWriter, req *http.Request) {
	var back Rewind
	err := read(w, req, MaxCommand, &back)
	if err == nil && r.opts.Files == nil {
		_, err = r.files("")
	}
	if err == nil {
		err = r.target(&back)
	}
	var files harness.Rewinder
	if err == nil {
		files, err = r.filesIn(back.Directory)
	}
	if err == nil {
		err = r.hold()
	}
	if err != nil {
		refuse(w, err)
		return
	}
	defer r.release()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(req.Context()), rewindWithin)
	defer cancel()
	var got harness.Rewound
	if back.Mark != "" { // else nothing has changed since
		got, err = files.Rewind(ctx, harness.Rewinding{
			Session: back.SessionID, Mark: back.Mark, Lineage: back.Lineage, Children: back.Children, Force: back.Force, DryRun: back.DryRun,
		})
	}
	if err != nil {
		r.opts.Log.Warn("files not taken back", "session", back.SessionID, "err", err)
		if errors.Is(err, harness.ErrUnsupported) { // they are not kept any more
			err = fmt.Errorf("mark %q of session %q is not kept: %w", back.Mark, back.SessionID, harness.ErrTurnNotFound)
		}
		if got.Safety == "" {
			refuse(w, err)
			return
		}
		got.Error = err.Error()
	}
	got.MessageID, got.DryRun, got.Force = back.MessageID, back.DryRun, back.Force
	answer(w, http.StatusOK, fitting(&got))
}

// fitting is a result with as much of its lists as an answer may have.
func fitting(w *harness.Rewound) *harness.Rewound {
	for n := harness.MaxRewound; ; n /= 2 {
		cut := w.Cut(n)
		if b, err := encode(cut); err != nil || len(b) < MaxFrame || n == 0 {
			return cut
		}
	}
}

// target finds the mark that a rewind means, if it does not say; none if nothing
// has changed since.
func (r *Runner) target(back *Rewind) (err error) {
	var rec record
	switch {
	case back.Mark != "" && back.RequestID == "" && back.MessageID == "":
		if back.SessionID == "" {
			back.SessionID = nobody
		}
		return harness.CheckID("sessionId", string(back.SessionID))
	case back.RequestID != "" && back.MessageID == "" && back.Mark == "":
		rec, err = r.runs.find(back.RequestID)
	case back.MessageID != "" && back.RequestID == "" && back.Mark == "":
		rec, err = r.runs.search(back.MessageID)
	default:
		return fmt.Errorf("say one of requestId, messageId and mark: %w", harness.ErrInvalid)
	}
	switch {
	case err != nil:
		return err
	case back.SessionID != "" && back.SessionID != rec.Session:
		return fmt.Errorf("that was in another session: %w", harness.ErrTurnNotFound)
	case rec.Problem != "":
		return fmt.Errorf("the files before it were not kept: %s: %w", rec.Problem, harness.ErrTurnNotFound)
	}
	back.SessionID, back.Directory, back.Mark = rec.Session, rec.Directory, rec.Mark
	return nil
}

// hold keeps runs from beginning, if none is under way.
func (r *Runner) hold() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return harness.ErrUnavailable
	case r.rewinding || r.run != nil && r.run.running():
		return harness.ErrBusy
	}
	r.rewinding = true
	return nil
}

func (r *Runner) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rewinding = false
}
