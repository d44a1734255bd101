package kernel

import (
	"context"
	"fmt"
	"time"

	"harness"
)

// MaxLog bounds what one session stores, its log with its artifacts: some weeks
// of an agent that never rests, and little enough to be exported in minutes. A
// session that has reached it is read, watched and branched like any other, and
// does nothing more; a branch begins with none of it.
const MaxLog = 1 << 30

// fullCode is what a turn ends with that had no room left.
const fullCode = "session_full"

// weigh adds the envelope of an event of the batch to the state, which was folded
// before there was one, and to those that wait for the event.
func (m *machine) weigh(e harness.Event) {
	n := int64(len(e.JSON()))
	m.state.Bytes += n
	for _, f := range m.batch.effects {
		if s, ok := f.(snapshot); ok && e.Seq <= s.state.Seq {
			s.state.Bytes += n
		}
	}
}

// sizeOf is how much a session stores whose head was written by a build that did
// not count: what its row says, and at least what its events need.
func (k *Kernel) sizeOf(ctx context.Context, id harness.SessionID, st *harness.State) (int64, error) {
	least := int64(st.Seq)
	if st.From != nil {
		least -= int64(st.From.Seq)
	}
	least *= eventCost
	for sum, err := range k.store.List(ctx, harness.Filter{Session: id, Limit: 1}) {
		return max(sum.Bytes, least), err
	}
	return least, nil
}

// brimful reports whether the session may not grow any more.
func (m *machine) brimful() bool { return m.maxLog > 0 && m.state.Bytes >= m.maxLog }

// room refuses a command that would make a full session grow with ErrQuota.
// What ends something is taken.
func (m *machine) room(cmd harness.Command) error {
	if !m.brimful() {
		return nil
	}
	switch c := cmd.(type) {
	case harness.Cancel, harness.Answer, harness.Resume:
		return nil
	case harness.Submit:
		if _, known := m.state.Keyed(c.ClientKey); known {
			return nil
		}
	}
	return fmt.Errorf("%s: %w", m.fullText(), harness.ErrQuota)
}

// fullText says to people what they can do about it.
func (m *machine) fullText() string {
	return fmt.Sprintf("the session has stored %d bytes, as many as one may; go on in a branch", m.state.Bytes)
}

// curb ends a running turn whose session is full, with an error.
func (m *machine) curb(now time.Time) {
	t := m.state.Turn
	if m.dead || !m.brimful() || m.engine == "" || t == nil || t.Cancelling || m.keep.ending != nil {
		return
	}
	m.stage(now, &harness.Failure{Message: m.fullText(), Code: fullCode})
	m.curbed = true
	m.beginCancel(now, "", "")
}
