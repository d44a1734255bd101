package anthropic

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"harness/model"
)

// TestRequestsAreWhatTheMakersTypesBecome: the same requests, written with the
// types that the protocol's makers publish, are the same JSON.
func TestRequestsAreWhatTheMakersTypesBecome(t *testing.T) {
	t.Parallel()
	c := New("key", nil)
	part := func(k model.PartKind, media, name string) model.Part {
		return model.Part{Kind: k, Media: media, Name: name, Data: []byte("data")}
	}
	messages := []model.Message{
		model.Say(model.User, "<look> & see"), model.Say(model.User, " "),
		{Role: model.Assistant, Parts: []model.Part{
			{Kind: model.PartThinking, Text: "", Signature: "s", Provider: "anthropic"}, {Kind: model.PartThinking, Signature: "r", Redacted: true, Provider: "anthropic"},
			{Kind: model.PartThinking, Text: "x", Signature: "s", Provider: "other"}, {Kind: model.PartText, Text: "so"}, model.Call("c1", "bash", `{"b": 1, "a": "<"}`), model.Call("c2", "read", ""),
		}},
		{Role: model.User, Parts: []model.Part{
			model.Result("c1", "ok", false), model.Result("c2", "", true),
			{Kind: model.PartResult, ID: "c3", Parts: []model.Part{part(model.PartImage, "image/png", ""), part(model.PartFile, "application/pdf", "a.pdf"), {Kind: model.PartText, Text: "t"}}},
			part(model.PartImage, "image/jpeg", ""), part(model.PartFile, "text/plain", "a.txt"), part(model.PartFile, "application/pdf", ""),
		}},
		model.Say(model.Assistant, "done"), model.Say(model.User, "and now?"),
	}
	tools := []model.Tool{{Name: "bash", Description: "runs", Schema: json.RawMessage(`{"type": "object", "x": "<"}`)}, {Name: "read", Schema: json.RawMessage(`{}`)}}
	for _, name := range []string{"claude-opus-5", "claude-sonnet-4-5"} {
		for _, effort := range []model.Effort{model.EffortDefault, model.EffortNone, model.EffortLow, model.EffortMax} {
			for _, choice := range []model.Choice{model.ChoiceAuto, model.ChoiceAny, model.ChoiceNone} {
				for n := range messages {
					r := &model.Request{Model: name, Effort: effort, Choice: choice, Messages: messages[:n+1], NoCache: n == 3}
					if n > 0 {
						r.System, r.Tools, r.Temperature, r.MaxTokens = "Be brief.", tools, new(0.0), int64(n*100)
					}
					compare(t, c, r)
				}
			}
		}
	}
}

func compare(t *testing.T, c *Client, r *model.Request) {
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
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nours   %v\ntheirs %v", r, got, want)
	}
}

