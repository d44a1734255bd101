package protocoltest

import (
	"encoding/json"
	"fmt"
	"strings"

	"harness"
)

// canonical is an event as a story tells it: type, turn and payload, without
// its time and place.
func canonical(e harness.Event) string {
	var env struct {
		Payload map[string]any `json:"payload"`
	}
	if err := json.Unmarshal(e.JSON(), &env); err != nil {
		return fmt.Sprintf("%s: %v", e.Type(), err)
	}
	delete(env.Payload, "elapsed_ms") // the clock's
	delete(env.Payload, "sequence")   // the place
	payload, err := json.Marshal(env.Payload)
	if err != nil {
		return fmt.Sprintf("%s: %v", e.Type(), err)
	}
	turn := string(e.Turn)
	if turn == "" {
		turn = "-"
	}
	return fmt.Sprintf("%s %s %s", e.Type(), turn, payload)
}

// mergeTokens joins text that the store happened to commit in pieces.
func mergeTokens(log string) string {
	lines := strings.Split(strings.TrimSuffix(log, "\n"), "\n")
	var out []string
	for _, line := range lines {
		if n := len(out); n > 0 {
			if merged, ok := join(out[n-1], line); ok {
				out[n-1] = merged
				continue
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n") + "\n"
}

func join(a, b string) (string, bool) {
	ka, ta, pa := cut(a)
	kb, tb, pb := cut(b)
	if ka != kb || ta != tb || ka != "token" && ka != "thinking" && ka != "tool_log" {
		return "", false
	}
	var x, y map[string]any
	if json.Unmarshal([]byte(pa), &x) != nil || json.Unmarshal([]byte(pb), &y) != nil {
		return "", false
	}
	for _, k := range []string{"item_id", "tool_call_id", "stream"} {
		if x[k] != y[k] {
			return "", false
		}
	}
	x["text"] = fmt.Sprint(x["text"], y["text"])
	p, err := json.Marshal(x)
	return fmt.Sprintf("%s %s %s", ka, ta, p), err == nil
}

func cut(line string) (kind, turn, payload string) {
	kind, rest, _ := strings.Cut(line, " ")
	turn, payload, _ = strings.Cut(rest, " ")
	return kind, turn, payload
}
