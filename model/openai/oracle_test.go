package openai

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"harness/model"
)

// TestRequestsAreWhatTheMakersTypesBecome: the same requests, written with the
// types that the protocol's makers publish, are the same JSON.
func TestRequestsAreWhatTheMakersTypesBecome(t *testing.T) {
	t.Parallel()
	c := NewResponses("key", nil)
	part := func(k model.PartKind, media, name string) model.Part {
		return model.Part{Kind: k, Media: media, Name: name, Data: []byte("data")}
	}
	messages := []model.Message{
		model.Say(model.User, "<look> & see"), model.Say(model.User, ""),
		{Role: model.Assistant, Parts: []model.Part{
			{Kind: model.PartThinking, ID: "rs_1", Signature: "s", Provider: "openai"}, {Kind: model.PartThinking, ID: "rs_2", Text: "hm", Signature: "s", Provider: "openai"},
			{Kind: model.PartThinking, Text: "x", Signature: "s", Provider: "other"}, {Kind: model.PartText, Text: "so"}, model.Call("c1", "bash", `{"b": 1, "a": "<"}`), model.Call("c2", "read", ""),
		}},
		{Role: model.User, Parts: []model.Part{
			{Kind: model.PartText, Text: "see"}, model.Result("c1", "ok", false), model.Result("c2", "", true), model.Result("c2", "", false),
			{Kind: model.PartResult, ID: "c3", Parts: []model.Part{part(model.PartImage, "image/png", ""), part(model.PartFile, "application/pdf", "a.pdf"), {Kind: model.PartText, Text: "t"}}},
			{Kind: model.PartResult, ID: "c4", Parts: []model.Part{part(model.PartImage, "image/png", "")}},
			part(model.PartImage, "image/jpeg", ""), part(model.PartFile, "text/plain", "a.txt"), part(model.PartFile, "application/pdf", ""),
		}},
		model.Say(model.Assistant, "done"), model.Say(model.User, "and now?"),
	}
	tools := []model.Tool{{Name: "bash", Description: "runs", Schema: json.RawMessage(`{"type": "object", "x": "<"}`)}, {Name: "read", Schema: json.RawMessage(`{}`)}}
	for _, effort := range []model.Effort{model.EffortDefault, model.EffortNone, model.EffortLow, model.EffortMax} {
		for _, choice := range []model.Choice{model.ChoiceAuto, model.ChoiceAny, model.ChoiceNone} {
			for n := range len(messages) + 1 {
				r := &model.Request{Model: "gpt-5", Effort: effort, Choice: choice, Messages: messages[:n], NoCache: n == 3, CacheKey: "ses_1"}
				if n > 0 {
					r.System, r.Tools, r.Temperature, r.MaxTokens = "Be brief.", tools, new(0.0), int64(n*100)
				}
				compare(t, c, r)
			}
		}
	}
}

func compare(t *testing.T, c *Responses, r *model.Request) {
	t.Helper()
	ours, err := c.params(r)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := c.sdkParams(r)
	if err != nil {
		t.Fatal(err)
	}
	got, want := generic(t, ours), generic(t, theirs)
	want["stream"] = true // which the makers' client adds
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nours   %v\ntheirs %v", r, got, want)
	}
}

// generic is a value as anybody reads its JSON.
func generic(t *testing.T, v any) (out map[string]any) {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func (c *Responses) sdkParams(r *model.Request) (responses.ResponseNewParams, error) {
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
		p.Input.OfInputItemList = append(p.Input.OfInputItemList, c.sdkItems(&r.Messages[i])...)
	}
	return p, nil
}

func (c *Responses) sdkItems(m *model.Message) (all []responses.ResponseInputItemUnionParam) {
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
			said = append(said, sdkMedia(p))
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
			all = append(all, sdkResult(p))
		}
	}
	flush()
	return all
}

func sdkResult(p *model.Part) responses.ResponseInputItemUnionParam {
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

func sdkMedia(p *model.Part) responses.ResponseInputContentUnionParam {
	if p.Kind == model.PartImage {
		return responses.ResponseInputContentUnionParam{OfInputImage: &responses.ResponseInputImageParam{Detail: responses.ResponseInputImageDetailAuto, ImageURL: param.NewOpt(dataURL(p))}}
	}
	return responses.ResponseInputContentUnionParam{OfInputFile: &responses.ResponseInputFileParam{FileData: param.NewOpt(dataURL(p)), Filename: param.NewOpt(p.Name)}}
}