// generic is a value as anybody reads its JSON.
func generic(t *testing.T, v any) (out any) {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

func (c *Client) sdkParams(r *model.Request) (sdk.MessageNewParams, error) {
	p := sdk.MessageNewParams{Model: sdk.Model(r.Model), MaxTokens: cmp.Or(r.MaxTokens, c.maxTokens)}
	if r.System != "" {
		p.System = []sdk.TextBlockParam{{Text: r.System}}
	}
	for _, t := range r.Tools {
		if !json.Valid(t.Schema) {
			return p, &model.Error{Fault: model.BadRequest, Provider: c.name, Message: "the schema of tool " + t.Name + " is not JSON"}
		}
		tool := &sdk.ToolParam{Name: t.Name, InputSchema: param.Override[sdk.ToolInputSchemaParam](t.Schema)}
		if t.Description != "" {
			tool.Description = param.NewOpt(t.Description)
		}
		p.Tools = append(p.Tools, sdk.ToolUnionParam{OfTool: tool})
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		blocks := c.sdkBlocks(m.Parts)
		if len(blocks) == 0 {
			continue // nothing in it that this provider may see
		}
		role := sdk.MessageParamRoleUser
		if m.Role == model.Assistant {
			role = sdk.MessageParamRoleAssistant
		}
		if n := len(p.Messages); n > 0 && p.Messages[n-1].Role == role {
			p.Messages[n-1].Content = append(p.Messages[n-1].Content, blocks...)
			continue
		}
		p.Messages = append(p.Messages, sdk.MessageParam{Role: role, Content: blocks})
	}
	switch {
	case len(r.Tools) == 0 || r.Choice == model.ChoiceAuto:
	case r.Choice == model.ChoiceAny:
		p.ToolChoice = sdk.ToolChoiceUnionParam{OfAny: &sdk.ToolChoiceAnyParam{}}
	case r.Choice == model.ChoiceNone:
		p.ToolChoice = sdk.ToolChoiceUnionParam{OfNone: &sdk.ToolChoiceNoneParam{}}
	}
	sdkThink(&p, r)
	if !r.NoCache {
		sdkMark(&p)
	}
	return p, nil
}

func (c *Client) sdkBlocks(parts []model.Part) (all []sdk.ContentBlockParamUnion) {
	for i := range parts {
		switch p := &parts[i]; p.Kind {
		case model.PartText:
			if strings.TrimSpace(p.Text) != "" { // the protocol refuses any other
				all = append(all, sdk.NewTextBlock(p.Text))
			}
		case model.PartThinking:
			switch {
			case p.Provider != c.name || p.Signature == "":
			case p.Redacted:
				all = append(all, sdk.NewRedactedThinkingBlock(p.Signature))
			default:
				all = append(all, sdk.NewThinkingBlock(p.Signature, p.Text))
			}
		case model.PartCall:
			all = append(all, sdk.ContentBlockParamUnion{OfToolUse: &sdk.ToolUseBlockParam{ID: p.ID, Name: p.Name, Input: p.Object()}})
		case model.PartResult:
			result := &sdk.ToolResultBlockParam{ToolUseID: p.ID, Content: sdkResultBlocks(p.Parts)}
			if p.IsError {
				result.IsError = param.NewOpt(true)
			}
			all = append(all, sdk.ContentBlockParamUnion{OfToolResult: result})
		case model.PartImage:
			all = append(all, sdk.ContentBlockParamUnion{OfImage: sdkImage(p)})
		case model.PartFile:
			all = append(all, sdk.ContentBlockParamUnion{OfDocument: sdkDocument(p)})
		}
	}
	return all
}

func sdkResultBlocks(parts []model.Part) (all []sdk.ToolResultBlockParamContentUnion) {
	for i := range parts {
		switch p := &parts[i]; p.Kind {
		case model.PartText:
			if p.Text != "" {
				all = append(all, sdk.ToolResultBlockParamContentUnion{OfText: &sdk.TextBlockParam{Text: p.Text}})
			}
		case model.PartImage:
			all = append(all, sdk.ToolResultBlockParamContentUnion{OfImage: sdkImage(p)})
		case model.PartFile:
			all = append(all, sdk.ToolResultBlockParamContentUnion{OfDocument: sdkDocument(p)})
		case model.PartThinking, model.PartCall, model.PartResult: // not in results
		}
	}
	return all
}

func sdkImage(p *model.Part) *sdk.ImageBlockParam {
	return &sdk.ImageBlockParam{Source: sdk.ImageBlockParamSourceUnion{OfBase64: &sdk.Base64ImageSourceParam{
		MediaType: sdk.Base64ImageSourceMediaType(p.Media), Data: base64.StdEncoding.EncodeToString(p.Data),
	}}}
}

func sdkDocument(p *model.Part) *sdk.DocumentBlockParam {
	d := &sdk.DocumentBlockParam{}
	if p.Media == "application/pdf" {
		d.Source.OfBase64 = &sdk.Base64PDFSourceParam{Data: base64.StdEncoding.EncodeToString(p.Data)}
	} else {
		d.Source.OfText = &sdk.PlainTextSourceParam{Data: string(p.Data)}
	}
	if p.Name != "" {
		d.Title = param.NewOpt(p.Name)
	}
	return d
}

func sdkThink(p *sdk.MessageNewParams, r *model.Request) {
	switch {
	case r.Effort == model.EffortDefault:
	case r.Effort == model.EffortNone:
		p.Thinking.OfDisabled = &sdk.ThinkingConfigDisabledParam{}
	case byBudget(r.Model) && sdkOpenWithoutThought(p.Messages):
	case byBudget(r.Model):
		budget := budgets[r.Effort]
		p.Thinking.OfEnabled = &sdk.ThinkingConfigEnabledParam{BudgetTokens: budget}
		p.MaxTokens = max(p.MaxTokens, budget+answerRoom)
		return
	default:
		p.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{Display: sdk.ThinkingConfigAdaptiveDisplaySummarized}
		p.OutputConfig.Effort = sdk.OutputConfigEffort(r.Effort)
		return
	}
	if r.Temperature != nil {
		p.Temperature = param.NewOpt(*r.Temperature)
	}
}

func sdkOpenWithoutThought(messages []sdk.MessageParam) bool {
	n := len(messages)
	if n < 2 || messages[n-2].Role != sdk.MessageParamRoleAssistant || messages[n-1].Content[0].OfToolResult == nil {
		return false
	}
	first := messages[n-2].Content[0]
	return first.OfThinking == nil && first.OfRedactedThinking == nil
}

func sdkMark(p *sdk.MessageNewParams) {
	here := sdk.NewCacheControlEphemeralParam()
	if n := len(p.Tools); n > 0 {
		p.Tools[n-1].OfTool.CacheControl = here
	}
	if n := len(p.System); n > 0 {
		p.System[n-1].CacheControl = here
	}
	left := 2
	for i := len(p.Messages) - 1; i >= 0 && left > 0; i-- {
		m := &p.Messages[i]
		if m.Role != sdk.MessageParamRoleUser {
			continue
		}
		if cc := m.Content[len(m.Content)-1].GetCacheControl(); cc != nil {
			*cc = here
			left--
		}
	}
}
