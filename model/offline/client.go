package offline

import (
	"context"
	"iter"
	"strings"
	"time"

	"harness/model"
)

const (
	// Provider and Model are the names it answers by, whatever was asked for.
	Provider = "offline"
	Model    = "offline"
)

// Options of a Client. The zero value works.
type Options struct {
	// Pace is the time a word takes. Zero is as fast as it is read; 25 ms reads
	// like a model.
	Pace time.Duration
}

// Client is the stand-in.
type Client struct{ pace time.Duration }

// New makes a client.
func New(opts *Options) *Client {
	if opts == nil {
		return &Client{}
	}
	return &Client{opts.Pace}
}

// Count implements model.Counter with an estimate: there are no real tokens.
func (c *Client) Count(_ context.Context, r *model.Request) (int64, error) {
	return model.Estimate(r), nil
}

// Stream implements model.Client.
func (c *Client) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		s := speaker{ctx: ctx, pace: c.pace, yield: yield}
		a := decide(r)
		usage := model.Usage{Input: model.Estimate(r)}
		s.tell(model.Chunk{Kind: model.ChunkBegin, Provider: Provider, Name: Model})
		written := 0
		for n, p := range a.pieces {
			s.block(n, &p)
			written += len(p.text) + len(p.name)
		}
		usage.Output = max(model.EstimateText(written), 1)
		if a.fault != nil {
			s.fail(a.fault)
			return
		}
		s.tell(model.Chunk{Kind: model.ChunkUsage, Usage: usage})
		stop := model.StopEnd
		if a.calls > 0 {
			stop = model.StopTools
		}
		s.tell(model.Chunk{Kind: model.ChunkStop, Stop: stop})
	}
}

// speaker hands chunks over at a pace until nobody listens.
type speaker struct {
	ctx   context.Context // of one stream
	pace  time.Duration
	yield func(model.Chunk, error) bool
	done  bool
}

func (s *speaker) tell(c model.Chunk) {
	if s.ctx.Err() != nil {
		s.fail(context.Cause(s.ctx))
	}
	s.done = s.done || !s.yield(c, nil)
}

func (s *speaker) fail(err error) {
	if !s.done {
		s.done = true
		s.yield(model.Chunk{}, err)
	}
}

func (s *speaker) block(n int, p *piece) {
	switch p.kind {
	case model.PartCall:
		s.tell(model.Chunk{Kind: model.ChunkCallBegin, Block: n, ID: p.id, Name: p.name})
		s.words(p.text, model.Chunk{Kind: model.ChunkCallArgs, Block: n})
		s.tell(model.Chunk{Kind: model.ChunkCallEnd, Block: n, ID: p.id, Name: p.name, Text: p.text})
	case model.PartThinking:
		s.words(p.text, model.Chunk{Kind: model.ChunkThinking, Block: n})
		s.tell(model.Chunk{Kind: model.ChunkSignature, Block: n, Text: Provider})
	case model.PartText:
		s.words(p.text, model.Chunk{Kind: model.ChunkText, Block: n})
	case model.PartResult, model.PartImage, model.PartFile: // not said by a model
	}
}

// words says a text word by word.
func (s *speaker) words(text string, c model.Chunk) {
	for text != "" && !s.done {
		end := strings.IndexAny(text[1:], " \n") + 1
		if end <= 0 {
			end = len(text)
		}
		c.Text, text = text[:end], text[end:]
		s.wait()
		s.tell(c)
	}
}

func (s *speaker) wait() {
	if s.pace <= 0 {
		return
	}
	t := time.NewTimer(s.pace)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.ctx.Done():
	}
}
