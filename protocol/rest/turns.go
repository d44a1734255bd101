package rest

import (
	"context"
	"fmt"
	"net/http"

	"harness"
)

// input is what a body says, in the log's form.
func input(prompt string, given []inputPart) ([]harness.Part, error) {
	switch {
	case prompt == "" && len(given) == 0:
		return nil, badField("prompt", "missing; say something with prompt or parts")
	case prompt != "" && len(given) > 0:
		return nil, badField("parts", "prompt says it all; give one of them")
	case prompt != "":
		return harness.TextPart(prompt), nil
	}
	var parts []harness.Part
	for i, p := range given {
		switch at := fmt.Sprintf("parts[%d].", i); {
		case p.Type == "text" && p.Text == "":
			return nil, badField(at+"text", "must not be empty")
		case p.Type == "text":
			parts = append(parts, harness.Part{Type: "text", Text: p.Text})
		case p.URL == "" && p.Path == "":
			return nil, badField(at+"path", "a file needs a path or a url")
		default:
			parts = append(parts, harness.Part{Type: "file", Path: p.Path, URL: p.URL, MediaType: p.MediaType})
		}
	}
	return parts, harness.CheckParts(parts)
}

// startTurn answers with the turn's events from the prompt on, or at once with
// its receipt. A prompt that waits in the queue is answered when its turn
// begins, from turn_start on.
func (s *Server) startTurn(w http.ResponseWriter, r *http.Request, p *onSession, b *turnInput) (err error) {
	form, err := choose(r, mediaEvents, mediaJSON)
	if err != nil {
		return err
	}
	key, err := idempotencyKey(r)
	if err != nil {
		return err
	}
	parts, err := input(b.Prompt, b.Parts)
	if err != nil {
		return err
	}
	ctx := r.Context()
	if _, err := s.row(ctx, p.ID, harness.Chat); err != nil {
		return err
	}
	var place *seat
	if form == mediaEvents { // before the prompt is taken: who is refused may ask again
		if place, err = s.feeds.seat(ctx); err != nil {
			return err
		}
		defer func() {
			if err != nil {
				place.leave()
			}
		}()
	}
	submit := harness.Submit{Parts: parts, Source: harness.FromTurn, OnBusy: harness.OnBusy(b.OnBusy), ClientKey: key, Actor: by(ctx)}
	got, err := s.say(ctx, p.ID, submit, key, harness.FromTurn, parts)
	if err != nil {
		return err
	}
	if form == mediaJSON {
		answer, err := s.withHealth(ctx, p.ID, got, nil)
		if err != nil {
			return err
		}
		return writeJSON(w, http.StatusAccepted, answer)
	}
	from := got.Seq - 1
	waited := got.Turn == ""
	if !waited && key != "" { // it may be over since long, and have waited then
		e, err := s.event(ctx, p.ID, got.Seq+1)
		if err != nil {
			return err
		}
		_, began := e.Payload.(*harness.TurnStart)
		waited = !began || e.Turn != got.Turn
	}
	if waited {
		if got.Turn, from, err = s.begun(ctx, p.ID, got); err != nil {
			return err
		}
	}
	return s.feeds.serve(w, r, subscription{session: p.ID, from: cursorAfter(from), want: everything, until: untilTurn(got.Turn), seat: place})
}

// begun waits for the turn of a queued prompt and says where it is about to
// begin.
func (s *Server) begun(ctx context.Context, id harness.SessionID, queued harness.Receipt) (harness.TurnID, harness.Seq, error) {
	st, err := s.k.At(ctx, id, queued.Seq)
	if err != nil {
		return "", 0, err
	}
	var turn harness.TurnID
	apply := func(e harness.Event) bool {
		if e.Seq == st.Seq+1 {
			st.Apply(e)
		}
		if st.Turn != nil && st.Turn.Prompt.Item == queued.Item {
			turn = st.Turn.ID
		}
		return turn == ""
	}
	for up, err := range s.k.Watch(ctx, id, st.Seq) {
		if err != nil {
			return "", 0, err
		}
		events := s.k.Read(ctx, id, st.Seq)
		if up.State == nil {
			events = yieldAll(up.Events)
		}
		for e, err := range events {
			if err != nil {
				return "", 0, err
			}
			if !apply(e) {
				return turn, st.Turn.Began - 1, nil
			}
		}
	}
	return "", 0, harness.ErrUnavailable
}

func yieldAll(events []harness.Event) func(func(harness.Event, error) bool) {
	return func(yield func(harness.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

type steerInput struct {
	Prompt string      `json:"prompt" rule:"max=524288"`
	Parts  []inputPart `json:"parts"`
}

func (s *Server) steer(ctx context.Context, key string, p *onSession, b *steerInput) (receipt, error) {
	parts, err := input(b.Prompt, b.Parts)
	if err != nil {
		return receipt{}, err
	}
	got, err := s.say(ctx, p.ID, harness.Steer{Parts: parts, ClientKey: key, Actor: by(ctx)}, key, harness.FromSteer, parts)
	return asReceipt(p.ID, got), err
}
