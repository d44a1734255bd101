package main

import (
	"fmt"
	"strings"

	"harness"
)

// print shows a state to a person, or to a program.
func (p *program) print(st *harness.State, asJSON bool) error {
	if asJSON {
		_, err := fmt.Fprintln(p.stdout, string(harness.EncodeState(st)))
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s", st.Session, st.Status)
	if st.Reason != "" {
		fmt.Fprintf(&b, " (%s)", st.Reason)
	}
	fmt.Fprintf(&b, "  at event %d, %s\n", st.Seq, st.Updated.Format("2006-01-02 15:04:05 MST"))
	if st.Error != "" {
		fmt.Fprintf(&b, "error: %s\n", visible(st.Error))
	}
	for _, m := range st.Messages {
		fmt.Fprintf(&b, "\n%s", m.Role)
		if m.Status != harness.MessageComplete {
			fmt.Fprintf(&b, " [%s]", m.Status)
		}
		b.WriteByte('\n')
		paragraph(&b, visible(m.Content.String()))
		for _, c := range m.Calls {
			fmt.Fprintf(&b, "  ▸ %s %s [%s]\n", clean(c.Name, 60), clean(string(c.Input), 80), c.Status)
		}
	}
	for _, a := range st.Pending {
		fmt.Fprintf(&b, "\n? %s: %s (%s, call %s)\n", clean(a.Tool, 60), clean(a.Description, 100), a.ID, clean(string(a.Call), 60))
	}
	_, err := fmt.Fprint(p.stdout, b.String())
	return err
}

func paragraph(b *strings.Builder, text string) {
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		b.WriteString("  " + line + "\n")
	}
}

// visible is text that cannot move a terminal's cursor.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '·'
		}
		return r
	}, s)
}
