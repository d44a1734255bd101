package modeltest

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"

	"harness/model"
)

// Situations are requests that bring a client into a situation.
type Situations struct {
	Say  *model.Request // is answered with some text
	Call *model.Request // is answered with at least one call
	Long *model.Request // is answered with many chunks
}

// TestClient checks what every Client promises, whatever is behind it.
func TestClient(t *testing.T, c model.Client, s Situations) {
	t.Run("AnAnswerIsTextAndAStop", func(t *testing.T) {
		a, err := Ask(t, c, s.Say)
		if err != nil || a.Text() == "" || a.Stop != model.StopEnd {
			t.Errorf("got %q, %q, %v", a.Text(), a.Stop, err)
		}
		if a.Usage.Prompt() <= 0 || a.Usage.Output <= 0 {
			t.Errorf("usage is %+v", a.Usage)
		}
	})
	t.Run("AToolCallStopsForTools", func(t *testing.T) {
		a, err := Ask(t, c, s.Call)
		if err != nil || len(a.Calls()) == 0 || a.Stop != model.StopTools {
			t.Errorf("got calls %v, %q, %v", a.Calls(), a.Stop, err)
		}
	})
	t.Run("TheRequestIsNotChanged", func(t *testing.T) {
		before := clone(s.Call)
		if _, err := Ask(t, c, s.Call); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(before, s.Call) {
			t.Errorf("was %+v, is %+v", before, s.Call)
		}
	})
	t.Run("LeavingEarlyEndsIt", func(t *testing.T) {
		for c, err := range c.Stream(t.Context(), s.Long) {
			if err != nil {
				t.Fatal(err)
			}
			if c.Shown() {
				break
			}
		}
	})
	t.Run("CancelGivesItsCause", func(t *testing.T) {
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		var last error
		for c, err := range c.Stream(ctx, s.Long) {
			if c.Shown() {
				cancel(why)
			}
			last = err
		}
		if !errors.Is(last, why) {
			t.Errorf("ended with %v, want %v", last, why)
		}
	})
	t.Run("ACancelledContextAsksNothing", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for c, err := range c.Stream(ctx, s.Say) {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %+v, %v", c, err)
			}
		}
	})
	t.Run("StreamsDoNotMix", func(t *testing.T) {
		want, err := Ask(t, c, s.Say)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				got, err := Ask(t, c, s.Say)
				if err != nil || got.Text() != want.Text() {
					t.Errorf("got %q, %v, want %q", got.Text(), err, want.Text())
				}
			})
		}
		wg.Wait()
	})
}

// clone copies a request as deep as a client could change it.
func clone(r *model.Request) *model.Request {
	c := *r
	c.Tools = append([]model.Tool(nil), r.Tools...)
	for i := range c.Tools {
		c.Tools[i].Schema = append([]byte(nil), c.Tools[i].Schema...)
	}
	c.Messages = append([]model.Message(nil), r.Messages...)
	for i := range c.Messages {
		c.Messages[i].Parts = append([]model.Part(nil), c.Messages[i].Parts...)
	}
	return &c
}
