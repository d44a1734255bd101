package rpc_test

import (
	"fmt"
	"strings"
	"testing"
)

// Every parameter of every method: missing, of a wrong type, empty, too long.
// The answer names the field.
func TestBadParamsNameTheField(t *testing.T) {
	t.Parallel()
	c := serve(t, "hang").connect()
	id := c.thread()
	long := func(n int) string { return strings.Repeat("x", n+1) }
	th := fmt.Sprintf(`"threadId":%q`, id)
	text := `"input":[{"type":"text","text":"go"}]`
	for _, tt := range []struct{ method, params, field string }{
		{"initialize", `[]`, "params"},
		{"initialize", `{"clientInfo":1}`, "clientInfo"},
		{"initialize", `{"clientInfo":null}`, "clientInfo"},
		{"initialize", `{"clientInfo":{}}`, "clientInfo.name"},
		{"initialize", `{"clientInfo":{"name":""}}`, "clientInfo.name"},
		{"initialize", `{"clientInfo":{"name":"` + long(128) + `"}}`, "clientInfo.name"},
		{"initialize", `{"clientInfo":{"name":"a","version":2}}`, "clientInfo.version"},
		{"thread.create", `{"title":1}`, "title"},
		{"thread.create", `{"title":"` + long(1024) + `"}`, "title"},
		{"thread.create", `{"directory":[]}`, "directory"},
		{"thread.create", `{"directory":"` + long(4096) + `"}`, "directory"},
		{"thread.list", `{"limit":"1"}`, "limit"},
		{"thread.list", `{"limit":-1}`, "limit"},
		{"thread.list", `{"limit":1.5}`, "limit"},
		{"thread.list", `{"limit":1e99}`, "limit"},
		{"thread.list", `{"cursor":1}`, "cursor"},
		{"thread.list", `{"cursor":"nonsense"}`, "cursor"},
		{"thread.list", `{"cursor":"12.../x"}`, "cursor"},
		{"thread.list", `{"cursor":"` + long(192) + `"}`, "cursor"},
		{"thread.get", `{}`, "threadId"},
		{"thread.get", `[]`, "params"},
		{"thread.get", `{"threadId":null}`, "threadId"},
		{"thread.get", `{"threadId":""}`, "threadId"},
		{"thread.get", `{"threadId":"../etc"}`, "threadId"},
		{"thread.get", `{"threadId":"` + long(128) + `"}`, "threadId"},
		{"thread.get", `{` + th + `,"after":-1}`, "after"},
		{"thread.get", `{` + th + `,"after":99}`, "after"},
		{"thread.get", `{` + th + `,"limit":true}`, "limit"},
		{"turn.start", `{` + text + `}`, "threadId"},
		{"turn.start", `{` + th + `}`, "input"},
		{"turn.start", `{` + th + `,"input":"go"}`, "input"},
		{"turn.start", `{` + th + `,"input":[]}`, "input"},
		{"turn.start", `{` + th + `,"input":[1]}`, "input[0]"},
		{"turn.start", `{` + th + `,"input":[{}]}`, "input[0].type"},
		{"turn.start", `{` + th + `,"input":[{"type":"sound"}]}`, "input[0].type"},
		{"turn.start", `{` + th + `,"input":[{"type":"text"}]}`, "input[0].text"},
		{"turn.start", `{` + th + `,"input":[{"type":"text","text":""}]}`, "input[0].text"},
		{"turn.start", `{` + th + `,"input":[{"type":"text","text":"a"},{"type":"text","text":2}]}`, "input[1].text"},
		{"turn.start", `{` + th + `,"input":[{"type":"text","text":"` + long(512<<10) + `"}]}`, "input[0].text"},
		{"turn.start", `{` + th + `,"input":[{"type":"text","text":"` + long(300<<10) + `"},{"type":"text","text":"` + long(300<<10) + `"}]}`, "input"},
		{"turn.start", `{` + th + `,"input":[{"type":"file"}]}`, "input[0].url"},
		{"turn.start", `{` + th + `,"input":[{"type":"file","url":1}]}`, "input[0].url"},
		{"turn.start", `{` + th + `,"input":[{"type":"file","path":"` + long(4096) + `"}]}`, "input[0].path"},
		{"turn.start", `{` + th + `,"input":[{"type":"file","filename":"a","mime":{}}]}`, "input[0].mime"},
		{"turn.start", `{` + th + `,` + text + `,"model":"opus"}`, "model"},
		{"turn.start", `{` + th + `,` + text + `,"model":{"providerID":"a"}}`, "model.modelID"},
		{"turn.start", `{` + th + `,` + text + `,"model":{"providerID":"","modelID":"b"}}`, "model.providerID"},
		{"turn.start", `{` + th + `,` + text + `,"model":{"providerID":"a","modelID":"` + long(64) + `"}}`, "model.modelID"},
		{"turn.start", `{` + th + `,` + text + `,"agent":7}`, "agent"},
		{"turn.start", `{` + th + `,` + text + `,"agent":"` + long(128) + `"}`, "agent"},
		{"turn.start", `{` + th + `,` + text + `,"queue":"yes"}`, "queue"},
		{"turn.start", `{` + th + `,` + text + `,"clientKey":"` + long(128) + `"}`, "clientKey"},
		{"turn.cancel", `{}`, "threadId"},
		{"turn.cancel", `{` + th + `,"turnId":1}`, "turnId"},
		{"approval.respond", `{"decision":"once"}`, "requestId"},
		{"approval.respond", `{"requestId":"","decision":"once"}`, "requestId"},
		{"approval.respond", `{"requestId":"apr_1"}`, "decision"},
		{"approval.respond", `{"requestId":"apr_1","decision":"maybe"}`, "decision"},
		{"approval.respond", `{"requestId":"apr_1","decision":"once","reason":[]}`, "reason"},
		{"approval.respond", `{"requestId":"apr_1","decision":"once","threadId":"../x"}`, "threadId"},
		{"turn.steer", `{` + th + `,"input":{}}`, "input"},
		{"turn.steer", `{"threadId":true,` + text + `}`, "threadId"},
		{"thread.subscribe", `{}`, "threadId"},
		{"thread.subscribe", `{` + th + `,"after":"0"}`, "after"},
		{"thread.subscribe", `{` + th + `,"after":99}`, "after"},
		{"thread.unsubscribe", `{}`, "threadId"},
		{"thread.fork", `{}`, "threadId"},
		{"thread.fork", `{` + th + `,"at":0}`, "at"},
		{"thread.fork", `{` + th + `,"at":99}`, "at"},
		{"thread.fork", `{` + th + `,"title":{}}`, "title"},
		{"thread.configure", `{` + th + `}`, "config"},
		{"thread.configure", `{` + th + `,"config":{}}`, "config"},
		{"thread.configure", `{` + th + `,"config":{"permissionMode":"yolo"}}`, "config.permissionMode"},
		{"thread.configure", `{` + th + `,"config":{"effort":"most"}}`, "config.effort"},
		{"thread.configure", `{` + th + `,"config":{"model":1}}`, "config.model"},
		{"thread.configure", `{` + th + `,"config":{"agent":"` + long(128) + `"}}`, "config.agent"},
		{"thread.configure", `{` + th + `,"config":{"systemPrompt":"` + long(512<<10) + `"}}`, "config.systemPrompt"},
		{"thread.configure", `{` + th + `,"config":{"maxTurns":-1}}`, "config.maxTurns"},
		{"thread.configure", `{` + th + `,"config":{"maxTurns":1000001}}`, "config.maxTurns"},
		{"thread.pause", `{}`, "threadId"},
		{"thread.resume", `{"threadId":1}`, "threadId"},
		{"thread.rewind", `{` + th + `}`, "messageId"},
		{"thread.rewind", `{` + th + `,"messageId":"m","dryRun":"no"}`, "dryRun"},
		{"thread.health", `{}`, "threadId"},
		{"rule.list", `{"directory":1}`, "directory"},
		{"rule.list", `{"directory":"` + long(4096) + `"}`, "directory"},
		{"rule.revoke", `{}`, "ruleId"},
		{"rule.revoke", `{"ruleId":"../x"}`, "ruleId"},
	} {
		l := c.refused(-32602, "invalid", tt.method, tt.params)
		if l.Error != nil && l.Error.Data.Field != tt.field {
			t.Errorf("%s %.100s: field %q, want %q", tt.method, tt.params, l.Error.Data.Field, tt.field)
		}
	}
	if events := c.get(id); len(events) != 1 {
		t.Errorf("refused requests left %d events in the thread", len(events)-1)
	}
}

