package native

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"harness"
	"harness/model"
)

// ask makes the conversation fit, and asks the model. If it turns out to be too
// long all the same, it is compacted and the model asked once more.
func (r *turn) ask(ctx context.Context) (*model.Answer, error) {
	if err := r.fit(ctx); err != nil {
		return nil, err
	}
	a, err := r.stream(ctx, r.request())
	f, ok := errors.AsType[*model.Error](err)
	if !ok || f.Fault != model.ContextTooLong {
		return a, err
	}
	if shrunk := r.compact(ctx, "the provider said that the conversation is too long", true); shrunk != nil {
		return nil, errors.Join(err, shrunk)
	}
	return r.stream(ctx, r.request())
}

// request is the conversation as it is now.
func (r *turn) request() *model.Request {
	cfg := r.h.Config()
	req := &model.Request{
		Model: cmp.Or(cfg.Model, r.e.opts.Model), System: r.system, Messages: r.conv.messages(),
		Tools: r.tools.offered, Effort: model.Effort(cfg.Effort), CacheKey: string(r.t.Session),
	}
	if cfg.SystemPrompt != "" {
		req.System += "\n\n" + cfg.SystemPrompt
	}
	return req
}

// stream takes one answer, shows it as it comes, and adds it to the conversation.
func (r *turn) stream(ctx context.Context, req *model.Request) (*model.Answer, error) {
	a := new(model.Answer)
	err := r.show(ctx, req, a)
	if text := a.Text(); text != "" { // what was shown is in the log, whatever happened then
		r.conv.apply(harness.Event{Turn: r.t.ID, Payload: &harness.Token{Text: text}})
	}
	if err != nil {
		return nil, err
	}
	if a.Stop == "" {
		return nil, &model.Error{Fault: model.CutOff, Provider: a.Provider, Message: "the stream ended without a stop"}
	}
	return a, r.count(ctx, req, a)
}

func (r *turn) show(ctx context.Context, req *model.Request, a *model.Answer) error {
	said := false
	for c, err := range r.e.client.Stream(ctx, req) {
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return fmt.Errorf("ask the model: %w", err)
		}
		a.Add(c)
		switch c.Kind {
		case model.ChunkText:
			if c.Text == "" {
				continue
			}
			text := c.Text
			if !said {
				text = r.apart(text)
			}
			said = true
			r.shown.WriteString(text)
			err = r.h.Emit(ctx, &harness.Token{Text: text})
		case model.ChunkThinking:
			if c.Text != "" {
				err = r.h.Emit(ctx, &harness.Thinking{Text: c.Text})
			}
		case model.ChunkNote:
			n := c.Note
			err = r.h.Emit(ctx, &harness.TransportDiagnostic{
				Status: n.Status, Kind: n.Kind, ProviderRequested: n.Requested, ProviderActual: n.Actual, Reason: n.Reason, FailureCount: n.Failures,
			})
		case model.ChunkBegin, model.ChunkSignature, model.ChunkCallBegin, model.ChunkCallArgs, model.ChunkCallEnd, model.ChunkUsage, model.ChunkStop:
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// apart begins a new paragraph if the turn's message has text already: people
// read one text where the model had several turns to speak.
func (r *turn) apart(text string) string {
	if r.shown.Len() == 0 || strings.HasPrefix(text, "\n") {
		return text
	}
	if last := r.conv.last(); last != nil && len(last.text) > 0 && !last.closed { // it goes on with the same answer
		return text
	}
	return "\n\n" + text
}

// announce makes the answer's calls durable facts before any of them runs. The
// model's own ids are kept where they are unique.
func (r *turn) announce(ctx context.Context, a *model.Answer) ([]*call, error) {
	message := a.Message()
	before := len(r.conv.turn.calls)
	for i := range message.Parts {
		p := &message.Parts[i]
		if p.Kind != model.PartCall {
			continue
		}
		p.ID, p.Args = r.unique(p.ID), compact(json.RawMessage(p.Args))
		if err := r.emit(ctx, &harness.ToolCall{Name: p.Name, Arguments: json.RawMessage(p.Args), ToolCallID: harness.CallID(p.ID)}); err != nil {
			return nil, err
		}
	}
	if slices.ContainsFunc(message.Parts, func(p model.Part) bool { return p.Kind == model.PartThinking }) {
		last := r.conv.answer(0)
		last.exact = append(last.exact, message.Parts...)
	} else if last := r.conv.last(); last != nil && last.exact != nil {
		last.exact = append(last.exact, message.Parts...)
	}
	return r.conv.turn.calls[before:], nil
}

// unique is an id that no call of the conversation has: some servers count from
// zero in every answer.
func (r *turn) unique(id string) string {
	if harness.CheckID("call", id) != nil {
		id = fmt.Sprintf("call_%d", len(r.conv.turn.calls)+1)
	}
	free := id
	for n := 2; r.conv.known(free); n++ {
		free = fmt.Sprintf("%s_%d", cutID(id), n)
	}
	return free
}

// cutID leaves room for a number.
func cutID(id string) string { return id[:min(len(id), harness.MaxID-8)] }
