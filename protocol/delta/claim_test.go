package delta_test

import (
	"context"
	"testing"
	"time"

	"harness"
	"harness/store/faulty"
)

// A position that a client claims is no proof that there is a session.
func TestAClaimedPositionMakesNoSession(t *testing.T) {
	t.Parallel()
	sv, store := serveBroken(t, "echo", nil)
	entered, gate := make(chan struct{}, 8), make(chan struct{})
	store.fail(faulty.Fault{Wait: func(context.Context) error {
		entered <- struct{}{}
		<-gate
		return nil
	}}, faulty.Read, faulty.LoadSnapshot)
	sv.raw("?userId=nobody&since=7", 0)
	select {
	case <-entered:
	case <-time.After(patience):
		t.Fatal("nobody reads")
	}
	got := sv.status("?sessionId=" + string(harness.DefaultSession("nobody")))
	close(gate)
	if got != 404 {
		t.Errorf("status %d, want 404", got)
	}
}
