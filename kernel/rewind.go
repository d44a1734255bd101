package kernel

import (
	"context"
	"fmt"
	"time"

	"harness"
)

// rewinding is a rewind under way. Nothing of it is in the log before it is
// done: after a crash it was never acknowledged, and whether the files went back
// is for the client to look and to ask again.
type rewinding struct {
	from ticket
	cmd  harness.Rewind
}

// rewind begins to take files back. While that is under way no turn starts.
func (m *machine) rewind(c harness.Rewind, from ticket) (receipt harness.Receipt, under bool, err error) {
	if known, ok := m.state.Keyed(c.ClientKey); ok {
		return known, false, nil
	}
	switch {
	case !m.keep.files:
		return receipt, false, fmt.Errorf("rewind needs a workspace with snapshots: %w", harness.ErrUnsupported)
	case m.draining:
		return receipt, false, harness.ErrUnavailable
	case m.state.Turn != nil || len(m.state.Queue) > 0:
		return receipt, false, fmt.Errorf("files are taken back between turns: %w", harness.ErrBusy)
	case m.keep.rewinding != nil:
		return receipt, false, fmt.Errorf("files are being taken back: %w", harness.ErrBusy)
	}
	m.keep.rewinding = &rewinding{from, c}
	m.then(rewind{c})
	return receipt, true, nil
}

// rewound answers a rewind. One that changed something is in the log even if it
// could not do everything.
func (m *machine) rewound(now time.Time, r *ready, in rewound) {
	w := m.keep.rewinding
	m.keep.rewinding = nil
	if p := in.result; in.err != nil && p.Safety == "" {
		m.when(r, m.state.Seq, reply{to: w.from, err: in.err})
	} else {
		p.MessageID, p.DryRun, p.Force, p.Actor, p.ClientKey = w.cmd.Message, w.cmd.DryRun, w.cmd.Force, w.cmd.Actor, w.cmd.ClientKey
		p.Error = in.problem
		if p.Safety != "" {
			p.ItemID = harness.ItemID(m.newID(harness.ItemPrefix))
		}
		seq := m.stage(now, &p)
		m.when(r, seq, reply{to: w.from, receipt: harness.Receipt{Seq: seq, Item: p.ItemID}})
	}
	m.next(now)
}

// rewound is what a rewind came to, as its event tells.
func (k *Kernel) rewound(ctx context.Context, id harness.SessionID, at harness.Receipt) (harness.Receipt, error) {
	for e, err := range k.store.Read(ctx, id, at.Seq-1) {
		if err != nil {
			return harness.Receipt{}, err
		}
		if p, ok := e.Payload.(*harness.Rewound); ok {
			at.Rewound = p
			return at, nil
		}
		break
	}
	return harness.Receipt{}, fmt.Errorf("the client key was used for another command: %w", harness.ErrInvalid)
}
