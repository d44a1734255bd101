package native

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"harness"
)

// load folds the session's log into the turn's conversation. It reads what came
// since the session's last turn in this process, or else from the place that
// the last checkpoint names.
func (r *turn) load(ctx context.Context) error {
	release, err := r.s.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	conv, last, err := r.read(ctx, r.s.conv, r.s.last)
	if err != nil {
		return err
	}
	r.s.conv, r.s.last = conv, last
	r.conv = conv.clone()
	if !r.conv.turn.partial {
		return nil
	}
	for e, err := range r.h.History(ctx, max(r.t.Began, 1)-1) {
		if err != nil {
			return err
		}
		r.conv.turn.began = e.Time
		break
	}
	return nil
}

// read goes on with a fold, or begins one.
func (r *turn) read(ctx context.Context, conv *conversation, last []byte) (*conversation, []byte, error) {
	if conv != nil {
		next, end, err := r.fold(ctx, conv.clone(), conv.seq-1, last)
		if err != nil || next != nil && next.is(r.t) {
			return next, end, err
		}
	}
	var from uint64
	if ref, ok := strings.CutPrefix(r.t.Ref, refPrefix); ok {
		from, _ = strconv.ParseUint(ref, 10, 64) // from the beginning, if it is none of ours
	}
	if r.t.Fresh && r.t.Attempt == 1 && r.t.Began > 2 { // its prompt is right before it, unless it had to wait
		from = uint64(r.t.Began) - 2
	}
	for {
		next, end, err := r.fold(ctx, new(conversation), harness.Seq(from), nil)
		if err != nil || next.is(r.t) {
			return next, end, err
		}
		if from == 0 {
			return nil, nil, fmt.Errorf("the log does not have the turn %s: %w", r.t.ID, harness.ErrCorrupt)
		}
		from = 0
	}
}

// fold applies the log after a place. If first is given, the first event must be
// that; if it is not, this is not the log that conv was folded from, and the
// result is nil.
func (r *turn) fold(ctx context.Context, conv *conversation, after harness.Seq, first []byte) (*conversation, []byte, error) {
	var last []byte
	for e, err := range r.h.History(ctx, after) {
		if err != nil {
			return nil, nil, fmt.Errorf("read the log after %d: %w", after, err)
		}
		if first != nil {
			if !bytes.Equal(first, e.JSON()) {
				return nil, nil, nil
			}
			last, first = first, nil
			continue
		}
		conv.apply(e)
		last = e.JSON()
	}
	if first != nil {
		return nil, nil, nil
	}
	return conv, last, nil
}

// is reports whether the fold has come to the turn, with its prompt.
func (c *conversation) is(t harness.Turn) bool {
	return c.turn.id == t.ID && (c.turn.partial || c.turn.prompt == harness.PlainText(t.Parts))
}
