package wire

import (
	"fmt"
	"strings"

	"harness/model"
)

// Strict is yield for a stream of provider, but lets through only what is well
// formed: the first chunk that is not becomes an error, the last thing said.
func Strict(provider string, yield func(model.Chunk, error) bool) func(model.Chunk, error) bool {
	var g Grammar
	return func(c model.Chunk, err error) bool {
		if err != nil {
			return yield(model.Chunk{}, err)
		}
		if wrong := g.Take(&c); wrong != "" {
			yield(model.Chunk{}, &model.Error{Fault: model.ServerError, Provider: provider, Message: "what it sends cannot be understood: " + wrong})
			return false
		}
		return yield(c, nil)
	}
}

// Grammar is which chunks may follow which. Its zero value is at the beginning
// of a stream.
type Grammar struct {
	begun bool
	kinds map[int]model.ChunkKind  // first kind of each block
	args  map[int]*strings.Builder // of calls without an end
}

// Take says what is wrong with c at this place, or nothing.
func (g *Grammar) Take(c *model.Chunk) string {
	if g.kinds == nil {
		g.kinds, g.args = map[int]model.ChunkKind{}, map[int]*strings.Builder{}
	}
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
	case model.ChunkStop:
		if len(g.args) > 0 && c.Stop != model.StopMaxTokens {
			return "the end with open calls"
		}
	case model.ChunkUsage, model.ChunkNote:
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
			g.args[c.Block] = &strings.Builder{}
			if c.ID == "" || c.Name == "" {
				return "a call without id or name"
			}
		case known && first != c.Kind && !(first == model.ChunkThinking && c.Kind == model.ChunkSignature):
			return "a block changes its kind"
		}
	case model.ChunkCallArgs:
		if g.args[c.Block] == nil {
			return "arguments of no call"
		}
		g.args[c.Block].WriteString(c.Text)
	case model.ChunkCallEnd:
		args := g.args[c.Block]
		if args == nil {
			return "the end of no call"
		}
		delete(g.args, c.Block)
		if c.Text != args.String() {
			return "the whole arguments are not their pieces"
		}
	default:
		return "a chunk of no kind"
	}
	return ""
}
