package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"harness/model"
	"harness/model/wire"
)

// DefaultURL is Anthropic's own server.
const DefaultURL = "https://api.anthropic.com"

// Options of a Client. The zero value of each is its default.
type Options struct {
	URL    string // of the server, without /v1; DefaultURL
	Bearer bool   // send the key as a bearer token, as gateways want it
	Name   string // of the provider, for errors and prices; "anthropic", or the host of another URL
	HTTP   *http.Client
	// MaxTokens bounds answers of requests that do not; 16,384. The protocol wants a bound.
	MaxTokens int64
}

// Client speaks to one server. It does not retry: see model.Retry.
type Client struct {
	name      string
	key       string
	maxTokens int64
	messages  sdk.MessageService
}

// New makes a client that shows key to the server.
func New(key string, opts *Options) *Client {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.URL = cmp.Or(o.URL, DefaultURL)
	if o.HTTP == nil {
		o.HTTP = wire.NewHTTP(nil)
	}
	c := &Client{name: cmp.Or(o.Name, wire.Provider("anthropic", DefaultURL, o.URL)), key: key, maxTokens: cmp.Or(o.MaxTokens, 16384)}
	auth := option.WithAPIKey(key)
	if o.Bearer {
		auth = option.WithAuthToken(key)
	}
	c.messages = sdk.NewMessageService(option.WithoutEnvironmentDefaults(), option.WithBaseURL(strings.TrimSuffix(o.URL, "/")+"/"),
		option.WithHTTPClient(o.HTTP), option.WithMaxRetries(0), option.WithoutOpenTelemetry(), auth)
	return c
}

// Stream implements model.Client.
func (c *Client) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		params, err := c.params(r)
		if err != nil {
			yield(model.Chunk{}, err)
			return
		}
		stream := c.messages.NewStreaming(ctx, params, option.WithMiddleware(wire.OnlyEvents))
		defer stream.Close()
		yield = wire.Strict(c.name, yield)
		read := reader{provider: c.name}
		for !read.done && ctx.Err() == nil && stream.Next() {
			for _, chunk := range read.event(stream.Current()) {
				if !yield(chunk, nil) {
					return
				}
			}
		}
		switch {
		case ctx.Err() != nil:
			err = context.Cause(ctx)
		case stream.Err() != nil && !read.done:
			err = c.fault(ctx, read.begun, stream.Err())
		case read.refused != nil:
			err = read.refused
		case !read.done || read.stop == "":
			err = wire.Ended(c.name)
		default:
			yield(model.Chunk{Kind: model.ChunkStop, Stop: read.stop}, nil)
			return
		}
		yield(model.Chunk{}, err)
	}
}

// Count implements model.Counter.
func (c *Client) Count(ctx context.Context, r *model.Request) (int64, error) {
	p, err := c.params(r)
	if err != nil {
		return 0, err
	}
	count := sdk.MessageCountTokensParams{Model: p.Model, Messages: p.Messages, Thinking: p.Thinking, ToolChoice: p.ToolChoice,
		System: sdk.MessageCountTokensParamsSystemUnion{OfTextBlockArray: p.System}}
	for _, t := range p.Tools {
		count.Tools = append(count.Tools, sdk.MessageCountTokensToolUnionParam{OfTool: t.OfTool})
	}
	n, err := c.messages.CountTokens(ctx, count)
	if err != nil {
		return 0, c.fault(ctx, false, err)
	}
	return n.InputTokens, nil
}

// fault names an error of the SDK.
func (c *Client) fault(ctx context.Context, begun bool, err error) error {
	e, ok := errors.AsType[*sdk.Error](err)
	if !ok || ctx.Err() != nil {
		return wire.Broken(ctx, c.name, c.key, begun, err)
	}
	said := wire.Said{Status: e.StatusCode, Words: []string{string(e.Type())}}
	if e.Response != nil {
		said.Header = e.Response.Header
	}
	var body struct{ Error struct{ Message string } }
	if json.Unmarshal([]byte(e.RawJSON()), &body) == nil {
		said.Message = body.Error.Message
	}
	// Not a word of its own, but 400 for a prompt that is too long.
	if said.Words[0] == "invalid_request_error" {
		said.Words = nil
	}
	return said.Error(c.name, c.key)
}
