package openai

import (
	"context"
	"iter"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"

	"harness/model"
	"harness/model/wire"
)

// Responses speaks the Responses protocol. It does not retry: see model.Retry.
// Nothing is kept at the server: thoughts come and go encrypted.
type Responses struct {
	server
	service responses.ResponseService
}

// NewResponses makes a client that shows key to the server.
func NewResponses(key string, opts *Options) *Responses {
	s := connect(key, opts)
	set := []option.RequestOption{option.WithBaseURL(s.url), option.WithHTTPClient(s.http), option.WithMaxRetries(0)}
	if key != "" {
		set = append(set, option.WithAPIKey(key))
	}
	return &Responses{s, responses.NewResponseService(set...)}
}

// Stream implements model.Client.
func (c *Responses) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		params, err := c.params(r)
		if err != nil {
			yield(model.Chunk{}, err)
			return
		}
		stream := c.service.NewStreaming(ctx, params, option.WithMiddleware(wire.OnlyEvents))
		read := &responseReader{server: &c.server, calls: map[string]*openCall{}, blocks: map[string]int{}}
		follow(ctx, &c.server, stream, read, yield)
	}
}

// events is a reader of one protocol.
type events[T any] interface {
	event(T) []model.Chunk
	// end is asked when the stream is over; an error of the protocol, or nil
	// and the reason to stop. A stream that did not say its end has no reason.
	end() (model.Stop, error)
	begun() bool
	done() bool
}

// follow hands a stream over to yield, to its end.
func follow[T any](ctx context.Context, s *server, stream *ssestream.Stream[T], read events[T], yield func(model.Chunk, error) bool) {
	defer stream.Close()
	yield = wire.Strict(s.name, yield)
	for !read.done() && ctx.Err() == nil && stream.Next() {
		for _, chunk := range read.event(stream.Current()) {
			if !yield(chunk, nil) {
				return
			}
		}
	}
	stop, err := read.end()
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err != nil:
	case stop != "": // whatever happened to the connection after that
		if t, ok := read.(interface{ tail() []model.Chunk }); ok {
			for _, chunk := range t.tail() {
				if !yield(chunk, nil) {
					return
				}
			}
		}
		yield(model.Chunk{Kind: model.ChunkStop, Stop: stop}, nil)
		return
	case stream.Err() != nil:
		err = s.fault(ctx, read.begun(), stream.Err())
	default:
		err = wire.Ended(s.name)
	}
	yield(model.Chunk{}, err)
}
