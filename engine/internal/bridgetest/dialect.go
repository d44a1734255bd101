package bridgetest

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Dialect is what a stand-in has to know of a program's protocol: which of its
// words are made up, so that they differ from run to run.
type Dialect struct {
	// Kind tells messages to the program apart: by what they are, not when they
	// come.
	Kind func(line []byte) string
	// Flags are those whose values are made up. If there are any, the command
	// line belongs to the story.
	Flags []string
	// Learn takes what is made up out of a message to the program, as it was
	// recorded and as it is now, and notes it.
	Learn func(names map[string]string, was, is map[string]any)
	// Now is a recorded line in today's words.
	Now func(names map[string]string, line []byte) []byte
	// Scrub cuts a message of the program down to what somebody may want to
	// read, and reports whether it is worth telling.
	Scrub func(map[string]any) bool
}

// JSONRPC is the dialect of programs that speak JSON-RPC.
func JSONRPC(scrub func(map[string]any) bool) Dialect {
	return Dialect{
		Scrub: scrub,
		Kind: func(line []byte) string {
			var m struct {
				ID     json.RawMessage
				Method string
			}
			_ = json.Unmarshal(line, &m) // what cannot be read is of no kind
			if m.Method != "" {
				return m.Method
			}
			return "response " + string(m.ID)
		},
		Learn: func(ids map[string]string, was, is map[string]any) {
			if was["method"] != nil && was["id"] != nil {
				ids[fmt.Sprint(was["id"])] = fmt.Sprint(is["id"])
				delete(was, "id")
				delete(is, "id")
			}
			for _, m := range []map[string]any{was, is} {
				if p, ok := m["params"].(map[string]any); ok {
					delete(p, "clientUserMessageId")
				}
			}
		},
		Now: func(ids map[string]string, line []byte) []byte {
			var m map[string]json.RawMessage
			if json.Unmarshal(line, &m) != nil || m["method"] != nil {
				return line
			}
			if id, ok := ids[string(m["id"])]; ok {
				m["id"] = json.RawMessage(id)
				if out, err := json.Marshal(m); err == nil {
					return out
				}
			}
			return line
		},
	}
}

// start compares the command line with the recorded one, and learns the values
// of flags that are made up. It returns what is wrong with it.
func (d *Dialect) start(names map[string]string, recorded []byte, args []string) string {
	var want []string
	_ = json.Unmarshal(recorded, &want) // then it is not what is wanted
	for i := 1; i < min(len(want), len(args)); i++ {
		if slices.Contains(d.Flags, args[i-1]) {
			names[want[i]] = args[i]
			want[i] = args[i]
		}
	}
	if !slices.Equal(want, args) {
		return fmt.Sprintf("started with %q, want %q", args, want)
	}
	return ""
}
