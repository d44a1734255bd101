package rpc_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"harness"
	"harness/protocol/rpc"
	"harness/store/faulty"
	"harness/store/memory"
)

func TestEveryErrorOfTheClosedSetHasACode(t *testing.T) {
	t.Parallel()
	for _, e := range harness.Errors() {
		code, word := rpc.CodeOf(fmt.Errorf("open /secret/path: %w", e))
		if code == 0 || word != e.Code {
			t.Errorf("%s: code %d, word %q", e.Code, code, word)
		}
	}
	if code, word := rpc.CodeOf(errors.New("open /secret/path")); code != -32603 || word != "internal" {
		t.Errorf("an error of nobody's: code %d, word %q", code, word)
	}
}

// What is no request, and what the answer says. The id is the client's if it
// has one that can be answered with, else null.
func TestWhatIsNoRequest(t *testing.T) {
	t.Parallel()
	c := serve(t, "echo").connect()
	for _, tt := range []struct {
		line, id string
		code     int
	}{
		{`{"id":1,"method":"initialize"}`, `1`, -32600},
		{`{"jsonrpc":"1.0","id":2,"method":"initialize"}`, `2`, -32600},
		{`{"jsonrpc":2.0,"id":3,"method":"initialize"}`, `3`, -32600},
		{`{"jsonrpc":"2.0","id":4}`, `4`, -32600},
		{`{"jsonrpc":"2.0","id":5,"method":7}`, `5`, -32600},
		{`{"jsonrpc":"2.0","id":6,"method":null}`, `6`, -32600},
		{`{"jsonrpc":"2.0","id":"s","method":"initialize","params":"x"}`, `"s"`, -32600},
		{`{"jsonrpc":"2.0","id":8,"method":"initialize","params":null}`, `8`, -32600},
		{`{"jsonrpc":"2.0","id":9,"method":"initialize","params":3}`, `9`, -32600},
		{`{"jsonrpc":"2.0","id":{},"method":"initialize"}`, `null`, -32600},
		{`{"jsonrpc":"2.0","id":[1],"method":"initialize"}`, `null`, -32600},
		{`{"jsonrpc":"2.0","id":true,"method":"initialize"}`, `null`, -32600},
		{`{"method":1}`, `null`, -32600},
		{`{}`, `null`, -32600},
		{`[]`, `null`, -32600},
		{`[` + strings.Repeat(`1,`, 256) + `1]`, `null`, -32600},
		{`null`, `null`, -32600},
		{`"text"`, `null`, -32600},
		{`17`, `null`, -32600},
		{`true`, `null`, -32600},
		{`{`, `null`, -32700},
		{`{"jsonrpc":"2.0","id":1,"method":"initialize"`, `null`, -32700},
		{`{"jsonrpc":"2.0","id":1,"method":"initialize"}}`, `null`, -32700},
		{`{"jsonrpc":"2.0","id":01,"method":"initialize"}`, `null`, -32700},
		{`{'a':1}`, `null`, -32700},
		{`nul`, `null`, -32700},
		{`]`, `null`, -32700},
		{`"`, `null`, -32700},
		{`"\`, `null`, -32700},
		{`[1,`, `null`, -32700},
		{"{\"a\":\"\x00\"}", `null`, -32700},
		{"\x00", `null`, -32700},
		{"\"\xff\xfe\"", `null`, -32700},
		{"\xef\xbb\xbf{}", `null`, -32700},
		{`{"jsonrpc":"2.0","id":1,"method":"no.such"}`, `1`, -32601},
		{`{"jsonrpc":"2.0","id":1,"method":""}`, `1`, -32601},
		{`{"jsonrpc":"2.0","id":1,"method":"Initialize"}`, `1`, -32601},
		{`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("m", 1<<16) + `"}`, `1`, -32601},
	} {
		c.write(tt.line)
		l := c.read()
		if l.Error == nil || l.Error.Code != tt.code || string(l.ID) != tt.id || l.Error.Data.Code == "" {
			t.Errorf("%.120q: got %.200s, want code %d and id %s", tt.line, l.raw, tt.code, tt.id)
		}
		if len(l.raw) > 512 {
			t.Errorf("%.120q: the answer has %d bytes", tt.line, len(l.raw))
		}
	}
}

func TestEveryMethodRefusesAnUnknownThread(t *testing.T) {
	t.Parallel()
	sv := serve(t, "echo")
	mine := sv.connectAs("ann").thread()
	for name, c := range map[string]*client{"ses_none": sv.connect(), mine: sv.connectAs("bob")} {
		for method, rest := range map[string]string{
			"thread.get": "", "thread.subscribe": "", "thread.unsubscribe": "", "thread.fork": "", "thread.pause": "", "thread.resume": "", "thread.health": "",
			"turn.cancel": "", "turn.start": `,"input":[{"type":"text","text":"go"}]`, "turn.steer": `,"input":[{"type":"text","text":"go"}]`,
			"thread.configure": `,"config":{"model":"m"}`, "thread.rewind": `,"messageId":"itm_1"`,
			"approval.respond": `,"requestId":"apr_1","decision":"once"`,
		} {
			c.refused(-32001, "not_found", method, fmt.Sprintf(`{"threadId":%q%s}`, name, rest))
		}
	}
}

func TestBusyTurnAndQueue(t *testing.T) {
	t.Parallel()
	sv := serve(t, "gate go\nsay done\n")
	c := sv.connect()
	id := c.thread()
	first := c.start(id, "one")
	two := fmt.Sprintf(`{"threadId":%q,"input":[{"type":"text","text":"two"}]`, id)
	c.refused(-32002, "busy", "turn.start", two+`}`)
	c.refused(-32002, "busy", "turn.start", two+`,"model":{"providerID":"p","modelID":"m"}}`)
	var r struct{ ItemID, TurnID string }
	c.must(&r, "turn.start", two+`,"queue":true,"clientKey":"k"}`)
	again := r
	c.must(&again, "turn.start", two+`,"queue":true,"clientKey":"k"}`)
	if again != r || r.ItemID == "" {
		t.Errorf("the same key gave %+v and %+v", r, again)
	}
	sv.engine.Open("go")
	c.until("turn.completed")
	c.until("turn.completed")
	said := c.story()
	if strings.Count(said, `"method":"turn.started"`) != 2 || !strings.Contains(said, first) {
		t.Errorf("two turns expected:\n%s", said)
	}
	for i := range 80 {
		if l := c.call("turn.start", two+`,"queue":true}`); l.Error != nil {
			t.Fatalf("prompt %d: %s", i, l.raw)
		}
		c.until("turn.completed")
	}
}

func TestRefusedModelChangesNothing(t *testing.T) {
	t.Parallel()
	sv := serve(t, "gate go\n")
	c := sv.connect()
	id := c.thread()
	c.start(id, "one")
	c.refused(-32002, "busy", "turn.start", fmt.Sprintf(`{"threadId":%q,"input":[{"type":"text","text":"x"}],"agent":"other"}`, id))
	st, err := sv.k.At(t.Context(), harness.SessionID(id), 0)
	if err != nil || st.Config.Agent != "" {
		t.Errorf("agent %q, %v", st.Config.Agent, err)
	}
	sv.engine.Open("go")
	c.until("turn.completed")
}

func TestQueueFullIsBusy(t *testing.T) {
	t.Parallel()
	c := serve(t, "hang").connect()
	id := c.thread()
	two := fmt.Sprintf(`{"threadId":%q,"queue":true,"input":[{"type":"text","text":"two"}]}`, id)
	for range 65 {
		c.must(nil, "turn.start", two)
	}
	c.refused(-32002, "queue_full", "turn.start", two)
}

func TestCancelNamesItsTurn(t *testing.T) {
	t.Parallel()
	c := serve(t, "hang").connect()
	id := c.thread()
	c.refused(-32003, "not_running", "turn.cancel", fmt.Sprintf(`{"threadId":%q}`, id))
	turn := c.start(id, "go")
	c.refused(-32003, "turn_not_found", "turn.cancel", fmt.Sprintf(`{"threadId":%q,"turnId":"trn_other"}`, id))
	c.must(nil, "turn.cancel", fmt.Sprintf(`{"threadId":%q,"turnId":%q}`, id, turn))
	if l := c.until("turn.error"); !strings.Contains(l.raw, `"status":"cancelled"`) {
		t.Errorf("%s", l.raw)
	}
	c.refused(-32003, "turn_not_found", "turn.cancel", fmt.Sprintf(`{"threadId":%q,"turnId":%q}`, id, turn))
	c.start(id, "again")
	c.must(nil, "turn.cancel", fmt.Sprintf(`{"threadId":%q}`, id))
	c.until("turn.error")
}

// A connection that was never told of an approval can still answer it, and is
// told if somebody else did.
func TestApprovalsAreFoundFromAnywhere(t *testing.T) {
	t.Parallel()
	sv := serve(t, "ask bash {\"command\":\"ls\"} => ok\n")
	a := sv.connect()
	id := a.thread()
	a.start(id, "go")
	req := approval(a.until("approval.requested"))
	b := sv.connect()
	b.refused(-32004, "approval_not_found", "approval.respond", `{"requestId":"apr_none","decision":"once"}`)
	b.refused(-32004, "approval_not_found", "approval.respond", fmt.Sprintf(`{"requestId":"apr_none","decision":"once","threadId":%q}`, id))
	b.refused(-32004, "approval_not_found", "approval.respond", `{"requestId":"apr_ses_none.7","decision":"once"}`)
	b.must(nil, "approval.respond", fmt.Sprintf(`{"requestId":%q,"decision":"reject","reason":"not now"}`, req))
	a.until("turn.completed")
	if !strings.Contains(a.story(), `"reply":"reject"`) || !strings.Contains(a.story(), `"not now"`) {
		t.Errorf("the answer is not told:\n%s", a.story())
	}
	stranger := sv.connect()
	stranger.refused(-32004, "already_resolved", "approval.respond", fmt.Sprintf(`{"requestId":%q,"decision":"always","threadId":%q}`, req, id))
	stranger.must(nil, "approval.respond", fmt.Sprintf(`{"requestId":%q,"decision":"reject","reason":"not now","threadId":%q}`, req, id))
}

func TestUnsupportedAndNotPaused(t *testing.T) {
	t.Parallel()
	c := serve(t, "echo").connect()
	id := c.thread()
	c.refused(-32602, "unsupported", "thread.rewind", fmt.Sprintf(`{"threadId":%q,"messageId":"itm_1"}`, id))
	c.refused(-32602, "invalid", "thread.resume", fmt.Sprintf(`{"threadId":%q}`, id))
}

// A store that fails is an internal error, and the client reads nothing about
// the inside.
func TestInternalErrorsSayNothingAboutTheInside(t *testing.T) {
	t.Parallel()
	broken := fmt.Errorf("write /var/lib/secret/db-wal: disk full: %w", harness.ErrStorage)
	damaged := fmt.Errorf("/var/lib/secret/db page 17: %w", harness.ErrCorrupt)
	alien := errors.New("dial tcp 10.0.0.7:5432: secret")
	for _, tt := range []struct {
		method faulty.Method
		err    error
		word   string
		call   string
		params string
	}{
		{faulty.Append, broken, "storage", "thread.create", `{}`},
		{faulty.Append, alien, "internal", "thread.create", `{}`},
		{faulty.List, broken, "storage", "thread.list", `{}`},
		{faulty.List, damaged, "corrupt", "thread.get", `{"threadId":"%s"}`},
		{faulty.Read, damaged, "corrupt", "thread.get", `{"threadId":"%s"}`},
		{faulty.Read, alien, "internal", "thread.health", `{"threadId":"%s"}`},
		{faulty.RevokeRule, broken, "storage", "rule.revoke", `{"ruleId":"rul_1"}`},
		{faulty.Rules, damaged, "corrupt", "rule.list", `{}`},
		{faulty.Read, broken, "storage", "thread.fork", `{"threadId":"%s"}`},
		{faulty.Append, broken, "storage", "turn.start", `{"threadId":"%s","input":[{"type":"text","text":"go"}]}`},
	} {
		var fail bool
		st := faulty.Wrap(memory.New(), func(op faulty.Op) faulty.Fault {
			if fail && op.Method == tt.method {
				return faulty.Fault{Before: tt.err}
			}
			return faulty.Fault{}
		})
		sv := serveOn(t, st, "echo")
		made := sv.connect()
		id := made.thread()
		c := sv.connect()
		c.sync()
		made.in.Close()
		for range made.lines { // its follower is gone: only c asks the store now
		}
		fail = true
		params := tt.params
		if strings.Contains(params, "%s") {
			params = fmt.Sprintf(params, id)
		}
		l := c.refused(-32603, tt.word, tt.call, params)
		for _, secret := range []string{"secret", "/var", "10.0.0", "disk", "page", "append", "ses_"} {
			if strings.Contains(l.raw, secret) {
				t.Errorf("%s %s leaks %q: %s", tt.call, tt.method, secret, l.raw)
			}
		}
	}
}
