package delta

import (
	"errors"
	"fmt"
	"testing"

	"harness"
	"harness/internal/object"
)

func TestFramesHaveTheirForms(t *testing.T) {
	t.Parallel()
	st := &harness.State{Session: "ses_1", Seq: 17, Status: harness.Running, Sealed: 3, Messages: []*harness.Message{
		{ID: "itm_4", Role: harness.User, Content: harness.NewText("\"hi\""), Status: harness.MessageComplete},
	}}
	stored := func(n int) []byte {
		return harness.EncodeMessage(&harness.Message{ID: harness.ItemID(fmt.Sprint("itm_", n)), Role: harness.Assistant, Status: harness.MessageComplete})
	}
	var ops object.Pending
	ops.AppendText([]string{"messages", "0", "content"}, " world")
	const last = `{"id":"itm_4","role":"user","content":"\"hi\"","status":"complete"}`
	for _, c := range []struct {
		name string
		got  []byte
		want string
	}{
		{"empty state", appendState(nil, new(harness.State), nil, 0), `{"type":"state","seq":0,"state":{"status":"idle","messages":[]}}`},
		{
			"window over stored messages", appendState(nil, st, [][]byte{stored(3)}, 2),
			`{"type":"state","seq":17,"state":{"status":"running","messages":[{"id":"itm_3","role":"assistant","content":"","status":"complete"},` + last + `],"sessionId":"ses_1","firstMessage":2}}`,
		},
		{"window", appendState(nil, st, nil, 3), `{"type":"state","seq":17,"state":{"status":"running","messages":[` + last + `],"sessionId":"ses_1","firstMessage":3}}`},
		{"window beyond the end", appendState(nil, st, nil, 4), `{"type":"state","seq":17,"state":{"status":"running","messages":[],"sessionId":"ses_1","firstMessage":4}}`},
		{"delta", appendDelta(nil, 18, &ops), `{"type":"delta","seq":18,"operations":[{"type":"append-text","path":["messages","0","content"],"value":" world"}]}`},
		{"ack", appendAck(nil, `a"b`, 18), `{"type":"ack","commandId":"a\"b","seq":18}`},
		{"heartbeat", appendHeartbeat(nil, 18, beginning), `{"type":"hb","seq":18,"ts":"2026-01-02T03:04:05.678Z"}`},
		{"error", appendError(nil, "", harness.ErrNotFound), `{"type":"error","message":"no such session","code":"not_found"}`},
		{
			"refused command", appendError(nil, "c1", fmt.Errorf("rewind: %w", harness.ErrUnsupported)),
			`{"type":"error","message":"rewind: not supported","code":"unsupported","commandId":"c1"}`,
		},
		{"internal error", appendError(nil, "c1", errors.New("open /secret: no")), `{"type":"error","message":"internal error","code":"internal","commandId":"c1"}`},
	} {
		if string(c.got) != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, c.got, c.want)
		}
	}
}

// A message means the same whether the store kept it or we encode it.
func TestMessagesAreEncodedAsTheStoreKeepsThem(t *testing.T) {
	t.Parallel()
	for s := range uint64(20) {
		a := newAuthor(5, s, 6)
		for range 100 {
			a.next()
		}
		for _, m := range a.st.Messages {
			same(t, string(m.ID), appendMessage(nil, m), harness.EncodeMessage(m))
		}
	}
}

// What an engine put into a tool's input cannot break a socket: no byte leaves
// that is not UTF-8, and no half of a surrogate pair.
func TestStoredBytesAreMadeSafeForSockets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{`{"a":"é"}`, `{"a":"é"}`},
		{"{\"a\":\"\xff\"}", `{"a":"` + "\ufffd" + `"}`},
		{`{"a":"\ud83d"}`, `{"a":"` + "\ufffd" + `"}`},
		{`{"a":"\uD83D\uDE00"}`, `{"a":"😀"}`},
	} {
		if got := appendRaw(nil, []byte(c.in)); string(got) != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

func TestEveryErrorHasItsCode(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, e := range harness.Errors() {
		code := errorCodes[e]
		if code == "" || seen[code] {
			t.Errorf("%v: code %q", e, code)
		}
		seen[code] = true
		if got := errorCode(fmt.Errorf("submit: %w", e)); got != code {
			t.Errorf("%v wrapped: code %q, want %q", e, got, code)
		}
	}
	if len(errorCodes) != len(harness.Errors()) {
		t.Errorf("%d codes for %d errors", len(errorCodes), len(harness.Errors()))
	}
}
