package main

import (
	"fmt"
	"iter"
	"strings"

	"harness"
)

// print shows a state to a person, or to a program.
func (p *program) print(st *harness.State, ends endings, asJSON bool) error {
	if asJSON {
		_, err := fmt.Fprintln(p.stdout, string(st.JSON()))
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s", st.Session, st.Status)
	if st.Reason != "" {
		fmt.Fprintf(&b, " (%s)", st.Reason)
	}
	fmt.Fprintf(&b, "  at event %d, %s\n", st.Seq, st.Updated.Local().Format("2006-01-02 15:04:05 MST"))
	if st.Title != "" && (len(st.Messages) == 0 || !strings.HasPrefix(st.Messages[0].Content.String(), strings.TrimSuffix(st.Title, "…"))) {
		fmt.Fprintf(&b, "%s\n", clean(st.Title, 200))
	}
	if st.From != nil {
		fmt.Fprintf(&b, "branch of %s at event %d\n", st.From.Session, st.From.Seq)
	}
	if st.Error != "" {
		fmt.Fprintf(&b, "error: %s\n", st.Error)
	}
	for _, m := range st.Messages {
		fmt.Fprintf(&b, "\n%s", m.Role)
		if m.Status != harness.MessageComplete {
			fmt.Fprintf(&b, " [%s]", m.Status)
		}
		b.WriteByte('\n')
		paragraph(&b, m.Content.String())
		for _, c := range m.Calls {
			fmt.Fprintf(&b, "  ▸ %s %s [%s]\n", clean(c.Name, 60), clean(string(c.Input), 80), ends.of(c))
		}
	}
	for _, a := range st.Pending {
		fmt.Fprintf(&b, "\n? %s: %s (%s, call %s)\n", clean(a.Tool, 60), clean(a.Description, 100), a.ID, clean(string(a.Call), 60))
	}
	_, err := fmt.Fprint(p.stdout, visible(b.String()))
	return err
}

// endings is what outcomes say of calls for which S1 has no word but error.
type endings map[harness.CallID]string

// heard are the events, of whose outcomes it takes note as they pass.
func (n endings) heard(events iter.Seq2[harness.Event, error]) iter.Seq2[harness.Event, error] {
	return func(yield func(harness.Event, error) bool) {
		for e, err := range events {
			if err == nil {
				n.hear(e)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func (n endings) hear(e harness.Event) {
	o, ok := e.Payload.(*harness.ToolOutcome)
	switch {
	case !ok:
	case o.Status == harness.OutcomeTimeout:
		n[o.ToolCallID] = o.Status
	case o.Status == harness.OutcomeError && (o.Reason == harness.TurnCancelled || o.Reason == "interrupted"):
		n[o.ToolCallID] = o.Reason
	}
}

// of is how a call stands, for people.
func (n endings) of(c *harness.Call) string {
	if how := n[c.ID]; how != "" && c.Status == harness.CallError {
		return how
	}
	return string(c.Status)
}

func paragraph(b *strings.Builder, text string) {
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if line != "" {
			b.WriteString("  " + line)
		}
		b.WriteByte('\n')
	}
}

// visible is text that cannot move a terminal's cursor, nor turn around what
// is read.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if steers(r) && r != '\n' && r != '\t' {
			return '·'
		}
		return r
	}, s)
}

// clean is text for one line of a terminal, bounded.
func clean(s string, limit int) string {
	r := []rune(s)
	for i := range r {
		if r[i] == '\n' || r[i] == '\t' || r[i] == '\r' {
			r[i] = ' '
		} else if steers(r[i]) {
			r[i] = '·'
		}
	}
	if len(r) > limit {
		r = append(r[:limit-1], '…')
	}
	return string(r)
}

// steers reports whether a terminal obeys r instead of showing it: control
// characters and those that change the direction of writing.
func steers(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
