package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"harness/model"
	"harness/model/wire"
)

// Chat speaks Chat Completions. It does not retry: see model.Retry.
type Chat struct {
	server
	own bool // OpenAI's server, which takes fields that others do not know
}

// NewChat makes a client that shows key, if there is one, to the server.
func NewChat(key string, opts *Options) *Chat {
	c := &Chat{server: connect(key, opts)}
	c.own = wire.Provider("", DefaultURL, c.url) == ""
	c.url += "chat/completions"
	return c
}

// Stream implements model.Client.
func (c *Chat) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		request, err := c.request(r)
		if err != nil {
			yield(model.Chunk{}, err)
			return
		}
		stream, err := c.post(ctx, request)
		if err != nil {
			yield(model.Chunk{}, c.fault(ctx, false, err))
			return
		}
		follow(ctx, &c.server, stream, &chatReader{server: &c.server, calls: map[int]*chatCall{}, text: -1, thought: -1}, yield)
	}
}

// chatReader turns chunks of Chat Completions into ours. The protocol has no
// ends of calls: they all end with the answer.
type chatReader struct {
	*server
	isBegun       bool
	stop          model.Stop
	err           error
	text, thought int // open block of that kind, or -1
	next          int
	calls         map[int]*chatCall
	usage         *model.Usage // nil if the server does not count
}

type chatCall struct {
	block    int
	id, name string
	args     strings.Builder
}

func (r *chatReader) begun() bool              { return r.isBegun }
func (r *chatReader) done() bool               { return false } // usage comes after the reason
func (r *chatReader) end() (model.Stop, error) { return r.stop, r.err }

func (r *chatReader) event(e chatChunk) (out []model.Chunk) {
	if !r.isBegun {
		r.isBegun = true
		out = append(out, model.Chunk{Kind: model.ChunkBegin, Provider: r.name, Name: e.Model, ID: e.ID})
	}
	if e.Usage != nil {
		cached := e.Usage.PromptTokensDetails.CachedTokens
		r.usage = &model.Usage{Input: e.Usage.PromptTokens - cached, CacheRead: cached, Output: e.Usage.CompletionTokens, Reasoning: e.Usage.CompletionTokensDetails.ReasoningTokens}
	}
	if len(e.Choices) == 0 {
		return out
	}
	choice := &e.Choices[0]
	d := &choice.Delta
	if t := cmp.Or(d.ReasoningContent, d.Reasoning); t != "" {
		if r.thought < 0 {
			r.thought, r.text = r.take(), -1
		}
		out = append(out, model.Chunk{Kind: model.ChunkThinking, Block: r.thought, Text: t})
	}
	if t := d.Content + d.Refusal; t != "" {
		if r.text < 0 {
			r.text, r.thought = r.take(), -1
		}
		out = append(out, model.Chunk{Kind: model.ChunkText, Block: r.text, Text: t})
	}
	if d.Refusal != "" {
		r.err = &model.Error{Fault: model.Refused, Provider: r.name, Message: "the model refuses"}
	}
	for i := range d.ToolCalls {
		out = append(out, r.call(&d.ToolCalls[i])...)
	}
	r.reason(choice.FinishReason)
	return out
}

func (r *chatReader) take() int {
	r.next++
	return r.next - 1
}

func (r *chatReader) call(t *chatToolCall) (out []model.Chunk) {
	c := r.calls[t.Index]
	if c != nil && t.ID != "" && c.id != t.ID { // servers that number every call 0
		t.Index = len(r.calls)
		c = nil
	}
	if c == nil {
		r.text, r.thought = -1, -1
		c = &chatCall{block: r.take(), id: t.ID, name: t.Function.Name}
		if c.id == "" { // servers that give calls no ids
			c.id = fmt.Sprintf("call_%d", t.Index)
		}
		r.calls[t.Index] = c
		out = append(out, model.Chunk{Kind: model.ChunkCallBegin, Block: c.block, ID: c.id, Name: c.name})
	}
	if a := t.Function.Arguments; a != "" {
		c.args.WriteString(a)
		out = append(out, model.Chunk{Kind: model.ChunkCallArgs, Block: c.block, Text: a})
	}
	return out
}

func (r *chatReader) reason(word string) {
	switch word {
	case "":
	case "tool_calls", "function_call":
		r.stop = model.StopTools
	case "stop", "end_turn", "eos":
		r.stop = model.StopEnd
	case "length":
		r.stop = model.StopMaxTokens
	case "content_filter":
		r.err = &model.Error{Fault: model.Refused, Provider: r.name, Message: "a content filter ended the answer"}
	default:
		r.err = &model.Error{Fault: model.ServerError, Provider: r.name, Message: fmt.Sprintf("stopped for a reason we do not know: %.50q", word)}
	}
	if r.stop == model.StopEnd && len(r.calls) > 0 { // servers that always say stop
		r.stop = model.StopTools
	}
}

// tail closes the calls. One that was cut by the bound of tokens stays open.
func (r *chatReader) tail() (out []model.Chunk) {
	calls := make([]*chatCall, 0, len(r.calls))
	for _, c := range r.calls {
		calls = append(calls, c)
	}
	slices.SortFunc(calls, func(a, b *chatCall) int { return a.block - b.block })
	for i, c := range calls {
		if r.stop == model.StopMaxTokens && i == len(calls)-1 && c.block == r.next-1 && !json.Valid([]byte(c.args.String())) {
			continue
		}
		out = append(out, model.Chunk{Kind: model.ChunkCallEnd, Block: c.block, ID: c.id, Name: c.name, Text: c.args.String()})
	}
	if r.usage != nil {
		out = append(out, model.Chunk{Kind: model.ChunkUsage, Usage: *r.usage})
	}
	return out
}
