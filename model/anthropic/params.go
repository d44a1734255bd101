package anthropic

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"harness/model"
)

// params writes the request down. Equal beginnings of requests become equal
// bytes, but for the marks that say where a cached prefix ends.
func (c *Client) params(r *model.Request) (sdk.MessageNewParams, error) {
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
		blocks := c.blocks(m.Parts)
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
	think(&p, r)
	if !r.NoCache {
		mark(&p)
	}
	return p, nil
}

// blocks leaves out thoughts of others and what would be empty.
func (c *Client) blocks(parts []model.Part) (all []sdk.ContentBlockParamUnion) {
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
			result := &sdk.ToolResultBlockParam{ToolUseID: p.ID, Content: resultBlocks(p.Parts)}
			if p.IsError {
				result.IsError = param.NewOpt(true)
			}
			all = append(all, sdk.ContentBlockParamUnion{OfToolResult: result})
		case model.PartImage:
			all = append(all, sdk.ContentBlockParamUnion{OfImage: image(p)})
		case model.PartFile:
			all = append(all, sdk.ContentBlockParamUnion{OfDocument: document(p)})
		}
	}
	return all
}

func resultBlocks(parts []model.Part) (all []sdk.ToolResultBlockParamContentUnion) {
	for i := range parts {
		switch p := &parts[i]; p.Kind {
		case model.PartText:
			if p.Text != "" {
				all = append(all, sdk.ToolResultBlockParamContentUnion{OfText: &sdk.TextBlockParam{Text: p.Text}})
			}
		case model.PartImage:
			all = append(all, sdk.ToolResultBlockParamContentUnion{OfImage: image(p)})
		case model.PartFile:
			all = append(all, sdk.ToolResultBlockParamContentUnion{OfDocument: document(p)})
		case model.PartThinking, model.PartCall, model.PartResult: // not in results
		}
	}
	return all
}

func image(p *model.Part) *sdk.ImageBlockParam {
	return &sdk.ImageBlockParam{Source: sdk.ImageBlockParamSourceUnion{OfBase64: &sdk.Base64ImageSourceParam{
		MediaType: sdk.Base64ImageSourceMediaType(p.Media), Data: base64.StdEncoding.EncodeToString(p.Data),
	}}}
}

// document is a PDF as it is, anything else as the text it hopefully is.
func document(p *model.Part) *sdk.DocumentBlockParam {
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
