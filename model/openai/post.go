package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"

	"harness/model/wire"
)

// post sends a request and returns the events of the answer, each a T.
func post[T any](ctx context.Context, s *server, url string, body any, loose bool) (*wire.Stream[T], error) {
	r, err := wire.NewRequest(ctx, s.name, url, wire.WantEvents, body)
	if err != nil {
		return nil, err
	}
	if s.key != "" {
		r.Header.Set("Authorization", "Bearer "+s.key)
	}
	res, err := wire.OnlyEvents(r, s.http.Do)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusOK {
		return wire.NewStream[T](res.Body, loose, s.sort), nil
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body) // bounded by our client
	if err != nil {
		return nil, err
	}
	said := wire.Said{Status: res.StatusCode, Header: res.Header}
	said.Words, said.Message, _ = complaint(text)
	return nil, said.Error(s.name, s.key)
}

// sort ends a stream at its last word and at a complaint, which both protocols
// have in the same form.
func (s *server) sort(e wire.Event) (skip bool, err error) {
	if bytes.HasPrefix(e.Data, []byte("[DONE]")) {
		return false, io.EOF
	}
	if !bytes.Contains(e.Data, []byte(`"error"`)) {
		return false, nil
	}
	var top struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(e.Data, &top) == nil && len(top.Error) > 0 && string(top.Error) != "null" {
		return false, s.said(e.Data)
	}
	return false, nil
}
