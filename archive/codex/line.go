package codex

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// line is a line of a rollout.
type line struct {
	Type    string          `json:"type"`
	Time    time.Time       `json:"timestamp"`
	Payload json.RawMessage `json:"payload"`
}

// meta is the first of them.
type meta struct {
	ID        string `json:"id"`
	Directory string `json:"cwd"`
	Version   string `json:"cli_version"`
}

// context is what a turn is run with.
type context struct {
	Model string `json:"model"`
}

// event is something that the program told its screen.
type event struct {
	Type    string `json:"type"`
	Message string `json:"message"`
	Reason  string `json:"reason"`
	Item    struct {
		Type    string `json:"type"`
		ID      string `json:"id"`
		Status  string `json:"status"`
		Content words  `json:"content"`
	} `json:"item"`
	Info *struct {
		Total tokens `json:"total_token_usage"`
	} `json:"info"`
	Error *struct {
		Message string `json:"message"`
	} `json:"error"`
}

type tokens struct {
	In     int64 `json:"input_tokens"`
	Cached int64 `json:"cached_input_tokens"`
	Out    int64 `json:"output_tokens"`
}

// item is something between the program and its model.
type item struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content words           `json:"content"`
	Summary words           `json:"summary"`
	ID      string          `json:"id"`
	Call    string          `json:"call_id"`
	Name    string          `json:"name"`
	Status  string          `json:"status"`
	Input   string          `json:"input"`
	Args    string          `json:"arguments"`
	Action  json.RawMessage `json:"action"`
	Output  json.RawMessage `json:"output"`
}

// compaction is a history that was shortened.
type compaction struct {
	Message string `json:"message"`
}

// words are texts of some kinds.
type words []struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// text is what they say, and which of them say nothing that is text.
func (w words) text() (said string, rest []string) {
	var all []string
	for _, p := range w {
		if strings.HasSuffix(strings.ToLower(p.Type), "text") {
			all = append(all, p.Text)
		} else {
			rest = append(rest, p.Type)
		}
	}
	return strings.Join(all, "\n"), rest
}

// output is what a call returned: a text, an object with one, or parts.
func output(raw json.RawMessage) (said string, failed bool, rest []string) {
	switch raw = bytes.TrimSpace(raw); {
	case len(raw) == 0:
		return "", false, nil
	case raw[0] == '"':
		_ = json.Unmarshal(raw, &said) // it was checked to be JSON
		return said, false, nil
	case raw[0] == '[':
		var parts words
		if json.Unmarshal(raw, &parts) == nil {
			said, rest = parts.text()
			return said, false, rest
		}
	case raw[0] == '{':
		var whole struct {
			Content json.RawMessage `json:"content"`
			Success *bool           `json:"success"`
		}
		if json.Unmarshal(raw, &whole) == nil && len(whole.Content) > 0 && whole.Content[0] != '{' {
			said, _, rest = output(whole.Content)
			return said, whole.Success != nil && !*whole.Success, rest
		}
	}
	return string(raw), false, nil
}
