package delta_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"harness"
)

// words are S1's statuses, written down a second time.
var words = map[harness.Status]string{
	harness.Idle: "idle", harness.Queued: "running", harness.Running: "running", harness.AwaitingApproval: "awaiting-approval",
	harness.Paused: "idle", harness.Recovering: "running", harness.StatusCompleted: "idle", harness.StatusFailed: "error", harness.StatusCancelled: "idle",
}

// truth is what a session's log adds up to, read from the store and put into
// S1's words without the code under test.
func (s *server) truth(id string) *harness.State {
	s.t.Helper()
	st := &harness.State{Status: harness.Idle}
	for e, err := range s.store.Read(context.Background(), harness.SessionID(id), 0) {
		if errors.Is(err, harness.ErrNotFound) {
			break
		}
		if err != nil {
			s.t.Fatalf("read %s: %v", id, err)
		}
		st.Apply(e)
	}
	st.Session = harness.SessionID(id)
	return st
}

// shown is the view of st from message first on, with sorted keys.
func shown(t testing.TB, st *harness.State, first int) string {
	t.Helper()
	v := map[string]any{"status": words[st.Status], "sessionId": string(st.Session)}
	list := []json.RawMessage{}
	for _, m := range st.Messages[min(first, len(st.Messages)):] {
		list = append(list, harness.EncodeMessage(m))
	}
	v["messages"] = list
	if st.Status == harness.StatusFailed && st.Error != "" {
		v["error"] = st.Error
	}
	if first > 0 {
		v["firstMessage"] = first
	}
	var asked []any
	for _, a := range st.Pending {
		asked = append(asked, map[string]any{
			"toolCallId": a.Call, "toolName": a.Tool, "description": a.Description, "requestId": a.ID,
		})
	}
	if asked != nil {
		v["pendingApprovals"] = asked
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return sorted(t, b)
}

// sorted is a view with sorted keys, without what operations cannot remove and
// without what approvals carry beyond S1.
func sorted(t testing.TB, view []byte) string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(view))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, view)
	}
	if e, ok := v["error"]; ok && e == nil {
		delete(v, "error")
	}
	if list, ok := v["pendingApprovals"].([]any); ok {
		if len(list) == 0 {
			delete(v, "pendingApprovals")
		}
		for _, a := range list {
			for _, more := range []string{"input", "reason", "deadline"} {
				delete(a.(map[string]any), more)
			}
		}
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// settle reads until the client has exactly what the log says now.
func (c *client) settle(s *server) {
	c.t.Helper()
	for len(c.kinds) == 0 {
		c.read()
	}
	st := s.truth(c.state().SessionID)
	for {
		now := c.state()
		if now.SessionID != string(st.Session) {
			st = s.truth(now.SessionID)
		}
		got, want := sorted(c.t, c.json()), shown(c.t, st, now.FirstMessage)
		if got == want {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		err := c.readErr(ctx)
		cancel()
		if err != nil {
			c.t.Fatalf("%v\nthe client, at %d, has %s\nthe log, at %d, says %s\nframes %v", err, c.seq, around(got, want), st.Seq, around(want, got), lasting(c.kinds))
		}
	}
}

// around is the part of a in which it parts from b.
func around(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	from, to := max(0, i-200), min(len(a), i+200)
	return "…" + a[from:to] + "…"
}

// lasting is the newest of many frames.
func lasting(kinds []string) []string { return kinds[max(0, len(kinds)-30):] }

// eventually waits for something that nobody reports.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline, look := time.After(patience), time.NewTicker(time.Millisecond)
	defer look.Stop()
	for !ok() {
		select {
		case <-look.C:
		case <-deadline:
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// sealed waits until the store keeps messages of a session and the session
// knows it.
func (s *server) sealed(id string) {
	s.t.Helper()
	eventually(s.t, "messages are sealed", func() bool {
		for up, err := range s.k.Watch(s.t.Context(), harness.SessionID(id), 0) {
			return err == nil && up.State != nil && up.State.Sealed > 0
		}
		return false
	})
}

// asleep waits until nothing of any session runs.
func (s *server) asleep() {
	s.t.Helper()
	eventually(s.t, "all sessions sleep and no room has a feed", func() bool {
		feeds, shows := s.hub.Feeds()
		return s.k.Awake() == 0 && feeds == 0 && shows == 0
	})
}
