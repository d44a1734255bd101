package anthropic

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strings"

	"harness/model"
)

// params writes the request down. Equal beginnings of requests become equal
// bytes, but for the marks that say where a cached prefix ends.
func (c *Client) params(r *model.Request) (*request, error) {
	p := &request{Model: r.Model, MaxTokens: cmp.Or(r.MaxTokens, c.maxTokens), Messages: []message{}}
	if r.System != "" {
		p.System = []block{{Type: aText, Text: r.System}}
	}
	for _, t := range r.Tools {
		if !json.Valid(t.Schema) {
			return nil, &model.Error{Fault: model.BadRequest, Provider: c.name, Message: "the schema of tool " + t.Name + " is not JSON"}
		}
		p.Tools = append(p.Tools, tool{Name: t.Name, Description: t.Description, InputSchema: t.Schema})
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		blocks := c.blocks(m.Parts)
		if len(blocks) == 0 {
			continue // nothing in it that this provider may see
		}
		role := user
		if m.Role == model.Assistant {
			role = assistant
		}
		if n := len(p.Messages); n > 0 && p.Messages[n-1].Role == role {
			p.Messages[n-1].Content = append(p.Messages[n-1].Content, blocks...)
			continue
		}
		p.Messages = append(p.Messages, message{Role: role, Content: blocks})
	}
	switch {
	case len(r.Tools) == 0 || r.Choice == model.ChoiceAuto:
	case r.Choice == model.ChoiceAny:
		p.ToolChoice = &kind{"any"}
	case r.Choice == model.ChoiceNone:
		p.ToolChoice = &kind{"none"}
	}
	think(p, r)
	if !r.NoCache {
		mark(p)
	}
	return p, nil
}

// blocks leaves out thoughts of others and what would be empty.
func (c *Client) blocks(parts []model.Part) (all []block) {
	for i := range parts {
		switch p := &parts[i]; p.Kind {
		case model.PartText:
			if strings.TrimSpace(p.Text) != "" { // the protocol refuses any other
				all = append(all, block{Type: aText, Text: p.Text})
			}
		case model.PartThinking:
			switch {
			case p.Provider != c.name || p.Signature == "":
			case p.Redacted:
				all = append(all, block{Type: aRedacted, Data: p.Signature})
			default:
				all = append(all, block{Type: aThought, Signature: p.Signature, Thinking: &p.Text})
			}
		case model.PartCall:
			all = append(all, block{Type: aCall, ID: p.ID, Name: p.Name, Input: p.Object()})
		case model.PartResult:
			all = append(all, block{Type: aResult, ToolUseID: p.ID, Content: resultBlocks(p.Parts), IsError: p.IsError})
		case model.PartImage:
			all = append(all, image(p))
		case model.PartFile:
			all = append(all, document(p))
		}
	}
	return all
}

func resultBlocks(parts []model.Part) (all []block) {
	for i := range parts {
		switch p := &parts[i]; p.Kind {
		case model.PartText:
			if p.Text != "" {
				all = append(all, block{Type: aText, Text: p.Text})
			}
		case model.PartImage:
			all = append(all, image(p))
		case model.PartFile:
			all = append(all, document(p))
		case model.PartThinking, model.PartCall, model.PartResult: // not in results
		}
	}
	return all
}

func image(p *model.Part) block {
	return block{Type: anImage, Source: &source{"base64", p.Media, base64.StdEncoding.EncodeToString(p.Data)}}
}

// document is a PDF as it is, anything else as the text it hopefully is.
func document(p *model.Part) block {
	d := block{Type: aDocument, Title: p.Name, Source: &source{"text", "text/plain", string(p.Data)}}
	if p.Media == "application/pdf" {
		d.Source = &source{"base64", p.Media, base64.StdEncoding.EncodeToString(p.Data)}
	}
	return d
}
