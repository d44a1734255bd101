package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"harness/model"
	"harness/model/wire"
)

// DefaultURL is OpenAI's own server.
const DefaultURL = "https://api.openai.com/v1"

// Options of a client. The zero value of each is its default.
type Options struct {
	URL  string // of the server, with /v1 if it has that; DefaultURL
	Name string // of the provider, for errors and prices; "openai", or the host of another URL
	HTTP *http.Client
}

// server is what both protocols need to know.
type server struct {
	name string
	key  string
}

// connect makes the options of an SDK service. Without a key, no
// authorisation is sent: servers on this machine want none.
func connect(key string, opts *Options) (server, []option.RequestOption) {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.URL = cmp.Or(o.URL, DefaultURL)
	if o.HTTP == nil {
		o.HTTP = wire.NewHTTP(nil)
	}
	set := []option.RequestOption{
		option.WithBaseURL(strings.TrimSuffix(o.URL, "/") + "/"), option.WithHTTPClient(o.HTTP), option.WithMaxRetries(0),
	}
	if key != "" {
		set = append(set, option.WithAPIKey(key))
	}
	return server{cmp.Or(o.Name, wire.Provider("openai", DefaultURL, o.URL)), key}, set
}

// fault names an error of the SDK.
func (s *server) fault(ctx context.Context, begun bool, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if e, ok := errors.AsType[*sdk.Error](err); ok {
		said := wire.Said{Status: e.StatusCode, Words: []string{e.Code, e.Type}, Message: e.Message}
		if e.Response != nil {
			said.Header = e.Response.Header
		}
		return said.Error(s.name, s.key)
	}
	if e, ok := errors.AsType[*ssestream.StreamError](err); ok {
		return s.said(e.Event.Data)
	}
	return wire.Broken(ctx, s.name, s.key, begun, err)
}

// said reads {"error": …} in the middle of a stream, which is an object or a text.
func (s *server) said(data []byte) error {
	var body struct{ Error json.RawMessage }
	var e struct {
		Code    any // some servers use numbers
		Type    string
		Message string
	}
	if json.Unmarshal(data, &body) != nil || json.Unmarshal(body.Error, &e) != nil {
		e.Message = string(body.Error)
	}
	said := wire.Said{Status: http.StatusOK, Words: []string{e.Type}, Message: e.Message}
	switch code := e.Code.(type) {
	case string:
		said.Words = []string{code, e.Type}
	case float64:
		said.Status = int(code)
	}
	return said.Error(s.name, s.key)
}

func (s *server) badSchema(tool string) error {
	return &model.Error{Fault: model.BadRequest, Provider: s.name, Message: "the schema of tool " + tool + " is not a JSON object"}
}
