package runner

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"harness"
)

// markWithin is how long keeping files may take. A snapshot has bounds of its
// own, and may wait for another.
const markWithin = 30 * time.Second

// maxHeard bounds how many messages of a run are remembered: more than a person
// would look for one in.
const maxHeard = 1000

// nobody is the session of runs that name none: all of them are one's own doing.
const nobody harness.SessionID = "runner"

// keeper has the files kept that one run changes: before the first time it may,
// and whenever its engine has stopped. What could not be kept keeps no run from
// anything. A nil one keeps nothing.
type keeper struct {
	files   harness.Rewinder
	session harness.SessionID
	runs    *records
	log     *slog.Logger

	marking sync.Mutex // held while files are kept: nobody may change any meanwhile
	began   bool       // they were kept, and are owed to be kept again; guarded by marking

	mu     sync.Mutex // guards what follows
	record record
}

// keeper is for a run, unless whoever asks for it keeps files by itself.
func (r *Runner) keeper(q Query) *keeper {
	if q.Kept || r.opts.Files == nil {
		return nil
	}
	files, err := r.opts.Files(q.Directory)
	if err != nil {
		return nil // health says so
	}
	k := &keeper{files: files, session: q.SessionID, runs: r.runs, log: r.opts.Log}
	if k.session == "" {
		k.session = nobody
	}
	k.record = record{Session: k.session, Directory: q.Directory}
	if q.Attempt > 1 { // the files before the first are what is meant
		if old, err := r.runs.find(q.RequestID); err == nil && old.Session == k.session && old.Directory == q.Directory {
			k.record = old
		}
	}
	return k
}

// begin takes note of the run: one that changes nothing began with the files
// that the next one finds.
func (k *keeper) begin(r *run) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.save(r)
}

// before keeps the files, unless they are kept.
func (k *keeper) before(r *run) {
	if k == nil {
		return
	}
	k.marking.Lock()
	defer k.marking.Unlock()
	if k.began {
		return
	}
	mark, err := k.mark(r, harness.MarkBefore)
	k.began = err == nil
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.record.Mark != "" || k.record.Problem != "": // of the first time
	case err != nil:
		k.record.Problem = err.Error()
	default:
		k.record.Mark = mark.ID
	}
	k.save(r)
}

// after keeps the files again when the engine has stopped, if it may have
// changed any, and takes note of what it said.
func (k *keeper) after(r *run) {
	if k == nil {
		return
	}
	k.marking.Lock()
	defer k.marking.Unlock()
	if k.began {
		k.began = false
		_, _ = k.mark(r, harness.MarkAfter) // if it fails, what follows counts as the run's, too
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.save(r)
}

func (k *keeper) mark(r *run, phase harness.MarkPhase) (harness.Mark, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), markWithin)
	defer cancel()
	m, err := k.files.Mark(ctx, k.session, phase)
	if err != nil {
		k.log.Warn("files not kept", "run", r.id, "phase", phase, "err", err)
	}
	return m, err
}

// save writes what is known of the run. k.mu is held.
func (k *keeper) save(r *run) {
	if err := k.runs.save(r.id, k.record); err != nil {
		k.log.Warn("not remembered which files were kept", "run", r.id, "err", err)
	}
}

// heard takes note of the messages that a run is made of.
func (k *keeper) heard(f Frame) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, id := range []harness.ItemID{f.ItemID, f.MessageID} {
		if id != "" && len(k.record.Messages) < maxHeard && !k.record.has(id) {
			k.record.Messages = append(k.record.Messages, id)
		}
	}
}
