package rpc_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestInitializeAnnouncesEverything(t *testing.T) {
	c := serve(t, "echo").connect()
	var r struct {
		Version      string
		Capabilities map[string]bool
	}
	c.must(&r, "initialize", `{"clientInfo":{"name":"test"}}`)
	for _, want := range []string{"threads", "turns", "approvals", "streaming", "persistence", "steer", "fork", "resume", "pause", "configure", "health", "subscribe", "rules"} {
		if !r.Capabilities[want] {
			t.Errorf("capability %s is missing in %v", want, r.Capabilities)
		}
	}
	if can, said := r.Capabilities["rewind"]; can || !said {
		t.Errorf("rewind, which is refused, is announced as %v, %v", can, said)
	}
	if r.Version != "1.0.0" {
		t.Errorf("version %q", r.Version)
	}
}

// A turn from its start to its end: the answer first, then the notifications.
func TestTurnAnswersBeforeItsFirstNotification(t *testing.T) {
	c := serve(t, "say Hello\ncall Read {\"path\":\"a\"} => text\nsay \" world\"\n").connect()
	id := c.thread()
	c.until("thread.created")
	from := len(c.seen)
	c.must(nil, "turn.start", fmt.Sprintf(`{"threadId":%q,"input":[{"type":"text","text":"Run the tests"}],"model":{"providerID":"anthropic","modelID":"claude-sonnet-4-20250514"},"agent":"code"}`, id))
	c.until("turn.completed")
	var got []string
	for _, l := range c.seen[from:] {
		if l.Method == "" {
			got = append(got, "answer")
			continue
		}
		var p struct {
			Item struct{ Type string }
			Type string
		}
		json.Unmarshal(l.Params, &p)
		got = append(got, strings.TrimSpace(l.Method+" "+p.Item.Type+p.Type))
	}
	want := "answer,turn.started,item.started user_message,item.completed user_message,item.started assistant_message,item.delta assistant_message,item.started tool_exec,item.completed tool_exec,item.delta assistant_message,item.completed assistant_message,turn.completed"
	if strings.Join(got, ",") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ","), want)
	}
}

func TestApprovalByAnyConnection(t *testing.T) {
	sv := serve(t, "ask bash {\"command\":\"ls\"} access=execute \"List\" => a b\nsay done\n")
	a, b := sv.connect(), sv.connect()
	id := a.thread()
	b.must(nil, "thread.subscribe", fmt.Sprintf(`{"threadId":%q}`, id))
	a.must(nil, "turn.start", fmt.Sprintf(`{"threadId":%q,"input":[{"type":"text","text":"go"}]}`, id))
	var req struct{ RequestID string }
	json.Unmarshal(b.until("approval.requested").Params, &req)
	if l := b.call("approval.respond", `{"requestId":"apr_none","decision":"once"}`); l.Error == nil || l.Error.Code != -32004 {
		t.Errorf("unknown request: %s", l.raw)
	}
	b.must(nil, "approval.respond", fmt.Sprintf(`{"requestId":%q,"decision":"once"}`, req.RequestID))
	a.until("turn.completed")
	b.until("turn.completed")
	a.must(nil, "approval.respond", fmt.Sprintf(`{"requestId":%q,"decision":"once"}`, req.RequestID))
	if l := a.call("approval.respond", fmt.Sprintf(`{"requestId":%q,"decision":"reject"}`, req.RequestID)); l.Error == nil || l.Error.Code != -32004 || l.Error.Data.Code != "already_resolved" {
		t.Errorf("another decision: %s", l.raw)
	}
}

// approval is the request's id in an approval.requested.
func approval(l line) string {
	var p struct{ RequestID string }
	json.Unmarshal(l.Params, &p)
	return p.RequestID
}
