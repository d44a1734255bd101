package openai

import (
	"bytes"
	"encoding/json"

	"harness/model"
)

// request writes r down. Equal beginnings of requests become equal bytes.
func (c *Chat) request(r *model.Request) (*chatRequest, error) {
	p := &chatRequest{Model: r.Model, Messages: []chatMessage{}, Stream: true}
	p.StreamOptions.IncludeUsage = true
	if r.System != "" {
		p.Messages = append(p.Messages, chatMessage{Role: "system", Content: r.System})
	}
	for i := range r.Messages {
		p.Messages = append(p.Messages, messages(&r.Messages[i])...)
	}
	if c.own {
		p.MaxCompletionTokens = r.MaxTokens
		if !r.NoCache {
			p.PromptCacheKey = r.CacheKey
		}
	} else {
		p.MaxTokens = r.MaxTokens
	}
	if p.ReasoningEffort = c.effort(r.Effort); p.ReasoningEffort == "" {
		p.Temperature = r.Temperature
	}
	for _, t := range r.Tools {
		if schema := bytes.TrimSpace(t.Schema); !json.Valid(schema) || schema[0] != '{' {
			return nil, c.badSchema(t.Name)
		}
		p.Tools = append(p.Tools, chatTool{"function", chatFunction{t.Name, t.Description, t.Schema}})
	}
	switch {
	case len(r.Tools) == 0 || r.Choice == model.ChoiceAuto:
	case r.Choice == model.ChoiceAny:
		p.ToolChoice = "required"
	case r.Choice == model.ChoiceNone:
		p.ToolChoice = "none"
	}
	return p, nil
}

// effort is the nearest level that other servers know.
func (c *Chat) effort(e model.Effort) string {
	if !c.own && (e == model.EffortXHigh || e == model.EffortMax) {
		e = model.EffortHigh
	}
	return string(e)
}

// messages is one of ours as any number of theirs: results are messages of
// their own there. Thoughts are not sent.
func messages(m *model.Message) (all []chatMessage) {
	if m.Role == model.Assistant {
		return assistant(m)
	}
	var said []chatContent
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case model.PartText:
			if p.Text != "" {
				said = append(said, chatContent{Type: "text", Text: p.Text})
			}
		case model.PartImage, model.PartFile:
			said = append(said, chatMedia(p))
		case model.PartResult:
			text := model.Plain(p.Parts)
			if p.IsError {
				text = "error: " + text
			}
			all = append(all, chatMessage{Role: "tool", Content: text, ToolCallID: p.ID})
			for j := range p.Parts { // a message of a tool takes text only
				if q := &p.Parts[j]; q.Kind == model.PartImage || q.Kind == model.PartFile {
					said = append(said, chatMedia(q))
				}
			}
		case model.PartThinking, model.PartCall:
		}
	}
	switch {
	case len(said) == 1 && said[0].Type == "text": // what every server takes
		all = append(all, chatMessage{Role: "user", Content: said[0].Text})
	case len(said) > 0:
		all = append(all, chatMessage{Role: "user", Content: said})
	}
	return all
}

func assistant(m *model.Message) []chatMessage {
	a := chatMessage{Role: "assistant"}
	if text := model.Plain(m.Parts); text != "" {
		a.Content = text
	}
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == model.PartCall {
			call := chatToolCall{ID: p.ID, Type: "function"}
			call.Function.Name, call.Function.Arguments = p.Name, string(p.Object())
			a.ToolCalls = append(a.ToolCalls, call)
		}
	}
	if a.ToolCalls == nil && a.Content == nil {
		return nil
	}
	return []chatMessage{a}
}

func chatMedia(p *model.Part) chatContent {
	if p.Kind == model.PartImage {
		return chatContent{Type: "image_url", ImageURL: &chatURL{dataURL(p)}}
	}
	return chatContent{Type: "file", File: &chatFile{p.Name, dataURL(p)}}
}
