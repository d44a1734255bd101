package openai

import (
	"encoding/json"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"harness/model"
)

// params writes the request down. Equal beginnings of requests become equal bytes.
func (c *Chat) params(r *model.Request) (sdk.ChatCompletionNewParams, error) {
	p := sdk.ChatCompletionNewParams{
		Model: shared.ChatModel(r.Model), Messages: []sdk.ChatCompletionMessageParamUnion{},
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	}
	if r.System != "" {
		p.Messages = append(p.Messages, sdk.SystemMessage(r.System))
	}
	for i := range r.Messages {
		p.Messages = append(p.Messages, messages(&r.Messages[i])...)
	}
	if r.MaxTokens > 0 {
		if c.own {
			p.MaxCompletionTokens = param.NewOpt(r.MaxTokens)
		} else {
			p.MaxTokens = param.NewOpt(r.MaxTokens)
		}
	}
	if c.own && r.CacheKey != "" && !r.NoCache {
		p.PromptCacheKey = param.NewOpt(r.CacheKey)
	}
	if r.Effort != model.EffortDefault {
		p.ReasoningEffort = shared.ReasoningEffort(r.Effort)
	} else if r.Temperature != nil {
		p.Temperature = param.NewOpt(*r.Temperature)
	}
	for _, t := range r.Tools {
		var schema map[string]any
		if json.Unmarshal(t.Schema, &schema) != nil || schema == nil {
			return p, c.badSchema(t.Name)
		}
		f := shared.FunctionDefinitionParam{Name: t.Name, Parameters: schema}
		if t.Description != "" {
			f.Description = param.NewOpt(t.Description)
		}
		p.Tools = append(p.Tools, sdk.ChatCompletionFunctionTool(f))
	}
	switch {
	case len(r.Tools) == 0 || r.Choice == model.ChoiceAuto:
	case r.Choice == model.ChoiceAny:
		p.ToolChoice.OfAuto = param.NewOpt("required")
	case r.Choice == model.ChoiceNone:
		p.ToolChoice.OfAuto = param.NewOpt("none")
	}
	return p, nil
}

// messages is one of ours as any number of theirs: results are messages of
// their own there. Thoughts are not sent.
func messages(m *model.Message) (all []sdk.ChatCompletionMessageParamUnion) {
	if m.Role == model.Assistant {
		return assistant(m)
	}
	var said []sdk.ChatCompletionContentPartUnionParam
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case model.PartText:
			if p.Text != "" {
				said = append(said, sdk.TextContentPart(p.Text))
			}
		case model.PartImage, model.PartFile:
			said = append(said, chatMedia(p))
		case model.PartResult:
			text := model.Plain(p.Parts)
			if p.IsError {
				text = "error: " + text
			}
			all = append(all, sdk.ToolMessage(text, p.ID))
			for j := range p.Parts { // a message of a tool takes text only
				if q := &p.Parts[j]; q.Kind == model.PartImage || q.Kind == model.PartFile {
					said = append(said, chatMedia(q))
				}
			}
		case model.PartThinking, model.PartCall:
		}
	}
	switch {
	case len(said) == 1 && said[0].OfText != nil: // what every server takes
		all = append(all, sdk.UserMessage(said[0].OfText.Text))
	case len(said) > 0:
		all = append(all, sdk.UserMessage(said))
	}
	return all
}

func assistant(m *model.Message) []sdk.ChatCompletionMessageParamUnion {
	a := &sdk.ChatCompletionAssistantMessageParam{}
	if text := model.Plain(m.Parts); text != "" {
		a.Content.OfString = param.NewOpt(text)
	}
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == model.PartCall {
			a.ToolCalls = append(a.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
				ID: p.ID, Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: p.Name, Arguments: string(p.Object())},
			}})
		}
	}
	if a.ToolCalls == nil && !a.Content.OfString.Valid() {
		return nil
	}
	return []sdk.ChatCompletionMessageParamUnion{{OfAssistant: a}}
}

func chatMedia(p *model.Part) sdk.ChatCompletionContentPartUnionParam {
	if p.Kind == model.PartImage {
		return sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: dataURL(p)})
	}
	return sdk.FileContentPart(sdk.ChatCompletionContentPartFileFileParam{FileData: param.NewOpt(dataURL(p)), Filename: param.NewOpt(p.Name)})
}
