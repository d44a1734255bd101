package delta

import (
	"encoding/json"

	"harness"
)

// lacks is what has no effect with the session's engine, in the words of S1.
type lacks struct {
	Commands []string `json:"commands"`
	Settings []string `json:"settings"`
}

// s1 are S1's words for settings.
var s1 = map[string]string{
	"permission_mode": "permissionMode", "think_level": "effort", "max_turns": "maxTurns", "system_prompt": "systemPrompt", "agent_profile": "agent",
}

// lackOf is nil if nothing is lacking that a client of this protocol could use:
// events are not told here.
func lackOf(l *harness.Lacks) *lacks {
	if l == nil || len(l.Commands)+len(l.Settings) == 0 {
		return nil
	}
	out := &lacks{Commands: list(l.Commands), Settings: []string{}}
	for _, s := range l.Settings {
		if word, ok := s1[s]; ok {
			s = word
		}
		out.Settings = append(out.Settings, s)
	}
	return out
}

// appendLacks appends what is lacking; nothing has empty lists.
func appendLacks(dst []byte, l *harness.Lacks) []byte {
	has := lackOf(l)
	if has == nil {
		has = &lacks{[]string{}, []string{}}
	}
	b, err := json.Marshal(has)
	if err != nil { // there is nothing in it that cannot be encoded
		return append(dst, "null"...)
	}
	return append(dst, b...)
}

func (p *projector) tellLacks() {
	if (lackOf(p.st.Lacks) != nil || lackOf(p.was.lacks) != nil) && !p.st.Lacks.Equal(p.was.lacks) {
		p.buf = appendLacks(p.buf[:0], p.st.Lacks)
		p.out.Set(p.paths.field("lacks"), p.buf)
	}
}
