package talk

import (
	"context"
	"fmt"
	"strings"

	"harness"
)

// maxSeed bounds what a conversation is told of its past; the latest is kept.
const maxSeed = 64 << 10

// Past is what was said in the session before the turn, as text; "" if nothing
// was.
func Past(ctx context.Context, turn harness.Turn, host harness.Host) (string, error) {
	if turn.Fresh {
		return "", nil
	}
	var s harness.State
	for e, err := range host.History(ctx, 0) {
		if err != nil {
			return "", fmt.Errorf("read the session's past: %w", err)
		}
		s.Apply(e)
	}
	return transcript(&s), nil
}

// transcript is the messages of a state before its open turn.
func transcript(s *harness.State) string {
	end, prompt := len(s.Messages), harness.ItemID("")
	if s.Turn != nil {
		end, prompt = min(end, s.Turn.First), s.Turn.Prompt.Item
	}
	var said []string
	size := 0
	for i := end - 1; i >= 0 && size < maxSeed; i-- {
		m := s.Messages[i]
		if m.ID == prompt {
			continue
		}
		text := m.Content.String()
		for _, c := range m.Calls {
			text += fmt.Sprintf("\n[used %s %s: %s]", c.Name, Brief(string(c.Input)), c.Status)
		}
		if text == "" {
			continue
		}
		if n := maxSeed - size; len(text) > n {
			text = "…" + strings.ToValidUTF8(text[len(text)-n:], "")
		}
		size += len(text)
		said = append(said, string(m.Role)+": "+text)
	}
	if len(said) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("<conversation-so-far>\n")
	for i := len(said) - 1; i >= 0; i-- {
		b.WriteString(said[i] + "\n\n")
	}
	b.WriteString("</conversation-so-far>\nThe above was said before, in a session that is gone. Go on with this:\n\n")
	return b.String()
}
