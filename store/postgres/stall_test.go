package postgres_test

import (
	"errors"
	"testing"
	"time"

	"harness"
	"harness/store/postgres/postgrestest"
)

// TestWhoGoesInATransactionHoldsNobodyUp has an owner vanish while its row is
// locked: another one takes its session over, and can show that it lives
// meanwhile.
func TestWhoGoesInATransactionHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	url := postgrestest.Start(t).URL(t)
	a, b := open(t, url), open(t, url)
	if err := errors.Join(a.Join(t.Context(), "a", 400*time.Millisecond), b.Join(t.Context(), "b", time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Claim(t.Context(), "a", "ses_1"); err != nil {
		t.Fatal(err)
	}
	holds, until, ended := make(chan struct{}, 1), make(chan struct{}), make(chan error, 1)
	go func() { ended <- a.Stall(t.Context(), "a", holds, until) }()
	<-holds
	late := time.After(time.Minute)
	for every := time.NewTicker(20 * time.Millisecond); ; {
		if err := b.Beat(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		_, err := b.Claim(t.Context(), "b", "ses_1")
		if err == nil {
			break
		}
		if !errors.Is(err, harness.ErrLocked) {
			t.Fatal(err)
		}
		select {
		case <-every.C:
		case <-late:
			t.Fatalf("not taken over: %v", err)
		}
	}
	close(until)
	if err := <-ended; err == nil {
		t.Error("the transaction of the owner that was silent was committed")
	}
}
