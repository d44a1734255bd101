package kernel

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"harness"
)

// branch finds a branch point: the source's state there, and the place in full.
// A cursor may name the source or whichever ancestor the event there is of; one
// of another session is ErrInvalid. It costs the same at any place of any log.
func (k *Kernel) branch(ctx context.Context, from harness.Branch) (*harness.State, *harness.Branch, error) {
	var c harness.Cursor
	if from.Cursor != "" {
		var err error
		if c, err = harness.ParseCursor(from.Cursor); err != nil {
			return nil, nil, err
		}
		if from.Seq != 0 && from.Seq != c.Seq {
			return nil, nil, fmt.Errorf("resume cursor %s is not at %d: %w", from.Cursor, from.Seq, harness.ErrInvalid)
		}
		from.Seq = c.Seq
	}
	st, _, err := k.fold(ctx, from.Session, from.Seq)
	if err != nil {
		return nil, nil, err
	}
	if from.Cursor != "" && c.Session != from.Session && c.Session != st.Session {
		return nil, nil, fmt.Errorf("resume cursor %s is not a place in this session's history: %w", from.Cursor, harness.ErrInvalid)
	}
	from.Seq, st.Session = st.Seq, from.Session
	if from.Cursor == "" {
		from.Cursor = harness.Cursor{Kind: harness.AtEvent, Session: from.Session, Seq: from.Seq}.String()
	}
	return st, &from, nil
}

// seedExcerpt bounds what a seed quotes of each side of a conversation: the
// whole stays within [harness.MaxSummary].
const seedExcerpt = 120

// seed is a branch's first checkpoint. It says in a few words what happened
// before, so that a client can show it without the source's history. st is the
// source's state at the branch point.
func (k *Kernel) seed(ctx context.Context, id harness.SessionID, st *harness.State, from harness.Branch) *harness.SessionCheckpoint {
	var b strings.Builder
	fmt.Fprintf(&b, "Branched at event %s", harness.EventID(from.Session, from.Seq))
	switch {
	case st.Turn != nil:
		fmt.Fprintf(&b, ", in turn %d.", st.Turns)
	case st.Turns > 0:
		fmt.Fprintf(&b, ", after turn %d.", st.Turns)
	default:
		b.WriteString(", before the first turn.")
	}
	asked, answered := k.lastSaid(ctx, from.Session, st)
	if asked != "" {
		fmt.Fprintf(&b, " Last asked: %s", asked)
	}
	if answered != "" {
		fmt.Fprintf(&b, " Last answered: %s", answered)
	}
	return &harness.SessionCheckpoint{
		SessionID: id, Sequence: int(st.Seq + 2), CheckpointType: harness.SeedCheckpoint, Status: "completed",
		SummaryText: b.String(), ResumeCursor: &from.Cursor,
	}
}

// resumeContext is what S3's session state says of where a branch began.
func resumeContext(seed *harness.SessionCheckpoint) json.RawMessage {
	text, err := json.Marshal(struct {
		Summary string  `json:"summary_text"`
		Cursor  *string `json:"resume_cursor"`
	}{seed.SummaryText, seed.ResumeCursor})
	if err != nil {
		panic("kernel: encode a seed: " + err.Error())
	}
	return text
}

// seedLook is how many sealed messages a seed looks at: the last exchange is
// among them unless a person spoke several times.
const seedLook = 4

// lastSaid quotes the last words of either side. What cannot be read is left
// out: a branch does not need it.
func (k *Kernel) lastSaid(ctx context.Context, id harness.SessionID, st *harness.State) (asked, answered string) {
	quote := func(role harness.Role, text harness.Text) {
		switch {
		case role == harness.User && asked == "":
			asked = excerpt(text.Bytes())
		case role == harness.Assistant && answered == "":
			answered = excerpt(text.Bytes())
		}
	}
	for i := len(st.Messages) - 1; i >= 0; i-- {
		quote(st.Messages[i].Role, st.Messages[i].Content)
	}
	if asked != "" && answered != "" || st.Sealed == 0 {
		return asked, answered
	}
	var sealed []harness.Message
	for raw, err := range k.Messages(ctx, id, max(0, st.Sealed-seedLook), st.Sealed) {
		var m harness.Message
		if err != nil || json.Unmarshal(raw, &m) != nil {
			k.log.Warn("a branch's seed quotes less", "session", id, "err", err)
			return asked, answered
		}
		sealed = append(sealed, m)
	}
	for i := len(sealed) - 1; i >= 0; i-- {
		quote(sealed[i].Role, sealed[i].Content)
	}
	return asked, answered
}

// excerpt is the beginning of a text, in one line and quotes.
func excerpt(text []byte) string {
	if len(text) > 4*seedExcerpt { // more than is ever shown
		text = text[:4*seedExcerpt]
	}
	s := strings.Join(strings.Fields(strings.ToValidUTF8(string(text), "")), " ")
	if len(s) > seedExcerpt {
		n := seedExcerpt
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n] + "…"
	}
	if s == "" {
		return ""
	}
	return "“" + s + "”"
}
