package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"unicode/utf8"

	"harness"
	"harness/protocol/runner"
)

// Files is what keeps the files that turns work on, for a runner at a URL: they
// are on its machine, in its directory, whatever a session's is called here. A
// runner that keeps none is [harness.ErrUnsupported]; one that cannot be reached
// may keep some. Whoever has this runs turns whose files are kept, and the
// runner is told so.
func (e *Engine) Files(string) (harness.Rewinder, error) {
	far, ok := e.home.(*pool)
	if !ok {
		return nil, fmt.Errorf("local runners keep no snapshots: %w", harness.ErrUnsupported)
	}
	e.mu.Lock()
	known, keeps := e.known, e.snapshots
	e.mu.Unlock()
	if !known {
		ctx, cancel := context.WithTimeout(context.Background(), askPatience)
		defer cancel()
		heard := false
		for _, h := range each(far.runners, func(m member) (runner.Health, error) { return m.client.Health(ctx) }) {
			if h.OK && !heard {
				heard, keeps = true, h.Snapshots
				e.learn(h)
			}
		}
		keeps = keeps || !heard
	}
	if !keeps {
		return nil, fmt.Errorf("the runner keeps no snapshots: %w", harness.ErrUnsupported)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.keeps = true
	return files{far}, nil
}

// files is runners as the Rewinder of their directories: each session's is its
// own runner's. They are believed no more than in a run.
type files struct{ at *pool }

// Mark has the runner keep its files.
func (f files) Mark(ctx context.Context, s harness.SessionID, phase harness.MarkPhase) (harness.Mark, error) {
	got, err := f.at.of(s).Mark(ctx, runner.Marking{SessionID: s, Phase: phase})
	switch {
	case err != nil:
		return harness.Mark{}, refusal("keep files", err)
	case !name(got.Mark, harness.MaxID):
		return harness.Mark{}, &runner.FaultError{What: fmt.Sprintf("a mark is named %.100q", got.Mark)}
	case got.Incomplete != "":
		got.Incomplete = message(got.Incomplete)
	}
	return harness.Mark{ID: got.Mark, Incomplete: got.Incomplete}, nil
}

// Rewind has the runner take its files back.
func (f files) Rewind(ctx context.Context, to harness.Rewinding) (harness.Rewound, error) {
	got, err := f.at.of(to.Session).Rewind(ctx, runner.Rewind{
		Mark: to.Mark, SessionID: to.Session, Lineage: to.Lineage, Children: to.Children, Force: to.Force, DryRun: to.DryRun,
	})
	if err != nil {
		return harness.Rewound{}, refusal("take files back", err)
	}
	if err := sane(&got); err != nil {
		return harness.Rewound{}, err
	}
	if got.Error != "" {
		err = errors.New(message(got.Error))
	}
	return got, err
}

// Forget lets the runner forget a session, if it has heard of it.
func (f files) Forget(s harness.SessionID) error {
	err := f.at.of(s).Unmark(context.Background(), s)
	if runner.Refused(err, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented) {
		return nil
	}
	return err
}

// maxPath bounds the name of a file in a result: what a system can name, quoted.
const maxPath = 16 << 10

// sane returns nil if a result can go into the log.
func sane(w *harness.Rewound) error {
	fault := func(what string) error { return &runner.FaultError{What: "the result of a rewind has " + what} }
	for _, mark := range []string{w.Safety, w.After} {
		if mark != "" && !name(mark, harness.MaxID) {
			return fault("a mark that is none")
		}
	}
	text := func(s string) bool { return len(s) <= maxPath && utf8.ValidString(s) }
	for _, list := range [][]harness.RewoundFile{w.Restore, w.Delete, w.Conflict, w.Skipped, w.Failed} {
		for _, f := range list {
			if f.Path == "" || !text(f.Path) || !text(f.Reason) {
				return fault("a file that is none")
			}
		}
	}
	for _, list := range [][]string{w.FilesChanged, w.Conflicts} {
		for _, path := range list {
			if path == "" || !text(path) {
				return fault("a file that is none")
			}
		}
	}
	return nil
}

// refusal is an answer of the runner about files, in the words of the closed
// set: a runner of S2's text knows no such thing, and one of ours may not keep
// any, or any more.
func refusal(what string, err error) error {
	as := harness.ErrUnavailable
	switch {
	case broken(err):
		return err
	case runner.Refused(err, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented):
		as = harness.ErrUnsupported
	case runner.Refused(err, http.StatusConflict):
		as = harness.ErrBusy
	default:
		if e, ok := errors.AsType[*runner.StatusError](err); ok && e.Code != http.StatusServiceUnavailable {
			return fmt.Errorf("%s on the runner: %w", what, err)
		}
	}
	return fmt.Errorf("%s on the runner: %w: %w", what, err, as)
}
