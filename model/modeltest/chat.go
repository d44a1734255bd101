package modeltest

import (
	"encoding/json"
	"fmt"
)

// chat speaks as OpenAI's Chat Completions does, with reasoning_content as
// servers that follow it do.
type chat struct{}

// madeUp is the time of every answer.
const madeUp = 1767225600

func (chat) id(s *speaker) string { return fmt.Sprintf("chatcmpl-%06d", s.req.N) }

func (c chat) chunk(s *speaker, choices json.RawMessage, usage any) {
	kv := []any{"id", c.id(s), "object", "chat.completion.chunk", "created", madeUp, "model", s.req.Model,
		"service_tier", "default", "system_fingerprint", "fp_000000", "choices", choices}
	if s.req.usage {
		kv = append(kv, "usage", usage)
	}
	s.event("", obj(kv...))
}

func (c chat) choice(s *speaker, delta json.RawMessage, reason any) {
	c.chunk(s, list(obj("index", 0, "delta", delta, "logprobs", nil, "finish_reason", reason)), nil)
}

func (c chat) start(s *speaker) {
	c.choice(s, obj("role", "assistant", "content", "", "refusal", nil), nil)
}

// callIndex is the place of b among the calls.
func callIndex(s *speaker, b *said) (n int) {
	for _, o := range s.blocks[:b.index] {
		if o.kind == "call" {
			n++
		}
	}
	return n
}

func (c chat) open(s *speaker, b *said) {
	if b.kind == "call" {
		f := obj("index", callIndex(s, b), "id", b.id, "type", "function", "function", obj("name", b.name, "arguments", ""))
		c.choice(s, obj("tool_calls", list(f)), nil)
	}
}

func (c chat) delta(s *speaker, b *said, text string) {
	switch b.kind {
	case "text":
		c.choice(s, obj("content", text), nil)
	case "thinking":
		c.choice(s, obj("reasoning_content", text), nil)
	case "call":
		c.choice(s, obj("tool_calls", list(obj("index", callIndex(s, b), "function", obj("arguments", text)))), nil)
	}
}

func (chat) shut(*speaker, *said) {}

var finishReasons = map[string]string{"end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool_calls", "max_tokens": "length", "refusal": "content_filter", "pause_turn": "stop"}

func (chat) usage(s *speaker) json.RawMessage {
	in, out := s.tokens("in")+s.tokens("cached"), s.tokens("out")
	return obj("prompt_tokens", in, "completion_tokens", out, "total_tokens", in+out,
		"prompt_tokens_details", obj("cached_tokens", s.tokens("cached"), "audio_tokens", 0),
		"completion_tokens_details", obj("reasoning_tokens", s.tokens("reasoning"), "audio_tokens", 0, "accepted_prediction_tokens", 0, "rejected_prediction_tokens", 0))
}

func (c chat) finish(s *speaker) {
	c.choice(s, obj(), finishReasons[s.reason()])
	if s.req.usage {
		c.chunk(s, list(), c.usage(s))
	}
	s.event("", json.RawMessage("[DONE]"))
}

func (chat) fail(s *speaker, code, text string) {
	s.event("", obj("error", obj("message", text, "type", code, "param", nil, "code", code)))
}

func (chat) ping(s *speaker) { s.write([]byte(": ping\n\n")) }

func (c chat) whole(s *speaker) json.RawMessage {
	var content any
	text, thought := "", ""
	var calls []json.RawMessage
	for _, b := range s.blocks {
		switch b.kind {
		case "text":
			text += b.text
			content = text
		case "thinking":
			thought += b.text
		case "call":
			calls = append(calls, obj("id", b.id, "type", "function", "function", obj("name", b.name, "arguments", b.text)))
		}
	}
	message := []any{"role", "assistant", "content", content, "refusal", nil}
	if thought != "" {
		message = append(message, "reasoning_content", thought)
	}
	if calls != nil {
		message = append(message, "tool_calls", list(calls...))
	}
	return obj("id", c.id(s), "object", "chat.completion", "created", madeUp, "model", s.req.Model,
		"choices", list(obj("index", 0, "message", obj(message...), "logprobs", nil, "finish_reason", finishReasons[s.reason()])),
		"usage", c.usage(s), "service_tier", "default", "system_fingerprint", "fp_000000")
}

// errorCodes are the words of OpenAI for statuses: type and code.
var errorCodes = map[int][2]string{
	400: {"invalid_request_error", ""}, 401: {"invalid_request_error", "invalid_api_key"}, 403: {"invalid_request_error", ""},
	404: {"invalid_request_error", "model_not_found"}, 429: {"requests", "rate_limit_exceeded"}, 500: {"server_error", ""}, 503: {"server_error", "server_is_overloaded"},
}

func (chat) complaint(_ *speaker, status int, text string) json.RawMessage {
	words, ok := errorCodes[status]
	if !ok {
		words[0] = "server_error"
	}
	var code any
	if words[1] != "" {
		code = words[1]
	}
	return obj("error", obj("message", text, "type", words[0], "param", nil, "code", code))
}
