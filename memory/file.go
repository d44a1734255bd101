package memory

import (
	"fmt"
	"strings"
	"time"

	"harness"
)

const (
	suffix  = ".md"
	fence   = "---\n"
	maxHead = 1 << 10 // what stands above a text
)

// encode is a file: a head that says where the memory came from, and the text.
func (m Memory) encode() []byte {
	var b strings.Builder
	b.WriteString(fence)
	line := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", key, oneLine(value))
		}
	}
	line("created", m.Created.UTC().Format(time.RFC3339))
	line("session", string(m.Session))
	line("event", m.Event)
	line("accepted_by", m.Accepted)
	b.WriteString(fence + "\n" + strings.TrimSpace(m.Text) + "\n")
	return []byte(b.String())
}

// decode reads a file, also one without a head: a person wrote it.
func decode(name, text string) Memory {
	m := Memory{Name: name, Text: text}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	head, rest, ok := strings.Cut(strings.TrimPrefix(text, fence), "\n"+fence)
	if !strings.HasPrefix(text, fence) || !ok {
		m.Text = strings.TrimSpace(text)
		return m
	}
	m.Text = strings.TrimSpace(rest)
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "created":
			if t, err := time.Parse(time.RFC3339, value); err == nil {
				m.Created = t.UTC()
			}
		case "session":
			if id, err := harness.ParseSessionID(value); err == nil {
				m.Session = id
			}
		case "event":
			m.Event = value
		case "accepted_by":
			m.Accepted = value
		}
	}
	return m
}

// oneLine keeps a value from becoming another line of the head.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "")
	}
	return s
}
