package native

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"harness"
	"harness/model"
	"harness/tool"
)

const (
	// maxOutput is how many characters of a result stay in the conversation;
	// what is longer is kept as an artifact.
	maxOutput = 12_000
	// shownHead and shownTail are what stays of it.
	shownHead = 4_000
	shownTail = 2_000
)

// unsupported reports whether nothing keeps artifacts here.
func unsupported(err error) bool { return errors.Is(err, harness.ErrUnsupported) }

// ending makes of a tool's result what the log and the model get.
func (r *turn) ending(ctx context.Context, j *job, result tool.Result, err error) *ending {
	text, artifact := r.keepLong(ctx, j, result.Text)
	for _, p := range result.Images {
		text = joined(text, fmt.Sprintf("[image: %s, %d bytes]", p.Media, len(p.Data)))
	}
	e := &ending{outcome: harness.ToolOutcome{Status: harness.OutcomeOK, ArtifactID: artifact}}
	for _, p := range result.Images {
		e.images = append(e.images, model.Part{Kind: model.PartImage, Media: p.Media, Data: p.Data})
	}
	if err == nil {
		e.result = &harness.ToolResult{Output: text, Result: valid(result.Data)}
		if artifact != "" {
			e.outcome.Status = harness.OutcomeArtifact
		}
		return e
	}
	e.outcome.Status, e.outcome.Error = harness.OutcomeError, cut(err.Error(), maxOutput)
	if errors.Is(err, tool.ErrTimeout) || errors.Is(err, context.DeadlineExceeded) {
		e.outcome.Status = harness.OutcomeTimeout
	}
	if text != "" {
		before, err := json.Marshal(text)
		if err != nil {
			panic("native: " + err.Error())
		}
		e.outcome.Result = before
	}
	return e
}

// valid is data, unless it would break the log.
func valid(data json.RawMessage) json.RawMessage {
	if len(data) == 0 || len(data) > maxOutput || !json.Valid(data) {
		return nil
	}
	return data
}

// keepLong keeps a text that is too long out of line and returns what of it
// stays, and the artifact's id.
func (r *turn) keepLong(ctx context.Context, j *job, text string) (short, artifact string) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	n := utf8.RuneCountInString(text)
	if n <= maxOutput {
		return text, ""
	}
	about, err := json.Marshal(map[string]any{"tool_call_id": j.id, "tool_name": j.name, "characters": n})
	if err != nil {
		panic("native: " + err.Error())
	}
	where := "the rest was not kept"
	a := harness.NewArtifact(r.t.Session, harness.ArtifactToolOutput, "output of "+j.name, []byte(text))
	a.Metadata = about
	switch err := r.h.Emit(ctx, a); {
	case err == nil:
		artifact, where = a.ArtifactID, "the whole is artifact "+a.ArtifactID
	case !unsupported(err) && ctx.Err() == nil:
		r.log.Warn("output not kept", "call", j.id, "err", err)
	}
	head, tail := edge(text, shownHead), edgeBack(text, shownTail)
	return fmt.Sprintf("%s\n\n[%d of %d characters were left out here; %s]\n\n%s", head, n-shownHead-shownTail, n, where, tail), artifact
}

// edge is the first n characters.
func edge(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// edgeBack is the last n characters.
func edgeBack(s string, n int) string {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return s[i:]
}
