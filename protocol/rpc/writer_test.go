package rpc

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
)

// stuck takes nothing until it is let go.
type stuck struct {
	free chan struct{}
	got  strings.Builder
}

func (s *stuck) Write(b []byte) (int, error) {
	<-s.free
	return s.got.Write(b)
}

// What waits for a client that does not read is bounded; nothing is lost.
func TestWaitingOutputIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &stuck{free: make(chan struct{})}
		out := newWriter(w, nil)
		go out.run(t.Context())
		line := []byte(strings.Repeat("x", 999) + "\n")
		sent := 0
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 10_000 {
				out.send(t.Context(), line)
				sent += len(line)
			}
			out.finish()
		}()
		synctest.Wait()
		if sent > 2*maxWaiting+len(line) { // what is being written, and what waits
			t.Errorf("%d bytes wait", sent)
		}
		close(w.free)
		<-done
		synctest.Wait()
		if w.got.Len() != 10_000*len(line) {
			t.Errorf("%d bytes written", w.got.Len())
		}
	})
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestWriteErrorEndsTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		out := newWriter(broken{}, cancel)
		go out.run(ctx)
		for range 5000 { // nobody waits for a client that is gone
			out.send(ctx, []byte(strings.Repeat("x", 999)+"\n"))
		}
		synctest.Wait()
		if !errors.Is(context.Cause(ctx), errWrite) {
			t.Errorf("cause %v", context.Cause(ctx))
		}
	})
}
