package modeltest

import (
	"encoding/json"
	"fmt"
)

// messages speaks as Anthropic's servers do.
type messages struct{}

func (messages) id(s *speaker) string { return fmt.Sprintf("msg_%06d", s.req.N) }

func requestID(s *speaker) string { return fmt.Sprintf("req_%06d", s.req.N) }

func (m messages) usage(s *speaker, out int64) json.RawMessage {
	return obj("input_tokens", s.tokens("in"), "cache_creation_input_tokens", s.tokens("written"), "cache_read_input_tokens", s.tokens("cached"),
		"cache_creation", obj("ephemeral_5m_input_tokens", s.tokens("written"), "ephemeral_1h_input_tokens", 0),
		"output_tokens", out, "service_tier", "standard")
}

func (m messages) message(s *speaker, content json.RawMessage, reason any, out int64) json.RawMessage {
	return obj("model", s.req.Model, "id", m.id(s), "type", "message", "role", "assistant", "content", content,
		"stop_reason", reason, "stop_sequence", nil, "usage", m.usage(s, out))
}

func (m messages) start(s *speaker) {
	s.event("message_start", obj("type", "message_start", "message", m.message(s, list(), nil, 1)))
}

// block is a content block; at its beginning, it is empty.
func (messages) block(b *said, text string) json.RawMessage {
	switch b.kind {
	case "thinking":
		sig := ""
		if text != "" {
			sig = signature(b)
		}
		return obj("type", "thinking", "thinking", text, "signature", sig)
	case "redacted":
		return obj("type", "redacted_thinking", "data", b.text)
	case "call":
		if text == "" {
			text = "{}"
		}
		return obj("type", "tool_use", "id", b.id, "name", b.name, "input", json.RawMessage(text))
	}
	return obj("type", "text", "text", text)
}

// signature stands for what a provider signs a thought with.
func signature(b *said) string { return fmt.Sprintf("c2lnbmF0dXJl%04d%04d", b.index, len(b.text)) }

func (m messages) open(s *speaker, b *said) {
	s.event("content_block_start", obj("type", "content_block_start", "index", b.index, "content_block", m.block(b, "")))
	if b.index == 0 {
		m.ping(s)
	}
	if b.kind == "call" {
		m.delta(s, b, "")
	}
}

func (messages) delta(s *speaker, b *said, text string) {
	var d json.RawMessage
	switch b.kind {
	case "text":
		d = obj("type", "text_delta", "text", text)
	case "thinking":
		d = obj("type", "thinking_delta", "thinking", text)
	case "call":
		d = obj("type", "input_json_delta", "partial_json", text)
	default:
		return
	}
	s.event("content_block_delta", obj("type", "content_block_delta", "index", b.index, "delta", d))
}

func (messages) shut(s *speaker, b *said) {
	if b.kind == "thinking" {
		d := obj("type", "signature_delta", "signature", signature(b))
		s.event("content_block_delta", obj("type", "content_block_delta", "index", b.index, "delta", d))
	}
	s.event("content_block_stop", obj("type", "content_block_stop", "index", b.index))
}

func (m messages) finish(s *speaker) {
	s.event("message_delta", obj("type", "message_delta",
		"delta", obj("stop_reason", s.reason(), "stop_sequence", nil),
		"usage", obj("input_tokens", s.tokens("in"), "cache_creation_input_tokens", s.tokens("written"),
			"cache_read_input_tokens", s.tokens("cached"), "output_tokens", s.tokens("out"))))
	s.event("message_stop", obj("type", "message_stop"))
}

func (messages) fail(s *speaker, code, text string) {
	s.event("error", obj("type", "error", "error", obj("type", code, "message", text), "request_id", requestID(s)))
}

func (messages) ping(s *speaker) { s.event("ping", obj("type", "ping")) }

func (m messages) whole(s *speaker) json.RawMessage {
	var content []json.RawMessage
	for _, b := range s.blocks {
		content = append(content, m.block(b, b.text))
	}
	return m.message(s, list(content...), s.reason(), s.tokens("out"))
}

// errorTypes are the words of Messages for statuses.
var errorTypes = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error",
	413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 504: "timeout_error", 529: "overloaded_error",
}

func (messages) complaint(s *speaker, status int, text string) json.RawMessage {
	code := errorTypes[status]
	if code == "" {
		code = "api_error"
	}
	return obj("type", "error", "error", obj("type", code, "message", text), "request_id", requestID(s))
}
