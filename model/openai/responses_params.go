package openai

import (
	"encoding/base64"
	"encoding/json"

	"harness/model"
)

// params writes the request down. Equal beginnings of requests become equal bytes.
func (c *Responses) params(r *model.Request) (*responseRequest, error) {
	p := &responseRequest{
		Model: r.Model, Instructions: r.System, MaxOutputTokens: max(0, r.MaxTokens), ParallelToolCalls: true, Stream: true,
		Include: []string{"reasoning.encrypted_content"}, Input: []inputItem{},
	}
	if !r.NoCache {
		p.PromptCacheKey = r.CacheKey
	}
	switch r.Effort {
	case model.EffortDefault:
		p.Temperature = r.Temperature
	case model.EffortNone:
		p.Reasoning = &reasoning{Effort: "none"}
	default:
		p.Reasoning = &reasoning{Effort: string(r.Effort), Summary: "auto"}
	}
	for _, t := range r.Tools {
		var schema map[string]json.RawMessage
		if json.Unmarshal(t.Schema, &schema) != nil || schema == nil {
			return nil, c.badSchema(t.Name)
		}
		p.Tools = append(p.Tools, functionTool{Type: "function", Name: t.Name, Description: t.Description, Parameters: t.Schema})
	}
	switch {
	case len(r.Tools) == 0 || r.Choice == model.ChoiceAuto:
	case r.Choice == model.ChoiceAny:
		p.ToolChoice = "required"
	case r.Choice == model.ChoiceNone:
		p.ToolChoice = "none"
	}
	for i := range r.Messages {
		p.Input = append(p.Input, c.items(&r.Messages[i])...)
	}
	return p, nil
}

// items is a message as input items, in the order of its parts.
func (c *Responses) items(m *model.Message) (all []inputItem) {
	var said []inputPart
	flush := func() {
		if len(said) > 0 {
			all = append(all, inputItem{Role: "user", Content: said})
			said = nil
		}
	}
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case model.PartText:
			switch {
			case p.Text == "":
			case m.Role == model.Assistant:
				all = append(all, inputItem{Role: "assistant", Content: p.Text})
			default:
				said = append(said, inputPart{Type: "input_text", Text: &p.Text})
			}
		case model.PartImage:
			said = append(said, inputPart{Type: "input_image", Detail: "auto", ImageURL: dataURL(p)})
		case model.PartFile:
			said = append(said, file(p))
		case model.PartThinking:
			if p.Provider == c.name && p.Signature != "" && p.ID != "" {
				thought := []summary{}
				if p.Text != "" {
					thought = append(thought, summary{p.Text, "summary_text"})
				}
				all = append(all, inputItem{Type: "reasoning", ID: p.ID, EncryptedContent: p.Signature, Summary: &thought})
			}
		case model.PartCall:
			all = append(all, inputItem{Type: "function_call", CallID: &p.ID, Name: &p.Name, Arguments: new(string(p.Object()))})
		case model.PartResult:
			flush()
			all = append(all, result(p))
		}
	}
	flush()
	return all
}

// result is a text if it can be, since every server takes that.
func result(p *model.Part) inputItem {
	var list []inputPart
	for i := range p.Parts {
		switch q := &p.Parts[i]; q.Kind {
		case model.PartImage:
			list = append(list, inputPart{Type: "input_image", ImageURL: dataURL(q)})
		case model.PartFile:
			list = append(list, file(q))
		case model.PartText, model.PartThinking, model.PartCall, model.PartResult:
		}
	}
	text := model.Plain(p.Parts)
	if p.IsError {
		text = "error: " + text
	}
	item := inputItem{Type: "function_call_output", CallID: &p.ID, Output: text}
	if list != nil {
		item.Output = append([]inputPart{{Type: "input_text", Text: &text}}, list...)
	}
	return item
}

func file(p *model.Part) inputPart {
	return inputPart{Type: "input_file", FileData: dataURL(p), Filename: &p.Name}
}

func dataURL(p *model.Part) string {
	return "data:" + p.Media + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
}
