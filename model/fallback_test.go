package model_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"harness/model"
	"harness/model/modeltest"
)

// scripted is a client that plays one outcome after the other, the last for ever.
type scripted struct {
	name  string
	plays []any // a string to say, an error, or both in a slice
	asked []string
}

func (s *scripted) Stream(_ context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		s.asked = append(s.asked, r.Model)
		play := s.plays[min(len(s.asked), len(s.plays))-1]
		if !yield(model.Chunk{Kind: model.ChunkBegin, Provider: s.name}, nil) || !yield(model.Chunk{Kind: model.ChunkUsage, Usage: model.Usage{Input: 1}}, nil) {
			return
		}
		both, ok := play.([]any)
		if !ok {
			both = []any{play}
		}
		for _, p := range both {
			switch p := p.(type) {
			case string:
				if !yield(model.Chunk{Kind: model.ChunkText, Text: p}, nil) {
					return
				}
			case error:
				yield(model.Chunk{}, p)
				return
			}
		}
		yield(model.Chunk{Kind: model.ChunkStop, Stop: model.StopEnd}, nil)
	}
}

func fault(f model.Fault) *model.Error { return &model.Error{Fault: f, Provider: "first"} }

// notesOf asks once and returns the notes, the text and the error.
func notesOf(t *testing.T, c model.Client) (notes []model.Note, a *model.Answer, err error) {
	t.Helper()
	tee := func(yield func(model.Chunk, error) bool) {
		for ch, err := range c.Stream(t.Context(), &model.Request{Model: "asked"}) {
			if ch.Note != nil {
				notes = append(notes, *ch.Note)
			}
			if !yield(ch, err) {
				return
			}
		}
	}
	a, err = modeltest.Check(t, tee)
	return notes, a, err
}

func TestFallbackGoesOnBeforeAnythingIsShown(t *testing.T) {
	t.Parallel()
	for _, f := range []model.Fault{model.RateLimited, model.Overloaded, model.ServerError, model.CutOff, model.TimedOut, model.Unreachable} {
		first, second := &scripted{name: "first", plays: []any{fault(f)}}, &scripted{name: "second", plays: []any{"hi"}}
		notes, a, err := notesOf(t, model.Fallback(model.Route{Name: "one", Client: first}, model.Route{Name: "two", Client: second, Model: "other"}))
		if err != nil || a.Text() != "hi" || a.Provider != "second" || second.asked[0] != "other" {
			t.Errorf("%s: %q of %q, %v", f, a.Text(), a.Provider, err)
		}
		if len(notes) != 1 || notes[0].Kind != model.NoteFallback || notes[0].Requested != "one" || notes[0].Actual != "two" || notes[0].Failures != 1 || notes[0].Reason == "" {
			t.Errorf("%s: noted %+v", f, notes)
		}
	}
}

func TestFallbackDoesNotHideOurOwnMistakes(t *testing.T) {
	t.Parallel()
	for _, f := range []model.Fault{model.Auth, model.BadRequest, model.ContextTooLong, model.Refused} {
		first, second := &scripted{name: "first", plays: []any{fault(f)}}, &scripted{name: "second", plays: []any{"hi"}}
		notes, _, err := notesOf(t, model.Fallback(model.Route{Name: "one", Client: first}, model.Route{Name: "two", Client: second}))
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Fault != f || notes != nil || second.asked != nil {
			t.Errorf("%s: %v, %+v", f, err, notes)
		}
	}
}

func TestFallbackNeverContinuesWhatWasShown(t *testing.T) {
	t.Parallel()
	first, second := &scripted{name: "first", plays: []any{[]any{"half", fault(model.CutOff)}}}, &scripted{name: "second", plays: []any{"hi"}}
	_, a, err := notesOf(t, model.Fallback(model.Route{Name: "one", Client: model.Retry(first, nil)}, model.Route{Name: "two", Client: second}))
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Fault != model.CutOff || a.Text() != "half" || second.asked != nil || len(first.asked) != 1 {
		t.Errorf("%q, %v", a.Text(), err)
	}
}

func TestARouteThatFailsRestsAndComesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		down := fault(model.ServerError)
		first, second := &scripted{name: "first", plays: []any{down, down, down, "back"}}, &scripted{name: "second", plays: []any{"hi"}}
		c := model.Fallback(model.Route{Name: "one", Client: first}, model.Route{Name: "two", Client: second})
		for range 5 {
			if notes, a, err := notesOf(t, c); err != nil || a.Text() != "hi" || len(notes) != 1 {
				t.Fatalf("%q, %v, %+v", a.Text(), err, notes)
			}
		}
		if len(first.asked) != 3 {
			t.Errorf("asked a route that rests: %d times", len(first.asked))
		}
		time.Sleep(31 * time.Second) // sleep: the bubble's clock, no time passes
		if notes, a, err := notesOf(t, c); err != nil || a.Text() != "back" || notes != nil {
			t.Errorf("%q, %v, %+v", a.Text(), err, notes)
		}
	})
}

func TestALongWaitIsLeftToTheRouteAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limited := &model.Error{Fault: model.RateLimited, Provider: "first", RetryAfter: time.Hour}
		first, second := &scripted{name: "first", plays: []any{limited}}, &scripted{name: "second", plays: []any{"hi"}}
		c := model.Fallback(model.Route{Name: "one", Client: model.Retry(first, nil)}, model.Route{Name: "two", Client: second})
		begin := time.Now()
		for range 3 {
			if _, a, err := notesOf(t, c); err != nil || a.Text() != "hi" {
				t.Errorf("%q, %v", a.Text(), err)
			}
		}
		if len(first.asked) != 1 || time.Since(begin) != 0 {
			t.Errorf("asked %d times, waited %s", len(first.asked), time.Since(begin))
		}
	})
}

func TestRetriesWaitLongerEachTimeAndAsLongAsAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		down := fault(model.Overloaded)
		begin := time.Now()
		notes, a, err := notesOf(t, model.Retry(&scripted{name: "first", plays: []any{down, down, "hi"}}, nil))
		if d := time.Since(begin); err != nil || a.Text() != "hi" || len(notes) != 2 || d < 750*time.Millisecond || d > 1500*time.Millisecond {
			t.Errorf("%q, %v, %+v after %s", a.Text(), err, notes, d)
		}
		asked := &model.Error{Fault: model.RateLimited, Provider: "first", RetryAfter: 20 * time.Second}
		begin = time.Now()
		_, _, err = notesOf(t, model.Retry(&scripted{name: "first", plays: []any{asked, "hi"}}, nil))
		if d := time.Since(begin); err != nil || d != 20*time.Second {
			t.Errorf("%v after %s", err, d)
		}
	})
}

func TestCancelEndsAWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(10*time.Millisecond, func() { cancel(why) })
		c := model.Retry(&scripted{name: "first", plays: []any{fault(model.Overloaded)}}, nil)
		if _, err := modeltest.Check(t, c.Stream(ctx, &model.Request{})); !errors.Is(err, why) {
			t.Errorf("ended with %v", err)
		}
	})
}
