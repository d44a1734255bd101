package kernel

import (
	"errors"
	"fmt"

	"harness"
)

// filed ends the work on files that is under way, one way or another.
func (w *world) filed() {
	e := w.filing
	w.filing = nil
	w.ids++
	how := w.rng.IntN(8)
	switch e := e.(type) {
	case mark:
		in := marked{turn: e.turn, phase: e.phase, mark: harness.Mark{ID: fmt.Sprintf("mrk_%d", w.ids)}}
		switch how {
		case 0:
			in.mark, in.problem = harness.Mark{}, "disk full"
		case 1:
			in.mark.Incomplete = "too many files"
		}
		w.step(in)
	case rewind:
		var in rewound
		switch {
		case how == 0:
			in.err, in.problem = harness.ErrInvalid, "no such message"
		case how == 1 && !e.cmd.DryRun:
			in.err, in.problem = errors.New("one file is stuck"), "one file is stuck"
			fallthrough
		case how < 5 && !e.cmd.DryRun:
			in.result = harness.Rewound{FilesChanged: []string{"a"}, Safety: fmt.Sprintf("mrk_%d", w.ids)}
		}
		w.step(in)
	}
}

// checkKept: before a turn can change files, the log says that they were kept,
// or why not.
func (w *world) checkKept(turn harness.TurnID, what string) {
	for _, e := range w.log {
		c, ok := e.Payload.(*harness.SessionCheckpoint)
		if ok && e.Turn == turn && c.CheckpointType == harness.WorkspaceCheckpoint && c.Phase == harness.MarkBefore {
			return
		}
	}
	if w.keeping() {
		w.failf("%s in %s before files were kept", what, turn)
	}
}

// checkMarks: a turn keeps files once before and, if it did, once behind it,
// before it ends. Rewinds are between turns.
func (w *world) checkMarks() {
	begun := harness.TurnID("")
	var before, after string
	for _, e := range w.log {
		switch p := e.Payload.(type) {
		case *harness.TurnStart:
			if begun != p.TurnID {
				begun, before, after = p.TurnID, "", ""
			}
			if p.Kept != w.keeping() {
				w.failf("event %d: turn %s says that files are kept: %v", e.Seq, p.TurnID, p.Kept)
			}
		case *harness.SessionCheckpoint:
			if p.CheckpointType != harness.WorkspaceCheckpoint {
				continue
			}
			if e.Turn == "" || e.Turn != begun {
				w.failf("event %d: files kept outside a turn", e.Seq)
			}
			of := &before
			if p.Phase == harness.MarkAfter {
				of = &after
			}
			if *of != "" || p.Phase == harness.MarkAfter && before == "" {
				w.failf("event %d: files kept %s turn %s again, or too early", e.Seq, p.Phase, e.Turn)
			}
			*of = p.Status
		case *harness.TurnEnd:
			if kept := before != "" && before != harness.CheckpointFailed; kept != (after != "") {
				w.failf("event %d: turn %s ended with marks %q and %q", e.Seq, e.Turn, before, after)
			}
			begun = ""
		case *harness.Rewound:
			if begun != "" {
				w.failf("event %d: a rewind in turn %s", e.Seq, begun)
			}
		}
	}
}
