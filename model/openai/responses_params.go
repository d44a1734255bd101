package openai

import (
	"encoding/base64"
	"encoding/json"

	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"harness/model"
)

// params writes the request down. Equal beginnings of requests become equal bytes.
func (c *Responses) params(r *model.Request) (responses.ResponseNewParams, error) {
	p := responses.ResponseNewParams{
		Model: shared.ResponsesModel(r.Model), Store: param.NewOpt(false), ParallelToolCalls: param.NewOpt(true),
		Include: []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent},
		Input:   responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{}},
	}
	if r.System != "" {
		p.Instructions = param.NewOpt(r.System)
	}
	if r.MaxTokens > 0 {
		p.MaxOutputTokens = param.NewOpt(r.MaxTokens)
	}
	if r.CacheKey != "" && !r.NoCache {
		p.PromptCacheKey = param.NewOpt(r.CacheKey)
	}
	switch r.Effort {
	case model.EffortDefault:
		if r.Temperature != nil {
			p.Temperature = param.NewOpt(*r.Temperature)
		}
	case model.EffortNone:
		p.Reasoning.Effort = shared.ReasoningEffortNone
	default:
		p.Reasoning = shared.ReasoningParam{Effort: shared.ReasoningEffort(r.Effort), Summary: shared.ReasoningSummaryAuto}
	}
	for _, t := range r.Tools {
		var schema map[string]any
		if json.Unmarshal(t.Schema, &schema) != nil || schema == nil {
			return p, c.badSchema(t.Name)
		}
		tool := &responses.FunctionToolParam{Name: t.Name, Parameters: schema, Strict: param.NewOpt(false)}
		if t.Description != "" {
			tool.Description = param.NewOpt(t.Description)
		}
		p.Tools = append(p.Tools, responses.ToolUnionParam{OfFunction: tool})
	}
	switch {
	case len(r.Tools) == 0 || r.Choice == model.ChoiceAuto:
	case r.Choice == model.ChoiceAny:
		p.ToolChoice.OfToolChoiceMode = param.NewOpt(responses.ToolChoiceOptionsRequired)
	case r.Choice == model.ChoiceNone:
		p.ToolChoice.OfToolChoiceMode = param.NewOpt(responses.ToolChoiceOptionsNone)
	}
	for i := range r.Messages {
		p.Input.OfInputItemList = append(p.Input.OfInputItemList, c.items(&r.Messages[i])...)
	}
	return p, nil
}

// items is a message as input items, in the order of its parts.
func (c *Responses) items(m *model.Message) (all []responses.ResponseInputItemUnionParam) {
	var said responses.ResponseInputMessageContentListParam
	flush := func() {
		if len(said) > 0 {
			all = append(all, responses.ResponseInputItemParamOfMessage(said, responses.EasyInputMessageRoleUser))
			said = nil
		}
	}
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case model.PartText:
			switch {
			case p.Text == "":
			case m.Role == model.Assistant:
				all = append(all, responses.ResponseInputItemParamOfMessage(p.Text, responses.EasyInputMessageRoleAssistant))
			default:
				said = append(said, responses.ResponseInputContentParamOfInputText(p.Text))
			}
		case model.PartImage, model.PartFile:
			said = append(said, media(p))
		case model.PartThinking:
			if p.Provider == c.name && p.Signature != "" && p.ID != "" {
				item := &responses.ResponseReasoningItemParam{ID: p.ID, EncryptedContent: param.NewOpt(p.Signature), Summary: []responses.ResponseReasoningItemSummaryParam{}}
				if p.Text != "" {
					item.Summary = append(item.Summary, responses.ResponseReasoningItemSummaryParam{Text: p.Text})
				}
				all = append(all, responses.ResponseInputItemUnionParam{OfReasoning: item})
			}
		case model.PartCall:
			all = append(all, responses.ResponseInputItemParamOfFunctionCall(string(p.Object()), p.ID, p.Name))
		case model.PartResult:
			flush()
			all = append(all, result(p))
		}
	}
	flush()
	return all
}

// result is a text if it can be, since every server takes that.
func result(p *model.Part) responses.ResponseInputItemUnionParam {
	item := &responses.ResponseInputItemFunctionCallOutputParam{CallID: param.NewOpt(p.ID)}
	var list responses.ResponseFunctionCallOutputItemListParam
	for i := range p.Parts {
		switch q := &p.Parts[i]; q.Kind {
		case model.PartImage:
			list = append(list, responses.ResponseFunctionCallOutputItemUnionParam{OfInputImage: &responses.ResponseInputImageContentParam{ImageURL: param.NewOpt(dataURL(q))}})
		case model.PartFile:
			list = append(list, responses.ResponseFunctionCallOutputItemUnionParam{OfInputFile: &responses.ResponseInputFileContentParam{FileData: param.NewOpt(dataURL(q)), Filename: param.NewOpt(q.Name)}})
		case model.PartText, model.PartThinking, model.PartCall, model.PartResult:
		}
	}
	text := model.Plain(p.Parts)
	if p.IsError {
		text = "error: " + text
	}
	if list == nil {
		item.Output.OfString = param.NewOpt(text)
	} else {
		first := responses.ResponseFunctionCallOutputItemUnionParam{OfInputText: &responses.ResponseInputTextContentParam{Text: text}}
		item.Output.OfResponseFunctionCallOutputItemArray = append(responses.ResponseFunctionCallOutputItemListParam{first}, list...)
	}
	return responses.ResponseInputItemUnionParam{OfFunctionCallOutput: item}
}

func media(p *model.Part) responses.ResponseInputContentUnionParam {
	if p.Kind == model.PartImage {
		return responses.ResponseInputContentUnionParam{OfInputImage: &responses.ResponseInputImageParam{Detail: responses.ResponseInputImageDetailAuto, ImageURL: param.NewOpt(dataURL(p))}}
	}
	return responses.ResponseInputContentUnionParam{OfInputFile: &responses.ResponseInputFileParam{FileData: param.NewOpt(dataURL(p)), Filename: param.NewOpt(p.Name)}}
}

func dataURL(p *model.Part) string {
	return "data:" + p.Media + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
}
