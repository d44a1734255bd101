package anthropic

import (
	"fmt"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"harness/model"
)

// reader turns events into chunks.
type reader struct {
	provider string
	begun    bool // the server has begun to answer
	done     bool // and has said that it is finished
	stop     model.Stop
	refused  error
	usage    model.Usage
	calls    map[int64]*call
	blocks   map[int64]int // of theirs to ours: some of theirs are not for us
	next     int
}

type call struct {
	id, name string
	args     strings.Builder
}

func (r *reader) event(e sdk.MessageStreamEventUnion) []model.Chunk {
	switch e.Type {
	case "message_start":
		r.begun = true
		r.calls, r.blocks = map[int64]*call{}, map[int64]int{}
		u := e.Message.Usage
		r.usage = model.Usage{Input: u.InputTokens, CacheRead: u.CacheReadInputTokens, CacheWrite: u.CacheCreationInputTokens, Output: u.OutputTokens}
		return []model.Chunk{
			{Kind: model.ChunkBegin, Provider: r.provider, Name: string(e.Message.Model), ID: e.Message.ID},
			{Kind: model.ChunkUsage, Usage: r.usage},
		}
	case "content_block_start":
		return r.start(e.Index, &e.ContentBlock)
	case "content_block_delta":
		return r.delta(e.Index, &e.Delta)
	case "content_block_stop":
		if c := r.calls[e.Index]; c != nil {
			return []model.Chunk{{Kind: model.ChunkCallEnd, Block: r.blocks[e.Index], ID: c.id, Name: c.name, Text: c.args.String()}}
		}
	case "message_delta":
		return r.ending(&e)
	case "message_stop":
		r.done = true
	}
	return nil
}

func (r *reader) start(index int64, b *sdk.ContentBlockStartEventContentBlockUnion) []model.Chunk {
	switch b.Type {
	case "text", "thinking", "redacted_thinking", "tool_use":
	default:
		return nil // what servers do by themselves, which we do not ask for
	}
	if r.blocks == nil {
		return nil // before the message has begun; its end will be missed
	}
	n := r.next
	r.blocks[index] = n
	r.next++
	switch b.Type {
	case "text":
		if b.Text != "" {
			return []model.Chunk{{Kind: model.ChunkText, Block: n, Text: b.Text}}
		}
	case "redacted_thinking":
		return []model.Chunk{{Kind: model.ChunkSignature, Block: n, Text: b.Data, Redacted: true}}
	case "tool_use":
		r.calls[index] = &call{id: b.ID, name: b.Name}
		return []model.Chunk{{Kind: model.ChunkCallBegin, Block: n, ID: b.ID, Name: b.Name}}
	}
	return nil
}

func (r *reader) delta(index int64, d *sdk.MessageStreamEventUnionDelta) []model.Chunk {
	n, ours := r.blocks[index]
	if !ours {
		return nil
	}
	switch d.Type {
	case "text_delta":
		return []model.Chunk{{Kind: model.ChunkText, Block: n, Text: d.Text}}
	case "thinking_delta":
		return []model.Chunk{{Kind: model.ChunkThinking, Block: n, Text: d.Thinking}}
	case "signature_delta":
		return []model.Chunk{{Kind: model.ChunkSignature, Block: n, Text: d.Signature}}
	case "input_json_delta":
		c := r.calls[index]
		if c == nil || d.PartialJSON == "" {
			return nil
		}
		c.args.WriteString(d.PartialJSON)
		return []model.Chunk{{Kind: model.ChunkCallArgs, Block: n, Text: d.PartialJSON}}
	}
	return nil
}

func (r *reader) ending(e *sdk.MessageStreamEventUnion) []model.Chunk {
	u := e.Usage
	r.usage.Output, r.usage.Reasoning = u.OutputTokens, u.OutputTokensDetails.ThinkingTokens
	if u.JSON.InputTokens.Valid() { // cumulative, if it is there at all
		r.usage.Input, r.usage.CacheRead, r.usage.CacheWrite = u.InputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens
	}
	switch e.Delta.StopReason {
	case sdk.StopReasonEndTurn:
		r.stop = model.StopEnd
	case sdk.StopReasonToolUse:
		r.stop = model.StopTools
	case sdk.StopReasonStopSequence:
		r.stop = model.StopSequence
	case sdk.StopReasonPauseTurn:
		r.stop = model.StopPause
	case sdk.StopReasonMaxTokens:
		r.stop = model.StopMaxTokens
	case sdk.StopReasonModelContextWindowExceeded:
		r.stop = model.StopMaxTokens
	case sdk.StopReasonRefusal:
		r.refused = &model.Error{Fault: model.Refused, Provider: r.provider, Message: "the model stopped with a refusal"}
	default:
		r.refused = &model.Error{Fault: model.ServerError, Provider: r.provider, Message: fmt.Sprintf("stopped for a reason we do not know: %.50q", e.Delta.StopReason)}
	}
	return []model.Chunk{{Kind: model.ChunkUsage, Usage: r.usage}}
}
