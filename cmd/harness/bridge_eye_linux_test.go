package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// known is what a client of any protocol knows of a session.
type known struct {
	seq     uint64
	first   string // the id of the first prompt
	text    string // all that the agent has said
	busy    bool
	asks    []asking // that wait
	asked   int      // how many there were, where that is told
	calls   []string // "NAME OUTCOME" of those that are over
	failed  string   // why the last turn failed
	rewound string   // "FILES" of the last rewind, "dry FILES" if it was none
	agents  int      // helpers that were told of
	used    float64  // tokens that the last turn got, where that is told
}

// eye watches a session over one protocol.
type eye interface {
	next() error // takes in what comes next
	now() *known
	close()
}

// eye opens one on a session, from its beginning.
func (p *process) eye(t *testing.T, protocol, id string) eye {
	t.Helper()
	switch protocol {
	case "ws":
		return &wsEye{v: p.view("?hb=1&sessionId=" + id)}
	case "rpc":
		s := p.speaker(t)
		if _, err := fmt.Fprintf(s.conn, `{"jsonrpc":"2.0","id":1,"method":"thread.subscribe","params":{"threadId":%q,"after":0}}`+"\n", id); err != nil {
			t.Fatal(err)
		}
		return &rpcEye{s: s}
	}
	body := p.open(t, "/sessions/"+id+"/events/stream")
	t.Cleanup(func() { body.Close() })
	return &sseEye{body: body, r: bufio.NewReader(body)}
}

// see waits until the session looks as wanted. Agents need seconds to start, and
// many on a busy machine.
func see(t *testing.T, e eye, what string, cond func(*known) bool) *known {
	t.Helper()
	late := time.AfterFunc(5*patience, e.close)
	defer late.Stop()
	for !cond(e.now()) {
		if err := e.next(); err != nil {
			t.Fatalf("waiting for %s: %v; what is known is %+v", what, err, *e.now())
		}
	}
	return e.now()
}

// wsEye sees states and deltas.
type wsEye struct {
	v    *viewer
	view known
}

func (e *wsEye) close()      { e.v.ws.CloseNow() }
func (e *wsEye) now() *known { return e.read(e.v.tree.AppendJSON(nil)) }

func (e *wsEye) next() error {
	_, err := e.v.next()
	return err
}

// settledAs are S1's words in S3's.
var settledAs = map[string]string{"complete": "ok", "denied": "denied", "error": "error"}

func (e *wsEye) read(state []byte) *known {
	var s struct {
		Status, Error string
		Messages      []struct {
			ID, Role, Content string
			ToolCalls         []struct{ Name, Status string }
		}
		PendingApprovals []struct{ RequestID, ToolCallID, ToolName string }
		Rewind           *struct {
			DryRun       bool
			FilesChanged []string
		}
	}
	_ = json.Unmarshal(state, &s) // before the first there is none
	v := known{seq: e.v.seq, busy: s.Status == "running" || s.Status == "awaiting-approval", failed: s.Error}
	for i, m := range s.Messages {
		if i == 0 {
			v.first = m.ID
		}
		if m.Role == "assistant" {
			v.text += m.Content
		}
		for _, c := range m.ToolCalls {
			if o := settledAs[c.Status]; o != "" {
				v.calls = append(v.calls, c.Name+" "+o)
			}
		}
	}
	for _, a := range s.PendingApprovals {
		v.asks = append(v.asks, asking{a.RequestID, a.ToolCallID, a.ToolName})
	}
	if s.Rewind != nil {
		v.rewound = rewoundWords(s.Rewind.DryRun, s.Rewind.FilesChanged)
	}
	e.view = v
	return &e.view
}

func rewoundWords(dry bool, files []string) string {
	return map[bool]string{true: "dry "}[dry] + strings.Join(files, ",")
}

// sseEye sees the log.
type sseEye struct {
	body io.Closer
	r    *bufio.Reader
	view known
}

func (e *sseEye) close()      { e.body.Close() }
func (e *sseEye) now() *known { return &e.view }

func (e *sseEye) next() error {
	for {
		line, err := e.r.ReadString('\n')
		if err != nil {
			return err
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var ev event
		if err := json.Unmarshal([]byte(data), &ev); err != nil {
			return fmt.Errorf("%s: %w", data, err)
		}
		e.take(ev)
		return nil
	}
}

func (e *sseEye) take(ev event) {
	v := &e.view
	v.seq = max(v.seq, ev.Seq)
	switch ev.Type {
	case "user_message":
		if v.first == "" {
			v.first = ev.id("item_id")
		}
	case "turn_start":
		v.busy, v.failed = true, ""
	case "turn_end":
		v.busy = false
	case "token":
		v.text += ev.id("text")
	case "approval_required":
		v.asks = append(v.asks, asking{ev.id("request_id"), ev.id("tool_call_id"), ev.id("tool_name")})
		v.asked++
	case "approval_applied":
		v.asks = slices.DeleteFunc(v.asks, func(q asking) bool { return q.request == ev.id("request_id") })
	case "tool_outcome":
		v.calls = append(v.calls, ev.id("tool_name")+" "+ev.id("status"))
	case "error":
		v.failed = ev.id("message")
	case "subagent_event":
		v.agents++
	case "usage":
		v.used, _ = ev.Payload["output_tokens"].(float64)
	case "rewind":
		var files []string
		for _, f := range ev.Payload["files_changed"].([]any) {
			files = append(files, fmt.Sprint(f))
		}
		v.rewound = rewoundWords(ev.Payload["dry_run"] == true, files)
	}
}

// rpcEye sees notifications.
type rpcEye struct {
	s    *speaker
	view known
}

func (e *rpcEye) close()      { e.s.conn.Close() }
func (e *rpcEye) now() *known { return &e.view }

func (e *rpcEye) next() error {
	line, err := e.s.r.ReadBytes('\n')
	if err != nil {
		return err
	}
	var m struct {
		Method string
		Params struct {
			Seq                            uint64
			RequestID, ItemID, Type, Delta string
			Reasoning                      bool
			Error                          string
			Item                           struct{ ItemID, Type string }
			Data                           struct{ Tool, Status string }
			Tool                           struct{ CallID, Name string }
			Usage                          struct{ OutputTokens float64 }
		}
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return fmt.Errorf("%s: %w", line, err)
	}
	v, p := &e.view, &m.Params
	v.seq = max(v.seq, p.Seq)
	switch m.Method {
	case "turn.started":
		v.busy, v.failed = true, ""
	case "turn.completed", "turn.error":
		v.busy, v.failed, v.used = false, p.Error, p.Usage.OutputTokens
	case "item.started":
		if p.Item.Type == "user_message" && v.first == "" {
			v.first = p.Item.ItemID
		}
	case "item.delta":
		if p.Type == "assistant_message" && !p.Reasoning {
			v.text += p.Delta
		}
	case "approval.requested":
		q := asking{p.RequestID, p.Tool.CallID, p.Tool.Name}
		if !slices.Contains(v.asks, q) {
			v.asks = append(v.asks, q)
			v.asked++
		}
	case "item.completed":
		switch p.Type {
		case "tool_exec":
			v.calls = append(v.calls, p.Data.Tool+" "+p.Data.Status)
		case "approval":
			v.asks = slices.DeleteFunc(v.asks, func(q asking) bool { return q.request == p.ItemID })
		}
	case "thread.spawned":
		v.agents++
	}
	return nil
}
