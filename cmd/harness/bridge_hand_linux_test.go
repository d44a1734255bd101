package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// hand drives a session over one protocol. What a protocol cannot say, no row
// asks of it.
type hand interface {
	begin(prompt string) (id string) // a session, and its first turn
	say(prompt string)               // another turn, or one that waits
	steer(text string)
	cancel()
	answer(q asking, verdict, scope, reason string)
	configure(mode, model, effort string)
	rewind(message string, dry bool)
	fork(at uint64) (id string) // from here on it drives the branch
}

// asking is an approval that waits.
type asking struct{ request, call, tool string }

// hand is one for a session; for another, if that has no id.
func (p *process) hand(t *testing.T, protocol, id string) hand {
	t.Helper()
	switch protocol {
	case "ws":
		if id == "" {
			return &wsHand{v: p.view("?userId=ada")}
		}
		return &wsHand{v: p.view("?sessionId=" + id)}
	case "rpc":
		return &rpcHand{speaker: p.speaker(t), id: id}
	}
	return &restHand{p: p, t: t, id: id}
}

// speaker is a JSON-RPC client of the owner.
func (p *process) speaker(t *testing.T) *speaker {
	t.Helper()
	c, err := dialRPC(t.Context(), remote{p.http, p.token})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &speaker{t: t, conn: c, r: bufio.NewReader(c)}
}

// wsHand is a client of S0 and S1.
type wsHand struct{ v *viewer }

func (h *wsHand) do(format string, args ...any) {
	h.v.t.Helper()
	acked(h.v.t, h.v.do(format, args...))
}

func (h *wsHand) begin(prompt string) string {
	acked(h.v.t, h.v.submit(prompt))
	return h.v.see("a session", func(s seen) bool { return s.SessionID != "" }).SessionID
}

func (h *wsHand) say(prompt string) {
	h.do(`"type":"resume","prompt":%q,"sessionId":%q`, prompt, h.v.now.SessionID)
}
func (h *wsHand) steer(text string) { h.do(`"type":"steer","message":%q`, text) }
func (h *wsHand) cancel()           { h.do(`"type":"cancel"`) }

func (h *wsHand) answer(q asking, verdict, scope, reason string) {
	h.v.t.Helper()
	switch {
	case verdict == "deny":
		h.do(`"type":"deny","toolCallId":%q,"requestId":%q,"reason":%q`, q.call, q.request, reason)
	case scope == "once" && reason == "":
		h.do(`"type":"approve","toolCallId":%q,"requestId":%q`, q.call, q.request)
	default:
		h.v.t.Fatalf("S1 cannot allow %s with %q", scope, reason)
	}
}

func (h *wsHand) configure(mode, model, effort string) {
	h.do(`"type":"configure","config":{"permissionMode":%q,"model":%q,"effort":%q}`, mode, model, effort)
}

func (h *wsHand) rewind(message string, dry bool) {
	h.do(`"type":"rewind","messageId":%q,"dryRun":%t`, message, dry)
}

func (h *wsHand) fork(uint64) string {
	h.v.t.Fatal("S1 cannot branch")
	return ""
}

// restHand is a client of S3.
type restHand struct {
	p  *process
	t  *testing.T
	id string
}

func (h *restHand) send(method, path string, body any) (answer map[string]any) {
	h.t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		h.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(h.t.Context(), method, h.p.http+path, strings.NewReader(string(b)))
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header = h.p.bearer(http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}})
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer r.Body.Close()
	if err := json.NewDecoder(r.Body).Decode(&answer); err != nil || r.StatusCode >= 300 {
		h.t.Fatalf("%s %s %s: %s %v %v", method, path, b, r.Status, answer, err)
	}
	return answer
}

type fields = map[string]any

func (h *restHand) begin(prompt string) string {
	h.id, _ = h.send("POST", "/chat/sessions", fields{})["session_id"].(string)
	h.say(prompt)
	return h.id
}

func (h *restHand) say(prompt string) {
	h.send("POST", "/chat/sessions/"+h.id+"/turns", fields{"prompt": prompt, "on_busy": "queue"})
}

func (h *restHand) steer(text string) {
	h.send("POST", "/sessions/"+h.id+"/steer", fields{"prompt": text})
}
func (h *restHand) cancel() { h.send("POST", "/sessions/"+h.id+"/cancel", fields{}) }

func (h *restHand) answer(q asking, verdict, scope, reason string) {
	h.send("POST", "/approvals/"+q.request, fields{"decision": verdict, "scope": scope, "reason": reason})
}

func (h *restHand) configure(mode, model, effort string) {
	mode = map[string]string{"acceptEdits": "accept_edits", "fullAuto": "full_auto", "default": "normal"}[mode]
	h.send("PATCH", "/sessions/"+h.id, fields{"permission_mode": mode, "model": model, "effort": effort})
}

func (h *restHand) rewind(message string, dry bool) {
	h.send("POST", "/sessions/"+h.id+"/rewind", fields{"message_id": message, "dry_run": dry})
}

func (h *restHand) fork(at uint64) string {
	h.id, _ = h.send("POST", "/chat/sessions/"+h.id+"/branch", fields{"from_event_id": fmt.Sprintf("%s.%d", h.id, at)})["session_id"].(string)
	return h.id
}

// rpcHand is a client of S4.
type rpcHand struct {
	*speaker
	id string
}

func (h *rpcHand) do(method string, params fields) (result fields) {
	h.t.Helper()
	b, err := json.Marshal(params)
	if err != nil {
		h.t.Fatal(err)
	}
	a := h.call(method, string(b))
	if a.Error.Code != 0 {
		h.t.Fatalf("%s %s: %+v", method, b, a.Error)
	}
	if err := json.Unmarshal(a.Result, &result); err != nil {
		h.t.Fatal(err)
	}
	return result
}

func typed(text string) []fields { return []fields{{"type": "text", "text": text}} }

func (h *rpcHand) thread(result fields) string {
	thread, _ := result["thread"].(map[string]any)
	h.id, _ = thread["threadId"].(string)
	return h.id
}

func (h *rpcHand) begin(prompt string) string {
	h.thread(h.do("thread.create", fields{}))
	h.say(prompt)
	return h.id
}

func (h *rpcHand) say(prompt string) {
	h.do("turn.start", fields{"threadId": h.id, "input": typed(prompt), "queue": true})
}
func (h *rpcHand) steer(text string) {
	h.do("turn.steer", fields{"threadId": h.id, "input": typed(text)})
}
func (h *rpcHand) cancel() { h.do("turn.cancel", fields{"threadId": h.id}) }

func (h *rpcHand) answer(q asking, verdict, scope, reason string) {
	h.do("approval.respond", fields{"requestId": q.request, "decision": map[string]string{"deny": "reject", "allow": scope}[verdict], "reason": reason})
}

func (h *rpcHand) configure(mode, model, effort string) {
	h.do("thread.configure", fields{"threadId": h.id, "config": fields{"permissionMode": mode, "model": model, "effort": effort}})
}

func (h *rpcHand) rewind(message string, dry bool) {
	h.do("thread.rewind", fields{"threadId": h.id, "messageId": message, "dryRun": dry})
}

func (h *rpcHand) fork(at uint64) string {
	return h.thread(h.do("thread.fork", fields{"threadId": h.id, "at": at}))
}
