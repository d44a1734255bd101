package modeltest

import (
	"encoding/json"
	"fmt"
)

// responses speaks as OpenAI's Responses do. Every event has a sequence number.
type responses struct{ chat }

func (responses) id(s *speaker) string { return fmt.Sprintf("resp_%06d", s.req.N) }

func (responses) itemID(s *speaker, b *said) string {
	prefix := map[string]string{"text": "msg", "thinking": "rs", "redacted": "rs", "call": "fc"}[b.kind]
	return fmt.Sprintf("%s_%06d_%d", prefix, s.req.N, b.index)
}

// tell writes an event of this type; its number comes after the type, as it
// does at OpenAI.
func (responses) tell(s *speaker, kind string, kv ...any) {
	s.event(kind, obj(append([]any{"type", kind, "sequence_number", s.seq}, kv...)...))
	s.seq++
}

func (r responses) response(s *speaker, status string, failure, incomplete any, output json.RawMessage, usage any) json.RawMessage {
	return obj("id", r.id(s), "object", "response", "created_at", madeUp, "status", status, "background", false,
		"error", failure, "incomplete_details", incomplete, "instructions", nil, "max_output_tokens", nil, "model", s.req.Model,
		"output", output, "parallel_tool_calls", true, "previous_response_id", nil,
		"reasoning", obj("effort", nil, "summary", nil), "store", false, "temperature", 1, "text", obj("format", obj("type", "text")),
		"tool_choice", "auto", "tools", list(), "top_p", 1, "truncation", "disabled", "usage", usage, "user", nil, "metadata", obj())
}

func (r responses) start(s *speaker) {
	r.tell(s, "response.created", "response", r.response(s, "in_progress", nil, nil, list(), nil))
	r.tell(s, "response.in_progress", "response", r.response(s, "in_progress", nil, nil, list(), nil))
}

func outputText(text string) json.RawMessage {
	return obj("type", "output_text", "annotations", list(), "logprobs", list(), "text", text)
}

func summaryText(text string) json.RawMessage { return obj("type", "summary_text", "text", text) }

// item is a block as an output item; while it is open, it is empty.
func (r responses) item(s *speaker, b *said) json.RawMessage {
	status := "in_progress"
	if b.done {
		status = "completed"
	}
	id := r.itemID(s, b)
	switch b.kind {
	case "thinking", "redacted":
		if !b.done {
			return obj("id", id, "type", "reasoning", "encrypted_content", "", "summary", list())
		}
		summary := list()
		if b.kind == "thinking" {
			summary = list(summaryText(b.text))
		}
		return obj("id", id, "type", "reasoning", "encrypted_content", signature(b), "summary", summary)
	case "call":
		args := ""
		if b.done {
			args = b.text
		}
		return obj("id", id, "type", "function_call", "status", status, "arguments", args, "call_id", b.id, "name", b.name)
	}
	content := list()
	if b.done {
		content = list(outputText(b.text))
	}
	return obj("id", id, "type", "message", "status", status, "content", content, "role", "assistant")
}

func (r responses) open(s *speaker, b *said) {
	r.tell(s, "response.output_item.added", "output_index", b.index, "item", r.item(s, b))
	switch b.kind {
	case "text":
		r.tell(s, "response.content_part.added", "item_id", r.itemID(s, b), "output_index", b.index, "content_index", 0, "part", outputText(""))
	case "thinking":
		r.tell(s, "response.reasoning_summary_part.added", "item_id", r.itemID(s, b), "output_index", b.index, "summary_index", 0, "part", summaryText(""))
	}
}

func (r responses) delta(s *speaker, b *said, text string) {
	at := []any{"item_id", r.itemID(s, b), "output_index", b.index}
	switch b.kind {
	case "text":
		r.tell(s, "response.output_text.delta", append(at, "content_index", 0, "delta", text, "logprobs", list())...)
	case "thinking":
		r.tell(s, "response.reasoning_summary_text.delta", append(at, "summary_index", 0, "delta", text)...)
	case "call":
		r.tell(s, "response.function_call_arguments.delta", append(at, "delta", text)...)
	}
}

func (r responses) shut(s *speaker, b *said) {
	at := []any{"item_id", r.itemID(s, b), "output_index", b.index}
	switch b.kind {
	case "text":
		r.tell(s, "response.output_text.done", append(at, "content_index", 0, "text", b.text, "logprobs", list())...)
		r.tell(s, "response.content_part.done", append(at, "content_index", 0, "part", outputText(b.text))...)
	case "thinking":
		r.tell(s, "response.reasoning_summary_text.done", append(at, "summary_index", 0, "text", b.text)...)
		r.tell(s, "response.reasoning_summary_part.done", append(at, "summary_index", 0, "part", summaryText(b.text))...)
	case "call":
		r.tell(s, "response.function_call_arguments.done", append(at, "arguments", b.text)...)
	}
	r.tell(s, "response.output_item.done", "output_index", b.index, "item", r.item(s, b))
}

func (responses) usage(s *speaker) json.RawMessage {
	in, out := s.tokens("in")+s.tokens("cached"), s.tokens("out")
	return obj("input_tokens", in, "input_tokens_details", obj("cached_tokens", s.tokens("cached")),
		"output_tokens", out, "output_tokens_details", obj("reasoning_tokens", s.tokens("reasoning")), "total_tokens", in+out)
}

func (r responses) finish(s *speaker) {
	status, response := r.ending(s)
	r.tell(s, "response."+status, "response", response)
}

func (r responses) ending(s *speaker) (status string, response json.RawMessage) {
	var items []json.RawMessage
	for _, b := range s.blocks {
		items = append(items, r.item(s, b))
	}
	var incomplete any
	status = "completed"
	switch s.reason() {
	case "max_tokens":
		status, incomplete = "incomplete", obj("reason", "max_output_tokens")
	case "refusal":
		status, incomplete = "incomplete", obj("reason", "content_filter")
	}
	return status, r.response(s, status, nil, incomplete, list(items...), r.usage(s))
}

func (r responses) fail(s *speaker, code, text string) {
	r.tell(s, "response.failed", "response", r.response(s, "failed", obj("code", code, "message", text), nil, list(), nil))
}

func (r responses) whole(s *speaker) json.RawMessage {
	_, response := r.ending(s)
	return response
}
