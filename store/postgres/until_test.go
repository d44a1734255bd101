package postgres_test

import (
	"testing"
	"time"
)

// until waits for a condition, for as long as it could reasonably take.
func until(t testing.TB, done func() bool, what string) {
	t.Helper()
	end := time.After(time.Minute)
	every := time.NewTicker(5 * time.Millisecond)
	defer every.Stop()
	for !done() {
		select {
		case <-every.C:
		case <-end:
			t.Fatalf("%s: still not", what)
		}
	}
}
