package kernel

import (
	"context"
	"fmt"
	"slices"

	"harness"
)

// target is where a rewind to a message goes.
type target struct {
	mark    string // empty if nothing has changed since
	lineage map[harness.SessionID]string

	children []harness.SessionID
}

// target finds the state of the files before the turn that a message belongs to:
// the first mark since that turn began. The log has it all: which messages a turn
// is made of, which turns kept files, and, for a branch, what its ancestors did.
// It reads the log from its beginning; rewinds are rare.
func (k *Kernel) target(ctx context.Context, id harness.SessionID, message harness.ItemID) (target, error) {
	f := finder{id: id, message: message, lineage: map[harness.SessionID]string{}, agents: map[harness.SessionID]harness.SessionID{}}
	for e, err := range k.store.Read(ctx, id, 0) {
		if err != nil {
			return target{}, err
		}
		f.see(e)
		f.delegates(e)
	}
	switch {
	case !f.found:
		return target{}, fmt.Errorf("there is no message %s: %w", message, harness.ErrInvalid)
	case f.at.lost != "":
		return target{}, fmt.Errorf("the files before message %s cannot be told: %s: %w", message, f.at.lost, harness.ErrUnsupported)
	}
	to := target{mark: f.at.mark, lineage: f.lineage}
	for child, parent := range f.agents {
		if err := k.descendants(ctx, child, parent, &to.children); err != nil {
			return target{}, err
		}
	}
	return to, nil
}

// descendants adds a session to the list, and those that it handed work on to,
// if it really is a child of parent: an engine may call anything an agent.
func (k *Kernel) descendants(ctx context.Context, child, parent harness.SessionID, list *[]harness.SessionID) error {
	f := finder{id: child, agents: map[harness.SessionID]harness.SessionID{}}
	for e, err := range k.store.Read(ctx, child, 0) {
		if harness.AsError(err) == harness.ErrNotFound {
			return nil
		}
		if err != nil {
			return err
		}
		if p, ok := e.Payload.(*harness.SessionState); e.Seq == 1 && (!ok || p.SpawnedBy != parent) || slices.Contains(*list, child) {
			return nil
		}
		f.delegates(e)
	}
	*list = append(*list, child)
	for id, by := range f.agents {
		if err := k.descendants(ctx, id, by, list); err != nil {
			return err
		}
	}
	return nil
}

// finder reads a log for the place that a message stands for.
type finder struct {
	id      harness.SessionID
	message harness.ItemID
	lineage map[harness.SessionID]string
	agents  map[harness.SessionID]harness.SessionID // sessions that were handed work, and by whom

	queue []harness.ItemID // prompts that wait for a turn
	turn  harness.TurnID   // the last one
	since record           // since it began
	found bool             // the message
	at    record           // since its turn began
}

// record is what a stretch of the log says about files.
type record struct {
	mark string
	lost string // why the files before it cannot be told
	done bool   // one of the two is known: what follows does not matter
}

func (r *record) add(mark, lost string) {
	if !r.done {
		r.mark, r.lost, r.done = mark, lost, true
	}
}

func (f *finder) see(e harness.Event) {
	switch p := e.Payload.(type) {
	case *harness.SessionState:
		if p.ParentSessionID != "" {
			f.queue, f.turn, f.since = nil, "", record{} // a branch leaves behind what was under way
		}
	case *harness.UserMessage:
		if p.Source != harness.FromSteer {
			f.queue = append(f.queue, p.ItemID)
			if p.ItemID == f.message { // its turn comes
				f.here(record{})
			}
			return
		}
		f.belongs(e, p.ItemID)
	case *harness.TurnStart:
		f.begins(p)
	case *harness.Token:
		f.belongs(e, p.ItemID)
	case *harness.Response:
		f.belongs(e, p.ItemID)
	case *harness.Thinking:
		f.belongs(e, p.ItemID)
	case *harness.Reflection:
		f.belongs(e, p.ItemID)
	case *harness.ToolCall:
		f.belongs(e, p.ItemID)
		f.belongs(e, p.MessageID)
	case *harness.SessionCheckpoint:
		if p.CheckpointType == harness.WorkspaceCheckpoint {
			f.marked(e, p)
		}
	case *harness.Rewound:
		if p.Safety == "" {
			return
		}
		if p.ItemID == f.message {
			f.here(record{})
		}
		f.at.add(p.Safety, "")
		f.since.add(p.Safety, "")
		f.inherit(e, p.After)
	}
}

// begins sees a turn's first attempt, and takes its prompt from the queue.
func (f *finder) begins(p *harness.TurnStart) {
	if f.turn != p.TurnID {
		f.turn, f.since = p.TurnID, record{}
		if len(f.queue) > 0 {
			if f.queue[0] == f.message {
				f.here(record{})
			}
			f.queue = f.queue[1:]
		}
		if !p.Kept {
			f.at.add("", "a turn since then ran without snapshots")
			f.since.add("", "its turn ran without snapshots")
		}
	}
	if p.ItemID == f.message {
		f.here(f.since)
	}
}

// belongs finds the message among what the turn is made of.
func (f *finder) belongs(e harness.Event, item harness.ItemID) {
	if item == f.message && !f.found && e.Turn == f.turn {
		f.here(f.since)
	}
}

// here is the message's place; r is what the log says since its turn began.
func (f *finder) here(r record) { f.found, f.at = true, r }

func (f *finder) marked(e harness.Event, p *harness.SessionCheckpoint) {
	if p.Phase == harness.MarkBefore {
		lost := ""
		if p.Status == harness.CheckpointFailed {
			lost = p.SummaryText
		}
		f.at.add(p.Mark, lost)
		f.since.add(p.Mark, lost)
	}
	f.inherit(e, p.Mark)
}

// delegates notes whom work was handed to.
func (f *finder) delegates(e harness.Event) {
	if p, ok := e.Payload.(*harness.SubagentEvent); ok {
		if id, err := harness.ParseSessionID(p.AgentID); err == nil {
			f.agents[id] = e.Session
		}
	}
}

// inherit notes a mark of an ancestor.
func (f *finder) inherit(e harness.Event, mark string) {
	if e.Session != f.id && mark != "" {
		f.lineage[e.Session] = mark
	}
}
