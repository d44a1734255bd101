package kernel

import (
	"context"
	"errors"
	"time"

	"harness"
)

// How long files may take. A snapshot has bounds of its own, and may wait for
// another one or for a rewind.
const (
	markFor   = 30 * time.Second
	rewindFor = 10 * time.Minute
)

// filing is the work on files that a session has under way.
type filing struct {
	files  harness.Rewinder // nil if there is none for the directory
	busy   bool
	done   chan input         // its report; size 1, at most one is under way
	cancel context.CancelFunc // ends it early
}

// files finds the Rewinder of a directory, or none.
func (k *Kernel) files(directory string) harness.Rewinder {
	if k.opts.Files == nil || directory == "" {
		return nil
	}
	f, err := k.opts.Files(directory)
	if err != nil {
		if !errors.Is(err, harness.ErrUnsupported) {
			k.log.Error("no snapshots", "directory", directory, "err", err)
		}
		return nil
	}
	return f
}

// openFiles tells the machine what becomes of files.
func (s *session) openFiles() {
	s.filing.files = s.k.files(s.m.state.Directory)
	s.m.keep.files = s.filing.files != nil
}

// file works on files in a goroutine of its own and reports to the machine.
func (s *session) file(ctx context.Context, bound time.Duration, work func(context.Context) input) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bound)
	s.filing.busy, s.filing.cancel = true, cancel
	s.k.wg.Go(func() {
		defer cancel()
		s.filing.done <- work(ctx)
	})
}

// mark keeps the files of the session's directory.
func (s *session) mark(ctx context.Context, e mark) input {
	m, err := s.filing.files.Mark(ctx, s.id, e.phase)
	if err != nil {
		s.log.Warn("files not kept", "turn", e.turn, "phase", e.phase, "err", err)
	}
	m.Incomplete = s.k.said(m.Incomplete)
	return marked{e.turn, e.phase, m, s.k.problem(err)}
}

// rewind takes the files of the session's directory back.
func (s *session) rewind(ctx context.Context, c harness.Rewind) input {
	to, err := s.k.target(ctx, s.id, c.Message)
	if err != nil || to.mark == "" { // or nothing to do
		return rewound{err: err}
	}
	w, err := s.filing.files.Rewind(ctx, harness.Rewinding{Session: s.id, Mark: to.mark, Lineage: to.lineage, Children: to.children, Force: c.Force, DryRun: c.DryRun})
	if err != nil {
		s.log.Warn("files not taken back", "message", c.Message, "err", err)
	}
	shown := *w.Cut(harness.MaxRewound)
	if r := s.k.opts.Redact; r != nil {
		clean, bad := harness.CopyClean(&shown, r.JSON)
		if p, ok := clean.(*harness.Rewound); ok && bad == nil {
			shown = *p
		} else {
			shown = harness.Rewound{Safety: w.Safety, After: w.After, Omitted: len(w.FilesChanged)}
		}
	}
	return rewound{shown, err, s.k.problem(err)}
}

// problem is an error as the log tells it.
func (k *Kernel) problem(err error) string {
	if err == nil {
		return ""
	}
	return k.said(err.Error())
}

// said is a text of ours as it is kept.
func (k *Kernel) said(text string) string {
	if r := k.opts.Redact; r != nil {
		return r.String(text)
	}
	return text
}
