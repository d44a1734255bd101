package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"harness"
)

// maxDepth bounds how deep sessions hand work down: a task, its parts, and what
// those look up. More was never seen to help, and each level multiplies.
const maxDepth = 3

var _ harness.Spawner = (*host)(nil)

func (h *host) Spawn(ctx context.Context, n harness.NewSession, task string, started func(harness.SessionID)) (string, error) {
	k, parent, config := h.s.k, h.s.origin, h.Config()
	if parent.Depth >= maxDepth {
		return "", fmt.Errorf("sessions would nest deeper than %d: %w", maxDepth, harness.ErrInvalid)
	}
	n.Parent, n.Kind, n.User = h.s.id, parent.Kind, parent.User
	n.Engine, n.Directory = cmp.Or(n.Engine, parent.Engine), cmp.Or(n.Directory, parent.Directory)
	if n.Config.PermissionMode == nil { // nobody gets more than whoever asks has
		n.Config.PermissionMode = &config.PermissionMode
	}
	if n.Config.Model == nil && config.Model != "" {
		n.Config.Model = &config.Model
	}
	n.ID = ""
	if n.Directory == parent.Directory {
		if err := h.keepFiles(ctx); err != nil {
			return "", err
		}
	}
	id, err := k.Create(ctx, n)
	if err != nil {
		return "", fmt.Errorf("hand on a task: %w", err)
	}
	started(id)
	r, err := k.Do(ctx, id, harness.Submit{Parts: harness.TextPart(task), Source: harness.FromTurn, Actor: string(h.s.id)})
	if err != nil {
		return "", fmt.Errorf("hand on a task to %s: %w", id, err)
	}
	return k.result(ctx, id, r)
}

func (h *host) Join(ctx context.Context, child harness.SessionID) (string, error) {
	st, err := h.s.k.At(ctx, child, 0)
	switch {
	case err != nil:
		return "", err
	case st.SpawnedBy != h.s.id:
		return "", fmt.Errorf("session %s does nothing for this one: %w", child, harness.ErrNotFound)
	}
	return h.s.k.result(ctx, child, harness.Receipt{})
}

// result is the last answer of a child when its turn behind r has ended.
func (k *Kernel) result(ctx context.Context, id harness.SessionID, r harness.Receipt) (string, error) {
	end, err := k.turnEnd(ctx, id, r.Seq)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, harness.ErrShutdown) {
			k.abandon(ctx, id, r)
		}
		return "", err
	}
	answer, failure, err := k.lastWords(ctx, id)
	switch {
	case err != nil:
		return "", err
	case end.Status == harness.TurnCompleted:
		return answer, nil
	}
	return answer, fmt.Errorf("session %s ended its turn with %q: %s", id, end.Status, cmp.Or(failure, end.Reason))
}

// turnEnd waits for the end of the turn that is under way after seq.
func (k *Kernel) turnEnd(ctx context.Context, id harness.SessionID, seq harness.Seq) (*harness.TurnEnd, error) {
	for u, err := range k.Watch(ctx, id, seq) {
		if err != nil {
			return nil, err
		}
		events := u.Events
		if u.State != nil { // it fell behind: what ended meanwhile is in the log
			events = nil
			for e, err := range k.Read(ctx, id, seq) {
				if err != nil {
					return nil, err
				}
				events = append(events, e)
			}
		}
		for _, e := range events {
			if end, ok := e.Payload.(*harness.TurnEnd); ok {
				return end, nil
			}
		}
	}
	return nil, context.Cause(ctx)
}

// abandon cancels a child whose parent was told to stop, and waits until it has
// stopped, within bounds.
func (k *Kernel) abandon(ctx context.Context, id harness.SessionID, r harness.Receipt) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), k.opts.CancelGrace)
	defer cancel()
	if _, err := k.Do(ctx, id, harness.Cancel{Turn: r.Turn}); err != nil {
		return // it has ended
	}
	if _, err := k.turnEnd(ctx, id, r.Seq); err != nil {
		k.log.Error("a child session did not stop in time", "session", id, "err", err)
	}
}

// lastWords is the last answer in a child's log, and what went wrong last.
func (k *Kernel) lastWords(ctx context.Context, id harness.SessionID) (answer, failure string, err error) {
	for e, err := range k.Read(ctx, id, 0) {
		if err != nil {
			return "", "", err
		}
		switch p := e.Payload.(type) {
		case *harness.Response:
			answer = p.Text
		case *harness.Failure:
			failure = p.Message
		}
	}
	return answer, failure, nil
}
