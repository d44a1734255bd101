package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"strings"

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
	url       string // of messages
	bearer    bool
	http      *http.Client
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
	return &Client{
		name: cmp.Or(o.Name, wire.Provider("anthropic", DefaultURL, o.URL)), key: key, maxTokens: cmp.Or(o.MaxTokens, 16384),
		url: strings.TrimSuffix(o.URL, "/") + "/v1/messages", bearer: o.Bearer, http: o.HTTP,
	}
}

// Stream implements model.Client.
func (c *Client) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		params, err := c.params(r)
		if err != nil {
			yield(model.Chunk{}, err)
			return
		}
		params.Stream = true
		yield = wire.Strict(c.name, yield)
		stream, err := c.open(ctx, params)
		if err != nil {
			yield(model.Chunk{}, wire.Broken(ctx, c.name, c.key, false, err))
			return
		}
		defer stream.Close()
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
			err = wire.Broken(ctx, c.name, c.key, read.begun, stream.Err())
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
	p.MaxTokens, p.OutputConfig, p.Temperature = 0, nil, nil // not for a count
	res, err := c.post(ctx, c.url+"/count_tokens", wire.WantJSON, p, c.http.Do)
	if err != nil {
		return 0, wire.Broken(ctx, c.name, c.key, false, err)
	}
	defer res.Body.Close()
	var counted struct {
		InputTokens int64 `json:"input_tokens"`
	}
	if err := json.NewDecoder(res.Body).Decode(&counted); err != nil {
		return 0, wire.Broken(ctx, c.name, c.key, false, err)
	}
	return counted.InputTokens, nil
}

// open asks for an answer, event by event.
func (c *Client) open(ctx context.Context, r *request) (*wire.Stream[event], error) {
	res, err := c.post(ctx, c.url, wire.WantEvents, r, func(r *http.Request) (*http.Response, error) { return wire.OnlyEvents(r, c.http.Do) })
	if err != nil {
		return nil, err
	}
	return wire.NewStream[event](res.Body, true, func(e wire.Event) (skip bool, err error) {
		switch {
		case e.Type == "error":
			return false, c.said(res, e.Data)
		case e.Type == "ping", e.Type == "", len(e.Data) == 0:
			return true, nil
		}
		return false, nil
	}), nil
}

// post sends a request; an answer that is not a good one is an error.
func (c *Client) post(ctx context.Context, url, accept string, body *request, do func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	r, err := wire.NewRequest(ctx, c.name, url, accept, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Anthropic-Version", version)
	if c.bearer {
		r.Header.Set("Authorization", "Bearer "+c.key)
	} else {
		r.Header.Set("X-Api-Key", c.key)
	}
	res, err := do(r)
	if err != nil || res.StatusCode == http.StatusOK {
		return res, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body) // bounded by our client
	if err != nil {
		return nil, err
	}
	return nil, c.said(res, text)
}

// said is a complaint of the server.
func (c *Client) said(res *http.Response, text []byte) error {
	said := wire.Said{Status: res.StatusCode, Header: res.Header}
	var body complaint
	if json.Unmarshal(text, &body) == nil {
		said.Message = body.Error.Message
	}
	// Not a word of its own, but 400 for a prompt that is too long.
	if word := body.Error.Type; word != "invalid_request_error" {
		said.Words = []string{word}
	}
	return said.Error(c.name, c.key)
}
