package openai

import (
	"cmp"
	"fmt"
	"net/http"

	"github.com/openai/openai-go/v3/responses"

	"harness/model"
	"harness/model/wire"
)

// responseReader turns events of Responses into chunks.
type responseReader struct {
	*server
	isBegun, isDone bool
	stop            model.Stop
	err             error
	calls           map[string]*openCall // by item id
	blocks          map[string]int       // by item id
	called          bool
}

type openCall struct {
	id, name string
	said     bool // some of its arguments have been handed over
	ended    bool
}

func (r *responseReader) begun() bool              { return r.isBegun }
func (r *responseReader) done() bool               { return r.isDone }
func (r *responseReader) end() (model.Stop, error) { return r.stop, r.err }

func (r *responseReader) block(item string) int {
	n, ok := r.blocks[item]
	if !ok {
		n = len(r.blocks)
		r.blocks[item] = n
	}
	return n
}

func (r *responseReader) event(e responses.ResponseStreamEventUnion) []model.Chunk {
	switch e.Type {
	case "response.created":
		r.isBegun = true
		return []model.Chunk{{Kind: model.ChunkBegin, Provider: r.name, Name: string(e.Response.Model), ID: e.Response.ID}}
	case "response.output_item.added":
		if e.Item.Type == "function_call" {
			return r.begin(&e.Item)
		}
	case "response.output_text.delta":
		return []model.Chunk{{Kind: model.ChunkText, Block: r.block(e.ItemID), Text: e.Delta}}
	case "response.refusal.delta":
		r.err = &model.Error{Fault: model.Refused, Provider: r.name, Message: "the model refuses"}
		return []model.Chunk{{Kind: model.ChunkText, Block: r.block(e.ItemID), Text: e.Delta}}
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return []model.Chunk{{Kind: model.ChunkThinking, Block: r.block(e.ItemID), Text: e.Delta}}
	case "response.reasoning_summary_part.added":
		if e.SummaryIndex > 0 {
			return []model.Chunk{{Kind: model.ChunkThinking, Block: r.block(e.ItemID), Text: "\n\n"}}
		}
	case "response.function_call_arguments.delta":
		c := r.calls[e.ItemID]
		if c == nil || c.ended {
			return nil
		}
		c.said = c.said || e.Delta != ""
		return []model.Chunk{{Kind: model.ChunkCallArgs, Block: r.block(e.ItemID), Text: e.Delta}}
	case "response.output_item.done":
		return r.item(&e.Item)
	case "response.completed", "response.incomplete":
		return r.finish(&e.Response)
	case "response.failed":
		r.isDone = true
		said := wire.Said{Status: http.StatusOK, Words: []string{string(e.Response.Error.Code)}, Message: e.Response.Error.Message}
		r.err = said.Error(r.name, r.key)
	case "error":
		r.isDone = true
		said := wire.Said{Status: http.StatusOK, Words: []string{e.Code}, Message: e.Message}
		r.err = said.Error(r.name, r.key)
	}
	return nil
}

func (r *responseReader) begin(i *responses.ResponseOutputItemUnion) []model.Chunk {
	r.called = true
	key := cmp.Or(i.ID, i.CallID)
	r.calls[key] = &openCall{id: i.CallID, name: i.Name}
	return []model.Chunk{{Kind: model.ChunkCallBegin, Block: r.block(key), ID: i.CallID, Name: i.Name}}
}

// item is a whole item. Its beginning may not have been announced, and a call
// may have no id but its own.
func (r *responseReader) item(i *responses.ResponseOutputItemUnion) (out []model.Chunk) {
	key := cmp.Or(i.ID, i.CallID)
	switch i.Type {
	case "reasoning":
		if i.EncryptedContent != "" {
			out = append(out, model.Chunk{Kind: model.ChunkSignature, Block: r.block(key), ID: i.ID, Text: i.EncryptedContent})
		}
	case "message":
		if _, told := r.blocks[key]; !told {
			for _, part := range i.Content {
				out = append(out, model.Chunk{Kind: model.ChunkText, Block: r.block(key), Text: part.Text})
			}
		}
	case "function_call":
		if r.calls[key] == nil {
			out = r.begin(i)
		}
		c, args := r.calls[key], i.Arguments.OfString
		if c.ended {
			return nil
		}
		if !c.said && args != "" {
			out = append(out, model.Chunk{Kind: model.ChunkCallArgs, Block: r.block(key), Text: args})
		}
		c.ended = true
		out = append(out, model.Chunk{Kind: model.ChunkCallEnd, Block: r.block(key), ID: c.id, Name: c.name, Text: args})
	}
	return out
}

func (r *responseReader) finish(res *responses.Response) []model.Chunk {
	r.isDone = true
	u := res.Usage
	cached := u.InputTokensDetails.CachedTokens
	usage := model.Chunk{Kind: model.ChunkUsage, Usage: model.Usage{Input: u.InputTokens - cached, CacheRead: cached, Output: u.OutputTokens, Reasoning: u.OutputTokensDetails.ReasoningTokens}}
	switch reason := res.IncompleteDetails.Reason; {
	case res.Status == "completed" && r.called:
		r.stop = model.StopTools
	case res.Status == "completed", res.Status == "":
		r.stop = model.StopEnd
	case reason == "max_output_tokens":
		r.stop = model.StopMaxTokens
	case reason == "content_filter":
		r.err = &model.Error{Fault: model.Refused, Provider: r.name, Message: "a content filter ended the answer"}
	default:
		r.err = &model.Error{Fault: model.ServerError, Provider: r.name, Message: fmt.Sprintf("stopped for a reason we do not know: %.50q %.50q", res.Status, reason)}
	}
	return []model.Chunk{usage}
}
