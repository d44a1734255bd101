package sqlite

import (
	"errors"
	"fmt"

	"harness"
	"harness/internal/batch"
	sqlite "modernc.org/sqlite"
)

// writer owns the writing connection. Only its goroutine calls its methods.
type writer struct {
	*conn
	known    map[harness.SessionID]*known // what the table says, for sessions in use
	sweeping bool                         // there may be removed sessions whose rows are still there
	dead     error                        // why nothing can be written any more
	files    []placed                     // what is written to
}

// maxKnown bounds the writer's memory of sessions: about 0.4 MB. A session that
// is not in it costs one row read more.
const maxKnown = 2 << 10

func newWriter(c *conn) *writer {
	return &writer{conn: c, known: map[harness.SessionID]*known{}, sweeping: true}
}

// run serves q until it is closed and empty.
func (w *writer) run(q *batch.Queue[work]) {
	var group []*task
	for {
		var closed bool
		group, closed = q.Take(group)
		switch {
		case len(group) > 0:
			w.serve(group)
			clear(group)
		case closed:
			return
		case w.sweeping && w.dead == nil:
			w.sweep()
		default:
			q.Await()
		}
	}
}

// serve gives every task of the group its outcome. If the transaction of all
// fails for a reason that may be one task's own, each is tried by itself.
func (w *writer) serve(group []*task) {
	answers, err := w.transact(group)
	if err != nil && w.dead == nil && len(group) > 1 {
		for _, t := range group {
			w.serve([]*task{t})
		}
		return
	}
	for i, t := range group {
		if t.Work.after != nil {
			t.Work.after()
		}
		if err != nil {
			t.Answer(err)
		} else {
			t.Answer(answers[i])
		}
	}
}

// transact applies the group in one transaction and returns the answer of each
// task, valid if the error is nil: then everything is durable. Otherwise nothing
// of it has happened, unless w.dead is set: then the outcome is unknown.
func (w *writer) transact(group []*task) (answers []error, err error) {
	if w.dead != nil {
		return nil, w.dead
	}
	if _, err := w.exec("BEGIN IMMEDIATE"); err != nil {
		return nil, w.failed(err, false)
	}
	answers = make([]error, len(group))
	for i, t := range group {
		err := t.Work.apply(w)
		if _, refused := errors.AsType[*harness.Error](err); err != nil && !refused {
			return nil, w.failed(err, false)
		}
		answers[i] = err
	}
	if err := w.inPlace(); err != nil {
		w.failed(err, false)
		w.dead = err
		return nil, err
	}
	if _, err := w.exec("COMMIT"); err != nil {
		return nil, w.failed(err, true)
	}
	if len(w.known) > maxKnown {
		clear(w.known)
	}
	return answers, nil
}

// failed rolls back after err and decides whether the store may go on. It may
// if nothing reached the disk for certain: a statement was refused, or there was
// no room. A flush that failed is never tried again: the kernel may already have
// dropped the pages and would say yes the second time.
func (w *writer) failed(err error, committing bool) error {
	clear(w.known)
	full := noRoom(err)
	_, rollback := w.exec("ROLLBACK")
	clean := rollback == nil || code(rollback) == codeError // "no transaction is active": SQLite has rolled back itself
	if !full && (committing || ioError(err)) || !clean {
		w.dead = fmt.Errorf("writing stopped after an error, open the store again: %w", classify(err))
		return w.dead
	}
	return classify(err)
}

// Extended result codes of one primary code that mean opposite things.
const (
	codeIOErr        = 10
	codeIOErrShmSize = codeIOErr | 19<<8
)

// noRoom reports whether err says that the disk is full.
func noRoom(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && (e.Code()&0xff == codeFull || e.Code() == codeIOErrShmSize)
}

func ioError(err error) bool { return code(err) == codeIOErr }
