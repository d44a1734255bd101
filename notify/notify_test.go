package notify_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"harness"
	"harness/notify"
	"harness/store/memory"
)

func TestWhatHappensIsToldSignedAndWithoutWhatWasSaid(t *testing.T) {
	t.Parallel()
	to := receive(t, nil)
	r := newRig(t, memory.New(), t.TempDir(), nil, to.hook("all"))
	for prompt, want := range map[string]string{"canary": "session.completed", "fail canary": "session.failed", "ask canary": "session.needs_approval"} {
		id := r.run(harness.NewSession{User: "ann", Kind: harness.Background, Title: "nightly"}, prompt)
		d := to.next(t)
		if d.Type != want || d.Data.UserID != "ann" || !strings.HasPrefix(d.Data.EventID, string(id)+".") || (d.Data.RequestID != "") != (want == "session.needs_approval") {
			t.Errorf("%s: %s", prompt, d.raw)
		}
		if strings.Contains(string(d.raw), "canary") {
			t.Errorf("what was said is told: %s", d.raw)
		}
		key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", d.header.Get("webhook-id"), d.header.Get("webhook-timestamp"), d.raw)
		if got := d.header.Get("webhook-signature"); got != "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) || d.header.Get("webhook-id") != d.Data.EventID {
			t.Errorf("signature %q, id %q", got, d.header.Get("webhook-id"))
		}
	}
}

// The example of the Standard Webhooks specification, by its own library's test.
func TestSignaturesAreThoseOfStandardWebhooks(t *testing.T) {
	t.Parallel()
	got, err := notify.Sign("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want || err != nil {
		t.Errorf("got %s %v, want %s", got, err, want)
	}
}

func TestAFailingReceiverIsToldAgainUnderTheSameID(t *testing.T) {
	t.Parallel()
	times := 0
	to := receive(t, func(told) int {
		if times++; times <= 3 {
			return 503
		}
		return 200
	})
	var mu sync.Mutex
	var counted []string
	r := newRig(t, memory.New(), t.TempDir(), &notify.Options{Backoff: time.Millisecond, Counted: func(sort, outcome string) {
		mu.Lock()
		counted = append(counted, sort+" "+outcome)
		mu.Unlock()
	}}, to.hook("all"))
	r.run(harness.NewSession{}, "go")
	first := to.next(t)
	for range 3 {
		if d := to.next(t); d.Data.EventID != first.Data.EventID {
			t.Errorf("got %s, want %s", d.Data.EventID, first.Data.EventID)
		}
	}
	r.n.Close()
	mu.Lock()
	defer mu.Unlock()
	if want := []string{"webhook retrying", "webhook retrying", "webhook retrying", "webhook delivered"}; !slices.Equal(counted, want) && !slices.Equal(counted, want[:3]) {
		t.Errorf("counted %q", counted)
	}
}

// A crash between an event and its delivery: the next life finds the event in
// the log and tells of it under the same id; what was delivered stays so.
func TestWhatACrashLeftIsDeliveredByTheNextLife(t *testing.T) {
	t.Parallel()
	dir, mem := t.TempDir(), memory.New()
	to := receive(t, nil)
	done := make(chan string, 8)
	r := newRig(t, mem, dir, &notify.Options{Backoff: time.Millisecond, Counted: func(_, o string) { done <- o }}, to.hook("all"))
	before := r.run(harness.NewSession{}, "go")
	to.next(t)
	<-done
	r.n.Close() // the cursor has it
	// What happens from here on, no notifier hears of.
	id := r.run(harness.NewSession{}, "fail")
	r.ended(id)
	r.k.Close()
	for life := range 2 {
		down := to
		if life == 0 { // one life that does not get it told either
			down = receive(t, func(told) int { return 500 })
		}
		hook := to.hook("all")
		hook.URL = down.URL
		next := newRig(t, mem.Clone(), dir, nil, hook)
		d := down.next(t)
		if !strings.HasPrefix(d.Data.EventID, string(id)+".") || d.Type != "session.failed" {
			t.Errorf("life %d: %s, want one of %s, not %s", life, d.raw, id, before)
		}
		next.n.Close()
	}
	if len(to.heard) > 0 {
		t.Errorf("told again: %s", (<-to.heard).raw)
	}
}

// ended returns when the log has the end of a turn.
func (r *rig) ended(id harness.SessionID) {
	r.t.Helper()
	for up, err := range r.k.Watch(r.t.Context(), id, 0) {
		if err != nil {
			r.t.Fatal(err)
		}
		if up.State != nil && up.State.Turns > 0 && up.State.Turn == nil {
			return
		}
		for _, e := range up.Events {
			if _, ok := e.Payload.(*harness.TurnEnd); ok {
				return
			}
		}
	}
}

func TestPrivateAddressesAreRefusedUnlessAllowed(t *testing.T) {
	t.Parallel()
	to := receive(t, nil)
	outcome := make(chan string, 64)
	hook := to.hook("all")
	hook.Private = false
	r := newRig(t, memory.New(), t.TempDir(), &notify.Options{Backoff: time.Millisecond, Counted: func(_, o string) {
		select {
		case outcome <- o:
		default:
		}
	}}, hook)
	r.run(harness.NewSession{}, "go")
	if got := <-outcome; got != notify.Retrying || len(to.heard) > 0 {
		t.Errorf("%s, and %d were heard", got, len(to.heard))
	}
}

func TestAReceiverThatIsGoneIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	to := receive(t, func(told) int { return 410 })
	r := newRig(t, memory.New(), t.TempDir(), nil, to.hook("all"))
	r.run(harness.NewSession{}, "go")
	to.next(t)
	r.run(harness.NewSession{}, "fail")
	if d := to.next(t); d.Type != "session.failed" {
		t.Errorf("told again: %s", d.raw)
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	to := receive(t, func(told) int { return 307 })
	r := newRig(t, memory.New(), t.TempDir(), nil, to.hook("all"))
	r.run(harness.NewSession{}, "go")
	to.next(t)
	if again := to.next(t); again.Type != "session.completed" { // it is a failure, so it is tried again
		t.Errorf("%s", again.raw)
	}
}

func TestACommandGetsTheNoticeOnItsInput(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	hook := notify.Hook{Name: "beep", Command: []string{"/bin/sh", "-c", `cat > "$0".part && echo "$HARNESS_NOTICE_KIND" >> "$0".part && mv "$0".part "$0"`, out}}
	done := make(chan string, 8)
	r := newRig(t, memory.New(), t.TempDir(), &notify.Options{Backoff: time.Millisecond, Env: []string{"PATH=/usr/bin:/bin"}, Counted: func(sort, o string) { done <- sort + " " + o }}, hook)
	id := r.run(harness.NewSession{}, "go")
	if got := <-done; got != "command delivered" {
		t.Fatal(got)
	}
	b, err := os.ReadFile(out)
	if err != nil || !strings.Contains(string(b), string(id)) || !strings.HasSuffix(string(b), "}completed\n") {
		t.Errorf("%s %v", b, err)
	}
}

func TestAHookAtAnAddressThatIsNotPublicIsRefusedWhenItIsMade(t *testing.T) {
	t.Parallel()
	r := newRig(t, memory.New(), t.TempDir(), nil)
	for _, url := range []string{"http://127.0.0.1:1/x", "http://[::1]/x", "http://10.0.0.1", "http://localhost:8080"} {
		if err := r.n.Add(notify.Hook{Name: "near", URL: url, Secret: secret}); !errors.Is(err, harness.ErrInvalid) || !strings.Contains(err.Error(), "--webhook-private") {
			t.Errorf("%s: %v", url, err)
		}
	}
	if err := r.n.Add(notify.Hook{Name: "far", URL: "https://example.com", Secret: secret}); err != nil {
		t.Error(err)
	}
}

func TestHooksOfCallersAreKeptAndBounded(t *testing.T) {
	t.Parallel()
	dir, mem := t.TempDir(), memory.New()
	to := receive(t, nil)
	r := newRig(t, mem, dir, &notify.Options{Private: true, Backoff: time.Millisecond})
	mine := notify.Hook{Name: "mine", URL: to.URL, Secret: notify.NewSecret(), User: "ann"}
	if err := r.n.Add(mine); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []struct {
		h    notify.Hook
		want error
	}{
		{mine, harness.ErrExists},
		{notify.Hook{Name: "cmd", Command: []string{"true"}}, harness.ErrForbidden},
		{notify.Hook{Name: "ftp", URL: "ftp://x", Secret: secret}, harness.ErrInvalid},
		{notify.Hook{Name: "pw", URL: "https://a:b@x", Secret: secret}, harness.ErrInvalid},
		{notify.Hook{Name: "short", URL: "https://x", Secret: "short"}, harness.ErrInvalid},
		{notify.Hook{Name: "../up", URL: "https://x", Secret: secret}, harness.ErrInvalid},
		{notify.Hook{Name: "on", URL: "https://x", Secret: secret, On: []notify.Kind{"sometimes"}}, harness.ErrInvalid},
	} {
		if err := r.n.Add(bad.h); !errors.Is(err, bad.want) {
			t.Errorf("%s: %v, want %v", bad.h.Name, err, bad.want)
		}
	}
	r.run(harness.NewSession{User: "bob"}, "go")
	id := r.run(harness.NewSession{User: "ann"}, "go")
	if d := to.next(t); !strings.HasPrefix(d.Data.EventID, string(id)) {
		t.Errorf("told of another's: %s", d.raw)
	}
	r.n.Close()
	r = newRig(t, mem.Clone(), dir, &notify.Options{Private: true, Backoff: time.Millisecond})
	if h := r.n.Hooks(); len(h) != 1 || h[0].Name != "mine" || h[0].Secret != "" || !h[0].Made {
		t.Fatalf("%+v", h)
	}
	if err := r.n.Remove("mine"); err != nil {
		t.Fatal(err)
	}
	if err := r.n.Remove("mine"); !errors.Is(err, harness.ErrNotFound) {
		t.Error(err)
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "*.cursor.json")); len(names) != 0 {
		t.Errorf("left: %v", names)
	}
}

func TestHooksAreReadFromAFileThatHasOtherKeys(t *testing.T) {
	t.Parallel()
	text := "policy: {rules: []}\nnotify:\n  - {name: ops, url: \"https://example.com/h\", secret: \"env:OPS\", on: [failed], only: [background], private: true}\n  - {name: beep, command: [notify-send, done]}\n"
	got, err := notify.Parse("harness.yaml", []byte(text), func(s string) (string, error) { return secret, nil })
	if err != nil || len(got) != 2 || got[0].On[0] != notify.Failed || got[0].Secret != secret || !got[0].Private || got[1].Command[1] != "done" {
		t.Fatalf("%+v %v", got, err)
	}
	for _, bad := range []string{"policy: {}", "notify: [{name: x}]", "notify: [{name: x, url: \"https://x\", secret: y, often: true}]", "notify: 3", "notify: ["} {
		if _, err := notify.Parse("f", []byte(bad), func(s string) (string, error) { return secret, nil }); !errors.Is(err, harness.ErrInvalid) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
