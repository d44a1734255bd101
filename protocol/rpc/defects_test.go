package rpc_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"harness"
)

// The ten defects of S4's origin, each turned into a claim.

const working = `say "Let me look."
call read {"path":"a.go"} => package a
say " Done."
`

func TestReplayHasTheAssistantText(t *testing.T) {
	t.Parallel()
	sv := serve(t, working)
	c := sv.connect()
	id := c.thread()
	c.start(id, "go")
	c.until("turn.completed")
	replay := text(sv.crash(working).connect().get(id))
	for _, want := range []string{`"notification":"item.delta"`, `"notification":"item.completed"`, `"data":{"text":"Let me look. Done."}`} {
		if !strings.Contains(replay, want) {
			t.Errorf("no %s in\n%s", want, replay)
		}
	}
}

func TestReplayHasTheToolInput(t *testing.T) {
	t.Parallel()
	sv := serve(t, working)
	c := sv.connect()
	id := c.thread()
	c.start(id, "go")
	c.until("turn.completed")
	replay := text(sv.crash(working).connect().get(id))
	if !strings.Contains(replay, `"tool":"read","input":{"path":"a.go"}`) || !strings.Contains(replay, `"output":"package a"`) {
		t.Errorf("%s", replay)
	}
}

func TestUnknownApprovalIsRefused(t *testing.T) {
	t.Parallel()
	c := serve(t, "echo").connect()
	c.refused(-32004, "approval_not_found", "approval.respond", `{"requestId":"apr_none","decision":"once"}`)
}

func TestCancelOfAnUnknownThreadIsRefused(t *testing.T) {
	t.Parallel()
	c := serve(t, "echo").connect()
	c.refused(-32001, "not_found", "turn.cancel", `{"threadId":"ses_none"}`)
	c.refused(-32003, "not_running", "turn.cancel", fmt.Sprintf(`{"threadId":%q}`, c.thread()))
}

func TestBadParamsAreNotInternalErrors(t *testing.T) {
	t.Parallel()
	c := serve(t, "echo").connect()
	c.refused(-32602, "invalid", "turn.start", `{}`)
	c.write(`{"id":1,"method":"initialize"}`)
	if l := c.read(); l.Error == nil || l.Error.Code != -32600 {
		t.Errorf("without jsonrpc: %s", l.raw)
	}
}

func TestParseErrorsHaveTheIDNull(t *testing.T) {
	t.Parallel()
	c := serve(t, "echo").connect()
	c.write(`{"jsonrpc":"2.0","id":1,`)
	if l := c.read(); l.raw[:28] != `{"jsonrpc":"2.0","id":null,"` || l.Error == nil || l.Error.Code != -32700 {
		t.Errorf("%s", l.raw)
	}
}

func TestTurnStartedFollowsTheAnswer(t *testing.T) {
	t.Parallel()
	c := serve(t, "echo").connect()
	id := c.thread()
	c.until("thread.created")
	for range 200 {
		from := len(c.seen)
		c.start(id, "hi")
		if got := c.seen[from]; got.Method != "" {
			t.Fatalf("before the answer came %s", got.raw)
		}
		c.until("turn.completed")
	}
}

// A thread's events are its own, whatever directory it was created with.
func TestThreadsOfOtherDirectoriesHaveTheirEvents(t *testing.T) {
	t.Parallel()
	c := serve(t, "echo").connect()
	for _, dir := range []string{"/tmp/a", "/tmp/b", ""} {
		var r struct {
			Thread struct{ ThreadID, Directory string }
		}
		c.must(&r, "thread.create", fmt.Sprintf(`{"directory":%q}`, dir))
		if want := dir; r.Thread.Directory != want && want != "" || r.Thread.Directory == "" {
			t.Errorf("directory %q, want %q", r.Thread.Directory, want)
		}
		c.start(r.Thread.ThreadID, "hi")
		c.until("turn.completed")
		if n := len(c.get(r.Thread.ThreadID)); n < 5 {
			t.Errorf("%s: %d events", dir, n)
		}
	}
}

// The log is one order: seq never falls, and every line is whole.
func TestEventsAreInOrder(t *testing.T) {
	t.Parallel()
	sv := serve(t, "stream 200 0s x\n")
	c := sv.connect()
	id := c.thread()
	c.start(id, "go")
	c.until("item.delta")
	c = sv.crash("echo").connect()
	last := 0
	for _, e := range c.get(id) {
		var r struct{ Seq int }
		if err := json.Unmarshal(e, &r); err != nil || r.Seq < last {
			t.Fatalf("after %d came %s", last, e)
		}
		last = r.Seq
	}
	if st, err := sv.k.At(t.Context(), harness.SessionID(id), 0); err == nil && last == 0 {
		t.Errorf("nothing of %d events", st.Seq)
	}
}

func TestInterruptedTurnIsClosedAsError(t *testing.T) {
	t.Parallel()
	sv := serve(t, "say Half\nhang\n")
	c := sv.connect()
	id := c.thread()
	turn := c.start(id, "go")
	c.until("item.delta")
	c = sv.crash("echo").connect()
	c.must(nil, "thread.subscribe", fmt.Sprintf(`{"threadId":%q,"after":0}`, id))
	end := c.until("turn.error")
	var r struct {
		TurnID, Status, Reason, Error string
		Time                          struct{ Started, Completed int64 }
	}
	json.Unmarshal(end.Params, &r)
	if r.TurnID != turn || r.Status != "error" || r.Reason != "interrupted" || r.Error == "" || r.Time.Started == 0 || r.Time.Completed < r.Time.Started {
		t.Errorf("%s", end.raw)
	}
	c.start(id, "again")
	c.until("turn.completed")
}

func text(events []json.RawMessage) string {
	s := ""
	for _, e := range events {
		s += string(e) + "\n"
	}
	return s
}
