package claude

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// line is a line of a transcript, as far as a session has a use for it.
type line struct {
	Type      string    `json:"type"`
	Subtype   string    `json:"subtype"`
	UUID      string    `json:"uuid"`
	Parent    string    `json:"parentUuid"`
	Logical   string    `json:"logicalParentUuid"` // before the history was shortened
	Session   string    `json:"sessionId"`
	Version   string    `json:"version"`
	Directory string    `json:"cwd"`
	Time      time.Time `json:"timestamp"`

	Side    bool `json:"isSidechain"`
	Meta    bool `json:"isMeta"`
	Summary bool `json:"isCompactSummary"`
	Failed  bool `json:"isApiErrorMessage"`

	Message *message `json:"message"`
}

type message struct {
	ID      string `json:"id"`
	Role    string `json:"role"`
	Model   string `json:"model"`
	Stop    string `json:"stop_reason"`
	Content blocks `json:"content"`
	Usage   *usage `json:"usage"`
}

type usage struct {
	In      int64 `json:"input_tokens"`
	Out     int64 `json:"output_tokens"`
	Written int64 `json:"cache_creation_input_tokens"`
	Cached  int64 `json:"cache_read_input_tokens"`
}

// blocks is a text, or blocks.
type blocks []block

type block struct {
	part
	Thinking string          `json:"thinking"`
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input"`
	Call     string          `json:"tool_use_id"`
	Content  parts           `json:"content"` // of a result
	IsError  bool            `json:"is_error"`
}

// parts is a text, or parts. They are another kind than blocks so that nothing
// here is deeper than it may be: each level is read again by the one above.
type parts []part

type part struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func (c *blocks) UnmarshalJSON(raw []byte) error {
	if text, ok, err := onlyText(raw); ok {
		*c = blocks{{part: part{"text", text}}}
		return err
	}
	return json.Unmarshal(raw, (*[]block)(c))
}

func (c *parts) UnmarshalJSON(raw []byte) error {
	if text, ok, err := onlyText(raw); ok {
		*c = parts{{"text", text}}
		return err
	}
	return json.Unmarshal(raw, (*[]part)(c))
}

// onlyText is content that is no list.
func onlyText(raw []byte) (text string, ok bool, err error) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] == '[' || bytes.Equal(raw, []byte("null")) {
		return "", false, nil
	}
	return text, true, json.Unmarshal(raw, &text)
}

// text is what the parts say, and which of them say nothing that is text.
func (c parts) text() (said string, rest []string) {
	var all []string
	for _, b := range c {
		if b.Type == "text" {
			all = append(all, b.Text)
		} else {
			rest = append(rest, b.Type)
		}
	}
	return strings.Join(all, "\n"), rest
}

// text is what the blocks say, and which of them say nothing that is text.
func (c blocks) text() (said string, rest []string) {
	all := make(parts, len(c))
	for i, b := range c {
		all[i] = b.part
	}
	return all.text()
}

// spoken reports whether a line is part of a conversation.
func (l *line) spoken() bool {
	return l.UUID != "" && (l.Message != nil && (l.Type == "user" || l.Type == "assistant") || l.Type == "system" || l.Type == "attachment")
}
