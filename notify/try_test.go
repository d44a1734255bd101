package notify_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"harness"
	"harness/notify"
	"harness/store/memory"
)

func TestAHookCanBeTried(t *testing.T) {
	t.Parallel()
	times := 0
	to := receive(t, func(told) int {
		if times++; times > 1 {
			return 500
		}
		return 204
	})
	file := filepath.Join(t.TempDir(), "said")
	r := newRig(t, memory.New(), t.TempDir(), nil, to.hook("url"),
		notify.Hook{Name: "command", Command: []string{"sh", "-c", "cat > " + file}})
	if err := r.n.Try(t.Context(), "url"); err != nil {
		t.Error(err)
	}
	d := to.next(t)
	if d.Type != "test" || !strings.HasPrefix(d.header.Get("webhook-id"), "test_") || d.header.Get("webhook-signature") == "" || d.Data.SessionID != "" {
		t.Errorf("%s %v", d.raw, d.header)
	}
	if err := r.n.Try(t.Context(), "url"); err == nil || !strings.Contains(err.Error(), "500") {
		t.Errorf("a receiver that refuses: %v", err)
	}
	to.next(t)
	if n := r.n.Waiting(); n != 0 {
		t.Errorf("%d tests wait to be told again", n)
	}
	if err := r.n.Try(t.Context(), "command"); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), `"type":"test"`) {
		t.Errorf("%s, %v", text, err)
	}
	if err := r.n.Try(t.Context(), "nobody"); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("no hook: %v", err)
	}
	if err := (notify.Hook{Name: "h", URL: "https://example.com", On: []notify.Kind{notify.Test}}).Check(); !errors.Is(err, harness.ErrInvalid) {
		t.Errorf("a hook wants tests: %v", err)
	}
}
