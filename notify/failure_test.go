package notify_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"harness"
	"harness/notify"
	"harness/store/memory"
)

// A hook says why its last try failed, in words that name nothing of the
// server's network, until one is delivered.
func TestAHookSaysWhyItsLastTryFailed(t *testing.T) {
	t.Parallel()
	ready := make(chan struct{})
	to := receive(t, func(told) int {
		select {
		case <-ready:
			return 200
		default:
			return 503
		}
	})
	gone := httptest.NewServer(nil)
	gone.Close()
	hooks := []notify.Hook{to.hook("busy"), to.hook("gone"), to.hook("private"), {Name: "command", Command: []string{"false"}}}
	hooks[1].URL = gone.URL
	hooks[2].Private = false
	tried := make(chan struct{}, 1) // one ring is as good as many
	r := newRig(t, memory.New(), t.TempDir(), &notify.Options{Backoff: time.Millisecond, Counted: func(string, string) {
		select {
		case tried <- struct{}{}:
		default:
		}
	}}, hooks...)
	r.run(harness.NewSession{}, "go")
	until := func(name, why string) notify.Failure {
		t.Helper()
		for late := time.After(time.Minute); ; {
			for _, h := range r.n.Hooks() {
				if h.Name == name && h.Failed.Why == why {
					return h.Failed
				}
			}
			select {
			case <-tried:
			case <-late:
				t.Fatalf("%s is not %q: %+v", name, why, r.n.Hooks())
			}
		}
	}
	for name, why := range map[string]string{
		"busy": "the receiver answered 503", "gone": "it could not be reached", "private": "it has no public address", "command": "the command ended with 1",
	} {
		if f := until(name, why); f.Since == 0 || f.At.IsZero() {
			t.Errorf("%s: %+v", name, f)
		}
	}
	close(ready)
	until("busy", "")
}
