package acp

import (
	"encoding/json"
	"strings"

	"harness"
)

// Messages of the agent. Fields that nobody reads are left out; unknown ones are
// ignored.
type (
	capabilities struct {
		Load   bool `json:"loadSession"`
		Prompt struct {
			Image bool `json:"image"`
		} `json:"promptCapabilities"`
		Session struct {
			Resume json.RawMessage `json:"resume"`
		} `json:"sessionCapabilities"`
	}

	greeting struct {
		Version int          `json:"protocolVersion"`
		Can     capabilities `json:"agentCapabilities"`
		Auth    []struct {
			ID string `json:"id"`
		} `json:"authMethods"`
	}

	sessionAnswer struct {
		Session string `json:"sessionId"`
		offer
	}

	promptAnswer struct {
		Stop  string `json:"stopReason"`
		Usage *struct {
			Input   int64 `json:"inputTokens"`
			Output  int64 `json:"outputTokens"`
			Thought int64 `json:"thoughtTokens"`
			Read    int64 `json:"cachedReadTokens"`
			Written int64 `json:"cachedWriteTokens"`
		} `json:"usage"`
		// Meta has what Gemini CLI says in place of usage.
		Meta struct {
			Quota struct {
				Tokens *struct {
					Input  int64 `json:"input_tokens"`
					Output int64 `json:"output_tokens"`
				} `json:"token_count"`
			} `json:"quota"`
		} `json:"_meta"`
	}

	updateNotice struct {
		Session string `json:"sessionId"`
		Update  update `json:"update"`
	}

	permission struct {
		Session string   `json:"sessionId"`
		Call    update   `json:"toolCall"`
		Options []choice `json:"options"`
	}
	choice struct {
		ID   string `json:"optionId"`
		Kind string `json:"kind"`
	}
)

// methods are the names of the ways to authenticate.
func (g *greeting) methods() string {
	var all []string
	for _, m := range g.Auth {
		all = append(all, m.ID)
	}
	return strings.Join(all, ", ")
}

// update is something that happens in a session. Which fields there are depends
// on its kind.
type update struct {
	Kind    string          `json:"sessionUpdate"`
	Message string          `json:"messageId"`
	Content json.RawMessage `json:"content"` // a block, or those of a call

	ID        string          `json:"toolCallId"`
	Title     string          `json:"title"`
	Tool      string          `json:"kind"`
	Status    string          `json:"status"`
	Locations []location      `json:"locations"`
	Input     json.RawMessage `json:"rawInput"`
	Output    json.RawMessage `json:"rawOutput"`

	Entries []struct {
		Content string `json:"content"`
		Status  string `json:"status"`
	} `json:"entries"`

	Used int64 `json:"used"`
	Size int64 `json:"size"`
	Cost *struct {
		Amount   float64 `json:"amount"`
		Currency string  `json:"currency"`
	} `json:"cost"`

	Severity    string `json:"severity"`
	Description string `json:"description"`
}

type location struct {
	Path string `json:"path"`
}

// block is a piece of content.
type block struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	Data     string `json:"data,omitempty"`
	Mime     string `json:"mimeType,omitempty"`
	URI      string `json:"uri,omitempty"`
	Resource *struct {
		URI  string `json:"uri"`
		Text string `json:"text"`
	} `json:"resource,omitempty"`
}

func (b block) String() string {
	switch {
	case b.Type == "text":
		return b.Text
	case b.Resource != nil && b.Resource.Text != "":
		return b.Resource.Text
	case b.Resource != nil:
		return "[" + b.Resource.URI + "]"
	case b.URI != "":
		return "[" + b.URI + "]"
	case b.Type == "":
		return ""
	}
	return "[" + b.Type + "]"
}

// produced is a piece of what a call gave.
type produced struct {
	Type    string `json:"type"` // content, diff or terminal
	Content block  `json:"content"`
	Path    string `json:"path"`
	ID      string `json:"terminalId"`
}

// outputs are the pieces of a call's content. What cannot be read says nothing.
func outputs(raw json.RawMessage) (all []produced) {
	_ = json.Unmarshal(raw, &all)
	return all
}

// text is what a call's content says. screen is what a terminal shows; nil leaves
// terminals out.
func text(raw json.RawMessage, screen func(id string) string) string {
	var parts []string
	for _, p := range outputs(raw) {
		switch p.Type {
		case "content":
			parts = append(parts, p.Content.String())
		case "diff":
			parts = append(parts, "[changed "+p.Path+"]")
		case "terminal":
			if screen != nil {
				parts = append(parts, screen(p.ID))
			}
		}
	}
	return strings.Join(parts, "\n")
}

// blocks is what a person said, as the agent takes it. before goes in front.
func blocks(parts []harness.Part, before string, images bool) (all []block) {
	var rest []harness.Part
	for _, p := range parts {
		mime, data, ok := strings.Cut(strings.TrimPrefix(p.URL, "data:"), ";base64,")
		if images && ok && strings.HasPrefix(p.URL, "data:image/") {
			all = append(all, block{Type: "image", Mime: mime, Data: data})
			continue
		}
		rest = append(rest, p)
	}
	if s := before + harness.PlainText(rest); s != "" {
		all = append(all, block{Type: "text", Text: s})
	}
	return all
}
