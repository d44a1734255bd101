package delta_test

import (
	"slices"
	"testing"
)

// S0's typical flow: snapshot, submit, deltas until idle.
func TestTypicalFlow(t *testing.T) {
	sv := serve(t, "say Hello\nsay \" world\"\n", nil)
	c := sv.connect("?userId=abc")
	if s := c.state(); s.Status != "idle" || len(s.Messages) != 0 {
		t.Fatalf("first state %s, want an empty idle one", c.json())
	}
	c.do(`{"type":"submit","prompt":"hi"}`)
	s := c.until("the turn ends", idle)
	if len(s.Messages) != 2 || s.Messages[0].Content != "hi" || s.Messages[0].Role != "user" || s.Messages[1].Content != "Hello world" {
		t.Errorf("state %s", c.json())
	}
	if slices.Contains(c.kinds[1:], "state") {
		t.Errorf("frames %v, want deltas after the first state", c.kinds)
	}
}

func TestTwoClientsOneApprovesTheOtherSeesIt(t *testing.T) {
	sv := serve(t, "ask write_file {\"path\":\"a\"} access=edit \"Write a\" => written\nsay done\n", nil)
	a, b := sv.connect("?userId=u"), sv.connect("?userId=u")
	a.do(`{"type":"submit","prompt":"write"}`)
	s := b.until("it asks", func(s state) bool { return s.Status == "awaiting-approval" })
	if len(s.PendingApprovals) != 1 || s.PendingApprovals[0].ToolName != "write_file" || s.PendingApprovals[0].Description != "Write a" {
		t.Fatalf("state %s", b.json())
	}
	if got := s.last().ToolCalls[0].Status; got != "awaiting-approval" {
		t.Errorf("the call is %q", got)
	}
	b.do(`{"type":"approve","toolCallId":"` + s.PendingApprovals[0].ToolCallID + `"}`)
	for _, c := range []*client{a, b} {
		s := c.until("the turn ends", idle)
		if len(s.PendingApprovals) != 0 || s.last().ToolCalls[0].Status != "complete" || s.last().Content != "done" {
			t.Errorf("state %s", c.json())
		}
	}
}
