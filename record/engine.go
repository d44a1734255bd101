// Package record has a session that works by itself leave behind what S3 calls
// typed artifacts, whichever engine runs it: what is to be done and where when it
// begins, and when it is done its final output, a record of the run, the steps
// that were told of and what it changed.
//
// They are told through the host like everything that an engine tells, so they
// are kept before anybody hears of them, by content, without secrets, and go with
// their session. That one could not be kept is no failure of the turn.
package record

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"harness"
)

// Options say what can be recorded. The zero value works.
type Options struct {
	Log *slog.Logger // default: discard
	// Diff is what has changed in a directory since a mark, as a patch; empty if
	// nothing has. Default: that is not known.
	Diff func(ctx context.Context, session harness.SessionID, directory, mark string) ([]byte, error)
}

// Engine is inner, with artifacts. It has inner's powers.
func Engine(inner harness.Engine, opts *Options) harness.Engine {
	e := &engine{Engine: inner, log: slog.New(slog.DiscardHandler)}
	if opts != nil {
		e.diff = opts.Diff
		if opts.Log != nil {
			e.log = opts.Log
		}
	}
	if s, ok := inner.(harness.Survivor); ok {
		return &survivor{e, s}
	}
	return e
}

type engine struct {
	harness.Engine
	log  *slog.Logger
	diff func(ctx context.Context, session harness.SessionID, directory, mark string) ([]byte, error)
}

type survivor struct {
	*engine
	harness.Survivor
}

// Run runs a turn. Of a chat there is nothing to record: its messages are there.
func (e *engine) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	if t.Kind != harness.Background {
		return e.Engine.Run(ctx, t, h)
	}
	r := newRun(t)
	if t.Attached == 0 && t.Directory != "" { // it can write
		if t.Attempt == 1 || !graphed(ctx, t, h) { // a crash may have come before it
			e.keep(ctx, h, t, task(t))
		}
		e.keep(ctx, h, t, r.workspace())
	}
	heard := &host{h, r}
	var outer harness.Host = heard
	if s, ok := h.(harness.Spawner); ok {
		outer = &spawner{heard, s}
	}
	err := e.Engine.Run(ctx, t, outer)
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, harness.ErrHeld), errors.Is(cause, harness.ErrShutdown): // it goes on
		return err
	case cause != nil: // it is over, and how far it came can still be told
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		e.keep(closing, h, t, r.told())
		e.keep(closing, h, t, r.record(harness.TurnCancelled, nil))
		return err
	case err != nil:
		e.keep(ctx, h, t, r.told())
		e.keep(ctx, h, t, r.record(harness.TurnError, err))
		return err
	}
	e.keep(ctx, h, t, r.output())
	e.keep(ctx, h, t, e.patch(ctx, t, h))
	e.keep(ctx, h, t, r.told())
	e.keep(ctx, h, t, r.record(harness.TurnCompleted, nil))
	return nil
}

// patience is how long a turn that was cancelled may take to say how far it came:
// a part of what its session gives it to end.
const patience = time.Second

// keep tells of an artifact, if there is one and somebody keeps such things.
func (e *engine) keep(ctx context.Context, h harness.Host, t harness.Turn, a *harness.Artifact) {
	if a == nil {
		return
	}
	if err := h.Emit(ctx, a); err != nil && !errors.Is(err, harness.ErrUnsupported) && ctx.Err() == nil {
		e.log.Warn("an artifact is not kept", "session", t.Session, "turn", t.ID, "type", a.ArtifactType, "err", err)
	}
}

// patch is what the turn has changed since its files were kept.
func (e *engine) patch(ctx context.Context, t harness.Turn, h harness.Host) *harness.Artifact {
	if e.diff == nil || t.Directory == "" || t.Began == 0 {
		return nil
	}
	mark := ""
	for ev, err := range h.History(ctx, t.Began-1) {
		if err != nil {
			return nil
		}
		if c, ok := ev.Payload.(*harness.SessionCheckpoint); ok && c.CheckpointType == harness.WorkspaceCheckpoint && c.Phase == harness.MarkBefore && c.Mark != "" && ev.Turn == t.ID {
			mark = c.Mark
			break
		}
	}
	if mark == "" {
		return nil // it changed nothing, or nothing is kept here
	}
	text, err := e.diff(ctx, t.Session, t.Directory, mark)
	if err != nil {
		e.log.Warn("what a turn has changed is not known", "session", t.Session, "turn", t.ID, "err", err)
	}
	if err != nil || len(text) == 0 {
		return nil
	}
	return harness.NewArtifact(t.Session, harness.ArtifactDiff, "files changed", text)
}

// host hears what the engine tells.
type host struct {
	harness.Host
	run *run
}

func (h *host) Emit(ctx context.Context, p harness.Payload) error {
	h.run.hear(p)
	return h.Host.Emit(ctx, p)
}

func (h *host) Follow(ctx context.Context, frame uint64, p harness.Payload) error {
	h.run.hear(p)
	return h.Host.Follow(ctx, frame, p)
}

type spawner struct {
	*host
	harness.Spawner
}
