package modeltest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// generate speaks as Google's Gemini API does: every event is a whole answer
// that has the next parts; a call, and a summary of a thought, is one part.
type generate struct{}

// generates reports which model a path asks for an answer, and whether as a
// stream.
func generates(path string) (model string, stream, ok bool) {
	rest, ok := strings.CutPrefix(path, "/v1beta/models/")
	model, method, named := strings.Cut(rest, ":")
	switch {
	case !ok || !named:
	case method == "streamGenerateContent":
		return model, true, true
	case method == "generateContent":
		return model, false, true
	}
	return "", false, false
}

var endings = map[string]string{"max_tokens": "MAX_TOKENS", "refusal": "SAFETY"}

func (g generate) response(s *speaker, reason string, parts ...json.RawMessage) json.RawMessage {
	candidate := []any{"content", obj("parts", list(parts...), "role", "model")}
	if reason != "" {
		candidate = append(candidate, "finishReason", reason)
	}
	return obj("candidates", list(obj(append(candidate, "index", 0)...)), "usageMetadata", g.usage(s),
		"modelVersion", s.req.Model, "responseId", fmt.Sprintf("response%06d", s.req.N))
}

func (generate) usage(s *speaker) json.RawMessage {
	in, out, thoughts := s.tokens("in")+s.tokens("cached"), s.tokens("out"), s.tokens("reasoning")
	kv := []any{"promptTokenCount", in, "candidatesTokenCount", out, "totalTokenCount", in + out + thoughts}
	if n := s.tokens("cached"); n > 0 {
		kv = append(kv, "cachedContentTokenCount", n)
	}
	kv = append(kv, "promptTokensDetails", list(obj("modality", "TEXT", "tokenCount", in)))
	if thoughts > 0 {
		kv = append(kv, "thoughtsTokenCount", thoughts)
	}
	return obj(kv...)
}

func (generate) part(b *said, text string) json.RawMessage {
	switch b.kind {
	case "thinking":
		return obj("text", text, "thought", true)
	case "call":
		return obj("functionCall", obj("name", b.name, "args", json.RawMessage(text), "id", b.id))
	}
	return obj("text", text)
}

// send is an event, which Google ends with carriage returns.
func (generate) send(s *speaker, data json.RawMessage) {
	s.write(append(append([]byte("data: "), data...), "\r\n\r\n"...))
}

func (g generate) delta(s *speaker, b *said, text string) {
	if b.kind == "text" {
		g.send(s, g.response(s, "", g.part(b, text)))
	}
}

func (g generate) shut(s *speaker, b *said) {
	if b.kind == "call" || b.kind == "thinking" {
		g.send(s, g.response(s, "", g.part(b, b.text)))
	}
}

func (g generate) reason(s *speaker) string {
	if r := endings[s.reason()]; r != "" {
		return r
	}
	return "STOP"
}

func (g generate) finish(s *speaker) { g.send(s, g.response(s, g.reason(s), obj("text", ""))) }

func (g generate) whole(s *speaker) json.RawMessage {
	var parts []json.RawMessage
	for _, b := range s.blocks {
		if b.kind != "redacted" {
			parts = append(parts, g.part(b, b.text))
		}
	}
	return g.response(s, g.reason(s), parts...)
}

func (generate) start(*speaker)       {}
func (generate) open(*speaker, *said) {}
func (generate) ping(*speaker)        {} // it says nothing while it has nothing to say

func (g generate) fail(s *speaker, _, text string) { g.send(s, g.complaint(s, 500, text)) }

// statuses are the words of Google for statuses.
var statuses = map[int]string{
	400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
}

func (generate) complaint(_ *speaker, status int, text string) json.RawMessage {
	kv := []any{"code", status, "message", text}
	if s := statuses[status]; s != "" {
		kv = append(kv, "status", s)
	}
	return obj("error", obj(kv...))
}

// content is a message of the Gemini API.
type content struct {
	Role  string
	Parts []struct {
		Text     string
		Call     json.RawMessage `json:"functionCall"`
		Response *struct {
			Response json.RawMessage
		} `json:"functionResponse"`
	}
}

// entries are what rules see of it.
func (c *content) entries() (all []entry) {
	who := map[string]string{"model": "assistant"}[c.Role]
	if who == "" {
		who = "user"
	}
	for _, p := range c.Parts {
		if p.Response != nil {
			all = append(all, entry{"result", string(p.Response.Response)})
		} else if p.Text != "" || who == "assistant" {
			all = append(all, entry{who, p.Text})
		}
	}
	if len(all) == 0 {
		all = append(all, entry{who, ""})
	}
	return all
}
