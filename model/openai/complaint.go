package openai

import (
	"encoding/json"
	"net/http"

	"harness/model/wire"
)

// complaint reads {"error": …}, which is an object or a text, or a text alone.
// Some servers have a status for a code.
func complaint(data []byte) (words []string, message string, status int) {
	var body struct {
		Error   json.RawMessage
		Message string
		Detail  any
	}
	if json.Unmarshal(data, &body) != nil {
		return nil, string(data), 0
	}
	var e struct {
		Code    any
		Type    string
		Message string
	}
	if json.Unmarshal(body.Error, &e) != nil {
		_ = json.Unmarshal(body.Error, &e.Message) // or it stays empty
	}
	switch code := e.Code.(type) {
	case string:
		words = append(words, code)
	case float64:
		status = int(code)
	}
	for _, m := range []string{e.Message, body.Message, string(data)} {
		if m != "" {
			return append(words, e.Type), m, status
		}
	}
	return append(words, e.Type), "", status
}

// said is a complaint in the middle of a stream.
func (s *server) said(data []byte) error {
	said := wire.Said{Status: http.StatusOK}
	var status int
	said.Words, said.Message, status = complaint(data)
	if status != 0 {
		said.Status = status
	}
	return said.Error(s.name, s.key)
}