// The same methods with good params, each in as many forms as S4 allows.
func TestGoodParamsAreTaken(t *testing.T) {
	t.Parallel()
	c := serve(t, "echo").connect()
	id := c.thread()
	th := fmt.Sprintf(`"threadId":%q`, id)
	for _, tt := range []struct{ method, params string }{
		{"initialize", `{}`},
		{"initialize", `{"clientInfo":{"name":"ide"},"unknown":[1,{"a":null}]}`},
		{"initialize", `{"clientInfo":{"name":"ide","version":""}}`},
		{"thread.create", `{}`},
		{"thread.create", `{"title":"","directory":"/tmp/x"}`},
		{"thread.list", `{}`},
		{"thread.list", `{"limit":0,"cursor":""}`},
		{"thread.get", `{` + th + `}`},
		{"thread.get", `{"after":0,"limit":5,` + th + `}`},
		{"thread.subscribe", `{` + th + `}`},
		{"thread.subscribe", `{` + th + `,"after":0}`},
		{"thread.configure", `{` + th + `,"config":{"permissionMode":"fullAuto","effort":"max","model":"","agent":"a","systemPrompt":"s","maxTurns":0}}`},
		{"thread.pause", `{` + th + `}`},
		{"thread.resume", `{` + th + `}`},
		{"thread.health", `{` + th + `}`},
		{"rule.list", `{}`},
		{"rule.list", `{"directory":""}`},
		{"thread.fork", `{` + th + `}`},
		{"turn.start", `{` + th + `,"queue":true,"input":[{"type":"text","text":"go"}]}`},
		{"turn.start", `{` + th + `,"queue":true,"input":[{"type":"file","url":"file:///a","filename":"a","mime":"text/plain"},{"type":"text","text":"\u00e9\ud83d\ude00"}],"agent":"","clientKey":"k"}`},
		{"thread.unsubscribe", `{` + th + `}`},
	} {
		c.must(nil, tt.method, tt.params)
	}
	c.write(`{"jsonrpc":"2.0","id":"none","method":"thread.list"}`)
	for l := c.read(); string(l.ID) != `"none"`; l = c.read() {
		continue
	}
	if l := c.seen[len(c.seen)-1]; l.Error != nil {
		t.Errorf("no params at all: %s", l.raw)
	}
}
