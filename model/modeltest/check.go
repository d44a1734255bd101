package modeltest

import (
	"fmt"
	"iter"
	"testing"

	"harness/model"
)

// Ask takes one answer and checks that the stream is well formed. It returns
// what came until the end, and the error if there was one.
func Ask(tb testing.TB, c model.Client, r *model.Request) (*model.Answer, error) {
	tb.Helper()
	return Check(tb, c.Stream(tb.Context(), r))
}

// Check reads a stream and fails the test for everything a Client promises
// never to do.
func Check(tb testing.TB, stream iter.Seq2[model.Chunk, error]) (*model.Answer, error) {
	tb.Helper()
	a := &model.Answer{}
	g := grammar{kinds: map[int]model.ChunkKind{}, args: map[int]string{}}
	var failed error
	for c, err := range stream {
		switch {
		case failed != nil || a.Stop != "":
			tb.Errorf("after its end the stream goes on with %+v, %v", c, err)
		case err != nil:
			failed = err
		default:
			if complaint := g.take(&c); complaint != "" {
				tb.Errorf("%s: %+v", complaint, c)
			}
			a.Add(c)
		}
	}
	switch {
	case failed == nil && a.Stop == "":
		tb.Error("the stream ended without a stop and without an error")
	case failed == nil && a.Stop != model.StopMaxTokens && g.open > 0:
		tb.Errorf("the stream ended well with %d open calls", g.open)
	}
	return a, failed
}

// grammar is what chunks may follow which.
type grammar struct {
	begun bool
	kinds map[int]model.ChunkKind // first kind of each block
	args  map[int]string
	open  int
}

func (g *grammar) take(c *model.Chunk) string {
	if c.Kind != model.ChunkNote && !g.begun {
		g.begun = true
		if c.Kind != model.ChunkBegin {
			return "the first chunk is not a beginning"
		}
		if c.Provider == "" {
			return "a beginning without a provider"
		}
		return ""
	}
	first, known := g.kinds[c.Block]
	switch c.Kind {
	case model.ChunkBegin:
		return "a second beginning"
	case model.ChunkUsage, model.ChunkStop, model.ChunkNote:
		return ""
	case model.ChunkText, model.ChunkThinking, model.ChunkSignature, model.ChunkCallBegin:
		if !known {
			if c.Block != len(g.kinds) {
				return fmt.Sprintf("a block begins out of order, want %d", len(g.kinds))
			}
			g.kinds[c.Block] = c.Kind
		}
		switch {
		case c.Kind == model.ChunkCallBegin && known:
			return "a call begins twice"
		case c.Kind == model.ChunkCallBegin:
			g.open++
			if c.ID == "" || c.Name == "" {
				return "a call without id or name"
			}
		case known && first != c.Kind && !(first == model.ChunkThinking && c.Kind == model.ChunkSignature):
			return "a block changes its kind"
		}
	case model.ChunkCallArgs:
		if first != model.ChunkCallBegin {
			return "arguments of no call"
		}
		g.args[c.Block] += c.Text
	case model.ChunkCallEnd:
		g.open--
		if first != model.ChunkCallBegin {
			return "the end of no call"
		}
		if c.Text != g.args[c.Block] {
			return fmt.Sprintf("the whole arguments are not their pieces %q", g.args[c.Block])
		}
	default:
		return "a chunk of no kind"
	}
	return ""
}
