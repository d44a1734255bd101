package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// A call that nobody allowed here is never said to be allowed: what a state has
// of an answer is only that the question is gone.
func TestAttachSaysAllowedOnlyOfWhatWasAllowedHere(t *testing.T) {
	t.Parallel()
	state := func(call string, asks bool) (v view) {
		text := `{"status":"running","messages":[{"id":"m","role":"assistant","toolCalls":[{"id":"c","name":"bash","status":"` + call + `"}]}]`
		if asks {
			text += `,"pendingApprovals":[{"requestId":"q","toolCallId":"c","toolName":"bash"}]`
		}
		if err := json.Unmarshal([]byte(text+"}"), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		name string
		do   func(m *mirror)
		next string // status of the call in the state without the question
		want string
	}{
		{"we allow", func(m *mirror) { m.mine["q"] = "once" }, "running", "→ allowed\n"},
		{"we reject", func(m *mirror) { m.mine["q"] = "reject" }, "running", "→ rejected\n"},
		{"we cancel", func(m *mirror) { m.stop = true }, "running", "→ no longer asked\n"},
		{"somebody answers", func(*mirror) {}, "running", "→ answered elsewhere\n"},
		{"somebody rejects", func(*mirror) {}, "denied", "→ rejected by another client\n"},
		{"we were too late", func(m *mirror) { m.mine["q"] = "once" }, "denied", "→ rejected by another client\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			m := newMirror(&transcript{screen: &screen{w: &out, size: func() (int, int) { return 80, 24 }}})
			now := time.Unix(100, 0)
			m.show(state("running", true), now)
			c.do(m)
			m.show(state(c.next, false), now)
			if err := m.t.refresh(now); err != nil {
				t.Fatal(err)
			}
			if err := m.t.close(); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), c.want) {
				t.Errorf("%q is missing from\n%s", c.want, &out)
			}
		})
	}
}
