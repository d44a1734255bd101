package openai

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"

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
	key  string // may be empty: servers on this machine want none
	url  string // with a slash at its end
	http *http.Client
}

func connect(key string, opts *Options) server {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.URL = strings.TrimSuffix(cmp.Or(o.URL, DefaultURL), "/") + "/"
	if o.HTTP == nil {
		o.HTTP = wire.NewHTTP(nil)
	}
	return server{cmp.Or(o.Name, wire.Provider("openai", DefaultURL, o.URL)), key, o.URL, o.HTTP}
}

// fault names an error of the SDK.
func (s *server) fault(ctx context.Context, begun bool, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if e, ok := errors.AsType[*responses.Error](err); ok {
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

func (s *server) badSchema(tool string) error {
	return &model.Error{Fault: model.BadRequest, Provider: s.name, Message: "the schema of tool " + tool + " is not a JSON object"}
}
