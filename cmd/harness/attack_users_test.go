package main

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"harness"
	"harness/artifact"
	"harness/console"
	"harness/gateway"
)

// estate is what ada has, and bob wants.
type estate struct {
	id      string // waits for an answer
	request string
	call    string
	rule    string
	item    string
	home    string // her default session
}

func (h *house) estate(t testing.TB) (e estate) {
	t.Helper()
	ruled := h.session(t, "ada", "ask")
	request, _ := h.question(t, ruled)
	h.must(t, ask{as: "ada", method: "POST", path: "/approvals/" + request, body: `{"decision":"allow","scope":"always"}`})
	list := h.must(t, ask{as: "ada", method: "GET", path: "/rules"})["rules"].([]any)
	if len(list) != 1 {
		t.Fatalf("ada's rules are %v", list)
	}
	e.rule = list[0].(map[string]any)["rule_id"].(string)
	h.must(t, ask{as: "owner", method: "DELETE", path: "/rules/" + e.rule}) // so that the next question is asked
	e.id = h.session(t, "ada", "ask")
	e.request, e.call = h.question(t, e.id)
	h.settled(t)
	other := h.session(t, "ada", "ask")
	request, _ = h.question(t, other)
	h.must(t, ask{as: "ada", method: "POST", path: "/approvals/" + request, body: `{"decision":"allow","scope":"session"}`})
	e.home = string(harness.DefaultSession("ada"))
	v, _ := h.viewAs(t, "ada", "?userId=ada")
	acked(t, v.submit("hello"))
	s := v.see("her turn", saying("hello"))
	e.item = s.Messages[0].ID
	return e
}

// absentID is a session that nobody has.
const absentID = "ses_06g00000000000000000000000"

// drawn is what ada's session has made, as if it were that of another id.
var drawn = harness.NewArtifact("ses_x", "diff", "", []byte("hers"))

// ofSession are the operations of HTTP on one session; {id} is its id.
var ofSession = []ask{
	{method: "GET", path: "/chat/sessions/{id}"},
	{method: "GET", path: "/sessions/{id}"},
	{method: "GET", path: "/sessions/{id}/events"},
	{method: "GET", path: "/sessions/{id}/events/stream"},
	{method: "GET", path: "/chat/sessions/{id}/events/stream"},
	{method: "GET", path: "/sessions/{id}/health/stream"},
	{method: "GET", path: "/sessions/{id}/messages"},
	{method: "GET", path: "/sessions/{id}/state"},
	{method: "GET", path: "/sessions/{id}/state?at=1"},
	{method: "GET", path: "/sessions/{id}/export"},
	{method: "HEAD", path: "/sessions/{id}/export"},
	{method: "GET", path: "/sessions/{id}/processes"},
	{method: "GET", path: strings.Replace(drawn.URI, "ses_x", "{id}", 1)},
	{method: "POST", path: "/chat/sessions/{id}/turns", body: `{"prompt":"attack"}`},
	{method: "POST", path: "/chat/sessions/{id}/branch", body: `{}`},
	{method: "POST", path: "/chat/sessions/{id}/branch", body: `{"from_event_id":"{id}.1"}`},
	{method: "POST", path: "/chat/sessions/{id}/branch", body: `{"resume_cursor":"event:{id}:1"}`},
	{method: "POST", path: "/sessions/{id}/resume", body: `{}`},
	{method: "POST", path: "/sessions/{id}/resume", body: `{"resume_cursor":"event:{id}:1"}`},
	{method: "POST", path: "/sessions/{id}/pause"},
	{method: "POST", path: "/sessions/{id}/cancel", body: `{}`},
	{method: "POST", path: "/sessions/{id}/steer", body: `{"prompt":"attack"}`},
	{method: "POST", path: "/sessions/{id}/rewind", body: `{"message_id":"itm_1"}`},
	{method: "PATCH", path: "/sessions/{id}", body: `{"title":"stolen"}`},
	{method: "PATCH", path: "/sessions/{id}", body: `{"permission_mode":"full_auto"}`},
	{method: "PATCH", path: "/sessions/{id}", body: `{"policy":{"health":{"total_tokens":1}}}`},
	{method: "DELETE", path: "/sessions/{id}"},
}

func (q ask) on(id string) ask {
	q.path, q.body = strings.ReplaceAll(q.path, "{id}", id), strings.ReplaceAll(q.body, "{id}", id)
	return q
}

// draw puts an artifact on the shelf of a session.
func (h *house) draw(t testing.TB, id string) (artifactID string) {
	t.Helper()
	shelf, err := artifact.Open(filepath.Join(h.dir, "artifacts"))
	if err != nil {
		t.Fatal(err)
	}
	defer shelf.Close()
	artifactID = strings.Replace(drawn.ArtifactID, "ses_x", id, 1)
	if err := shelf.Put(t.Context(), artifactID, drawn.Content); err != nil {
		t.Fatal(err)
	}
	return artifactID
}

// TestNeitherUserFindsTheOther is attack 19 on every protocol, and the promise
// behind it: what is another's is answered, word for word, like what is nobody's.
func TestNeitherUserFindsTheOther(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	e := h.estate(t)
	mine := h.session(t, "bob", "hello")
	h.draw(t, e.id)
	if got := h.send(t, ask{as: "ada", method: "GET", path: strings.Replace(drawn.URI, "ses_x", e.id, 1)}); got.status != 200 || got.body != "hers" {
		t.Errorf("ada gets %d %s", got.status, got.body)
	}
	h.settled(t)
	documented := map[string]bool{}
	for _, r := range routesOf(t) {
		if strings.Contains(r.Pattern, "{id}") && !slices.Contains(console.Pages(), r.Pattern) { // a page is the same for all
			documented[r.Pattern] = false
		}
	}
	t.Run("HTTP", func(t *testing.T) {
		for _, id := range []string{e.id, e.home} {
			for _, q := range ofSession {
				documented[q.method+" "+strings.SplitN(q.path, "?", 2)[0]] = true
				for _, as := range []string{"bob", "bob-operator", "bob-viewer"} {
					q.as = as
					foreign := h.attack(t, q.on(id))
					absent := h.send(t, q.on(absentID))
					if as == "bob" && foreign.status != 404 || foreign.status/100 == 2 || foreign.status != absent.status || strings.ReplaceAll(foreign.body, id, absentID) != absent.body {
						t.Errorf("%s %s as %s: %d %s\n of nobody: %d %s", q.method, q.path, as, foreign.status, foreign.body, absent.status, absent.body)
					}
				}
			}
		}
		for pattern, tried := range documented {
			if !tried {
				t.Errorf("%s was not tried", pattern)
			}
		}
		h.unchanged(t, func() {
			for _, body := range []string{`{"decision":"allow"}`, `{"decision":"deny","scope":"always"}`} {
				if got := h.denied(t, ask{as: "bob", method: "POST", path: "/approvals/" + e.request, body: body}); got.status != 404 || !strings.Contains(got.body, "no_approval") && !strings.Contains(got.body, "approval") {
					t.Errorf("answer: %d %s", got.status, got.body)
				}
			}
			if got := h.denied(t, ask{as: "bob", method: "DELETE", path: "/rules/" + e.rule}); got.status != 404 {
				t.Errorf("revoke: %d %s", got.status, got.body)
			}
			for _, path := range []string{"/sessions", "/sessions?user_id=ada", "/chat/sessions", "/chat/sessions?user_id=ada", "/approvals", "/approvals?user_id=ada", "/approvals?session_id=" + e.id, "/rules", "/sessions?parent_session_id=" + e.id} {
				got := h.send(t, ask{as: "bob", method: "GET", path: path})
				if got.status != 200 || strings.Contains(strings.ReplaceAll(got.body, "of bob", ""), "ada") || strings.Contains(got.body, e.id) || strings.Contains(got.body, e.request) || strings.Contains(got.body, e.rule) {
					t.Errorf("%s: %d %s", path, got.status, got.body)
				}
			}
			if got := h.send(t, ask{as: "bob", method: "GET", path: "/sessions"}); !strings.Contains(got.body, mine) {
				t.Errorf("bob does not find his own: %s", got.body)
			}
			if got := h.denied(t, ask{as: "bob", method: "POST", path: "/chat/sessions", body: `{"user_id":"ada"}`}); got.status != 403 && got.status != 404 {
				t.Errorf("create for ada: %d %s", got.status, got.body)
			}
			for _, as := range []string{"bob", "bob-viewer"} {
				if got := h.denied(t, importOf(as, "{}")); got.status != 403 {
					t.Errorf("import as %s: %d %s", as, got.status, got.body)
				}
			}
		})
	})
	t.Run("WebSocket", func(t *testing.T) {
		h.unchanged(t, func() {
			for _, query := range []string{"?sessionId=" + e.id, "?sessionId=" + e.home, "?userId=ada", "?userId=ada&sessionId=" + e.id, "?userId=bob&sessionId=" + e.id, "?sessionId=" + absentID, "?sessionId=" + string(harness.DefaultSession("carol"))} {
				h.refused(t, query, func() {
					if v, status := h.viewAs(t, "bob", query); v != nil || status != 404 {
						t.Errorf("%s: %d", query, status)
					}
				})
			}
			watched, _ := h.viewAs(t, "ada", "?sessionId="+e.id) // now it is shown to somebody
			h.refused(t, "a session that ada watches", func() {
				if v, status := h.viewAs(t, "bob", "?sessionId="+e.id); v != nil || status != 404 {
					t.Errorf("a session that ada watches: %d", status)
				}
			})
			v, _ := h.viewAs(t, "bob", "?sessionId="+mine)
			for _, id := range []string{e.id, e.home, absentID, string(harness.DefaultSession("carol"))} {
				if f := h.denies(t, v, `"type":"resume","prompt":"attack","sessionId":%q`, id); f.Type != "error" || f.Code != "not_found" {
					t.Errorf("resume to %s: %+v", id, f)
				}
			}
			for _, command := range []string{`"type":"approve","toolCallId":%q`, `"type":"deny","toolCallId":%q`} {
				if f := h.denies(t, v, command, e.call); f.Type != "error" || f.Code == "forbidden" {
					t.Errorf("%s of ada's call: %+v", command, f)
				}
				if f := h.denies(t, v, command+`,"requestId":%q`, e.call, e.request); f.Type != "error" {
					t.Errorf("%s of ada's call by its request: %+v", command, f)
				}
			}
			if f := h.denies(t, v, `"type":"rewind","messageId":%q`, e.item); f.Type != "error" {
				t.Errorf("rewind to ada's message: %+v", f)
			}
			if v.now.SessionID != mine || watched.now.SessionID != e.id {
				t.Errorf("bob is in %s, ada in %s", v.now.SessionID, watched.now.SessionID)
			}
		})
	})
	t.Run("JSON-RPC", func(t *testing.T) {
		s := h.speakAs(t, "bob")
		h.unchanged(t, func() {
			tried := map[string]bool{"initialize": true, "thread.create": true} // name nobody's
			for method, c := range ofThread {
				tried[method] = true
				for _, id := range []string{e.id, e.home, absentID} {
					a := h.declines(t, s, method, strings.NewReplacer("{id}", id, "{request}", e.request, "{rule}", e.rule).Replace(c.params))
					if a.Error.Code != c.absent {
						t.Errorf("%s %s: %s %+v, want %d", method, id, a.Result, a.Error, c.absent)
					}
				}
			}
			for _, method := range []string{"thread.list", "rule.list"} {
				tried[method] = true
				a := s.call(method, "{}")
				if a.Error.Code != 0 || strings.Contains(string(a.Result), e.id) || strings.Contains(string(a.Result), "of ada") || strings.Contains(string(a.Result), e.rule) {
					t.Errorf("%s: %s %+v", method, a.Result, a.Error)
				}
			}
			if a := s.call("thread.list", "{}"); !strings.Contains(string(a.Result), mine) {
				t.Errorf("bob does not find his own: %s", a.Result)
			}
			for _, method := range rpcMethods(t) {
				if !tried[method] {
					t.Errorf("%s was not tried", method)
				}
			}
		})
	})
	if audit := h.lines(t, "audit.log", `"result":"foreign"`); len(audit) < 30 || !slices.ContainsFunc(audit, func(l string) bool { return strings.Contains(l, `"user":"bob"`) && strings.Contains(l, e.id) }) {
		t.Errorf("the audit has %d lines of what was foreign", len(audit))
	}
	// She can still do everything.
	h.must(t, ask{as: "ada", method: "POST", path: "/approvals/" + e.request, body: `{"decision":"allow"}`})
	if s := h.settled(t); !strings.Contains(s, e.id) {
		t.Error("ada's session is gone")
	}
}

// ofThread are the methods of JSON-RPC that name a thread, or what is in one,
// and the code for one that is not there.
var ofThread = map[string]struct {
	params string
	absent int
}{
	"thread.get":         {`{"threadId":"{id}"}`, -32001},
	"thread.subscribe":   {`{"threadId":"{id}"}`, -32001},
	"thread.unsubscribe": {`{"threadId":"{id}"}`, -32001},
	"thread.fork":        {`{"threadId":"{id}"}`, -32001},
	"thread.configure":   {`{"threadId":"{id}","config":{"model":"m"}}`, -32001},
	"thread.pause":       {`{"threadId":"{id}"}`, -32001},
	"thread.resume":      {`{"threadId":"{id}"}`, -32001},
	"thread.rewind":      {`{"threadId":"{id}","messageId":"itm_1"}`, -32001},
	"thread.health":      {`{"threadId":"{id}"}`, -32001},
	"turn.start":         {`{"threadId":"{id}","input":[{"type":"text","text":"attack"}]}`, -32001},
	"turn.steer":         {`{"threadId":"{id}","input":[{"type":"text","text":"attack"}]}`, -32001},
	"turn.cancel":        {`{"threadId":"{id}"}`, -32001},
	"approval.respond":   {`{"requestId":"{request}","decision":"once"}`, -32004},
	"rule.revoke":        {`{"ruleId":"{rule}"}`, -32602},
}

// rpcMethods are all of them, from the protocol's own description.
func rpcMethods(t testing.TB) (all []string) {
	t.Helper()
	var schema any
	if err := json.Unmarshal([]byte(mustRun(t, "stdio", "--schema")), &schema); err != nil {
		t.Fatal(err)
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if m, ok := v["method"].(map[string]any); ok && v["id"] != nil { // else a notification of the server
				if name, ok := m["const"].(string); ok && !slices.Contains(all, name) {
					all = append(all, name)
				}
			}
			for _, x := range v {
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(schema)
	if len(all) < 18 {
		t.Fatalf("only the methods %q", all)
	}
	return all
}

// TestEveryRoleHasItsVerbsAndNoMore is the table of roles and actions, each cell
// over HTTP, and the same with scopes; attack 20 is some of them.
func TestEveryRoleHasItsVerbsAndNoMore(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	theirs := h.session(t, "bob", "")
	deeds := map[gateway.Action]ask{
		gateway.List:      {method: "GET", path: "/sessions"},
		gateway.Read:      {method: "GET", path: "/sessions/{id}/events"},
		gateway.State:     {method: "GET", path: "/sessions/{id}/state"},
		gateway.Watch:     {method: "GET", path: "/sessions/{id}/events/stream"},
		gateway.Create:    {method: "POST", path: "/chat/sessions", body: `{}`},
		gateway.Submit:    {method: "POST", path: "/chat/sessions/{id}/turns", body: `{"prompt":"hello"}`},
		gateway.Steer:     {method: "POST", path: "/sessions/{id}/steer", body: `{"prompt":"hello"}`},
		gateway.Cancel:    {method: "POST", path: "/sessions/{id}/cancel", body: `{}`},
		gateway.Configure: {method: "PATCH", path: "/sessions/{id}", body: `{"title":"t"}`},
		gateway.Rewind:    {method: "POST", path: "/sessions/{id}/rewind", body: `{"message_id":"itm_1"}`},
		gateway.Pause:     {method: "POST", path: "/sessions/{id}/pause"},
		gateway.Resume:    {method: "POST", path: "/sessions/{id}/resume", body: `{}`},
		gateway.Remove:    {method: "DELETE", path: "/sessions/{id}"},
		gateway.Answer:    {method: "POST", path: "/approvals/apr_{id}.1", body: `{"decision":"allow"}`},
		gateway.Trust:     {method: "PATCH", path: "/sessions/{id}", body: `{"permission_mode":"full_auto"}`},
		gateway.Rules:     {method: "GET", path: "/rules"},
		gateway.Revoke:    {method: "DELETE", path: "/rules/rul_1"},
		gateway.Notify:    {method: "POST", path: "/webhooks", body: `{"name":"{id}","url":"https://example.com"}`},
		gateway.Schedule:  {method: "POST", path: "/schedules", body: `{"when":"@yearly","prompt":"go"}`},
		gateway.Grant:     {method: "POST", path: "/tokens", body: `{"name":"{id}","role":"admin"}`},
		gateway.ForOther:  {method: "GET", path: "/sessions/" + theirs},
		gateway.Import:    {method: "POST", path: "/sessions/import", body: "{}", header: http.Header{"Content-Type": {"application/jsonl"}}},
	}
	for _, r := range routesOf(t) {
		if slices.Contains(r.Needs, gateway.Inspect) {
			method, path, _ := strings.Cut(r.Pattern, " ")
			deeds[gateway.Inspect] = ask{method: method, path: path}
		}
	}
	for _, a := range gateway.Actions() {
		q, ok := deeds[a]
		if !ok {
			t.Fatalf("%s is not tried", a)
		}
		for _, as := range []string{"ada-viewer", "ada-operator", "ada", "root", "ada-reader", "ada-bot", "ada-pager", "wall", "scraper"} {
			q.as = as
			who := harness.Caller{Role: harness.CallerRole(guests[as][1]), Scope: harness.CallerScope(guests[as][2])}
			id := h.session(t, "ada", "")
			before := h.audited(t)
			got := h.send(t, q.on(id))
			no := got.status == 403
			if n := h.audited(t) - before; no && n != 1 {
				t.Errorf("%s as %s: %d lines in the audit", a, as, n)
			}
			may := gateway.May(who, a)
			if a == gateway.ForOther {
				may = may && gateway.May(who, gateway.Read)
				no = got.status == 404 || got.status == 403 && gateway.Allows(who.Role, a) // and not even whether there is one
			}
			if a == gateway.Trust {
				may = may && gateway.May(who, gateway.Configure)
			}
			if may == no || may && got.status >= 500 && got.status != 501 {
				t.Errorf("%s as %s: %d %s, allowed: %t", a, as, got.status, got.body, may)
			}
			if no && a != gateway.ForOther && !strings.Contains(got.body, `"forbidden"`) {
				t.Errorf("%s as %s: %s", a, as, got.body)
			}
			h.logged(t, got)
		}
	}
	if audit := h.lines(t, "audit.log", `"result":"forbidden"`); len(audit) < 15 {
		t.Errorf("the audit has %d lines of what was forbidden", len(audit))
	}
}

// commandsOf are the commands of a WebSocket, by what they need.
var commandsOf = map[string]gateway.Action{
	`"type":"submit","prompt":"attack"`:                            gateway.Submit,
	`"type":"resume","prompt":"attack","sessionId":"{id}"`:         gateway.Submit,
	`"type":"steer","message":"attack"`:                            gateway.Steer,
	`"type":"cancel"`:                                              gateway.Cancel,
	`"type":"approve","toolCallId":"{call}"`:                       gateway.Answer,
	`"type":"deny","toolCallId":"{call}"`:                          gateway.Answer,
	`"type":"configure","config":{"model":"m"}`:                    gateway.Configure,
	`"type":"configure","config":{"permissionMode":"acceptEdits"}`: gateway.Trust,
	`"type":"configure","config":{"permissionMode":"fullAuto"}`:    gateway.Trust,
	`"type":"rewind","messageId":"itm_1"`:                          gateway.Rewind,
}

// methodsOf are those of JSON-RPC.
var methodsOf = map[string]gateway.Action{
	"thread.create": gateway.Create, "thread.fork": gateway.Create, "turn.start": gateway.Submit, "turn.steer": gateway.Steer, "turn.cancel": gateway.Cancel,
	"approval.respond": gateway.Answer, "thread.configure": gateway.Configure, "thread.pause": gateway.Pause, "thread.resume": gateway.Resume,
	"thread.rewind": gateway.Rewind, "thread.get": gateway.Read, "thread.list": gateway.List, "thread.subscribe": gateway.Watch, "thread.unsubscribe": gateway.Watch, "thread.health": gateway.Read, "rule.list": gateway.Rules, "rule.revoke": gateway.Revoke,
}

// TestRolesHoldOnEveryProtocol is attack 20 over WebSocket and JSON-RPC.
func TestRolesHoldOnEveryProtocol(t *testing.T) {
	t.Parallel()
	for _, method := range rpcMethods(t) {
		if _, ok := methodsOf[method]; !ok && method != "initialize" { // which does nothing to a session
			t.Errorf("%s is not tried", method)
		}
	}
	h := newHouse(t)
	rule := func() string {
		id := h.session(t, "ada", "ask")
		request, _ := h.question(t, id)
		h.must(t, ask{as: "ada", method: "POST", path: "/approvals/" + request, body: `{"decision":"allow","scope":"always"}`})
		return h.must(t, ask{as: "ada", method: "GET", path: "/rules"})["rules"].([]any)[0].(map[string]any)["rule_id"].(string)
	}
	for role, as := range map[harness.CallerRole]string{harness.Viewer: "ada-viewer", harness.Operator: "ada-operator", harness.Approver: "ada", harness.Admin: "root"} {
		t.Run(string(role), func(t *testing.T) {
			question := func() (id, request, call string) {
				id = h.session(t, "ada", "ask")
				request, call = h.question(t, id)
				return id, request, call
			}
			one, asked, called := question() // for all that is refused
			watched, _ := h.viewAs(t, as, "?sessionId="+one)
			for command, a := range commandsOf {
				id, call, v := one, called, watched
				do := func(format string, args ...any) frame { return h.denies(t, v, format, args...) }
				if gateway.Allows(role, a) {
					id, _, call = question()
					v, _ = h.viewAs(t, as, "?sessionId="+id)
					do = v.do
				}
				f := do("%s", strings.NewReplacer("{id}", id, "{call}", call).Replace(command))
				if (f.Code == "forbidden") == gateway.Allows(role, a) {
					t.Errorf("%s: %+v", command, f)
				}
			}
			s := h.speakAs(t, as)
			for method, a := range methodsOf {
				id, request, standing := one, asked, ""
				switch {
				case method == "rule.revoke":
					standing = rule()
				case gateway.Allows(role, a):
					id, request, _ = question()
				}
				params := "{}"
				if c, ok := ofThread[method]; ok {
					params = strings.NewReplacer("{id}", id, "{request}", request, "{rule}", standing).Replace(c.params)
				}
				call := s.call
				if !gateway.Allows(role, a) {
					call = func(method, params string) answered { return h.declines(t, s, method, params) }
				}
				if got := call(method, params); (got.Error.Code == -32006) == gateway.Allows(role, a) {
					t.Errorf("%s: %s %+v", method, got.Result, got.Error)
				}
				if standing != "" { // else nobody is asked any more
					h.send(t, ask{as: "owner", method: "DELETE", path: "/rules/" + standing})
					one, asked, _ = question() // the rule has answered the other
				}
			}
		})
	}
	if v, _ := h.viewAs(t, "ada-viewer", ""); v != nil { // a viewer may look at the session that is not there yet, and not make it
		h.unchanged(t, func() {
			if f := h.denies(t, v, `"type":"submit","prompt":"attack"`); f.Code != "forbidden" {
				t.Errorf("a viewer's first command: %+v", f)
			}
		})
	}
}

// TestARuleIsOfItsUser: always, said by ada, answers none of bob's questions,
// neither those that wait nor those to come, also after a restart.
func TestARuleIsOfItsUser(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	waits := h.session(t, "bob", "ask")
	request, _ := h.question(t, waits)
	hers, _ := h.question(t, h.session(t, "ada", "ask"))
	h.must(t, ask{as: "ada", method: "POST", path: "/approvals/" + hers, body: `{"decision":"allow","scope":"always"}`})
	h.settled(t)
	another := h.session(t, "ada", "ask")
	v, _ := h.viewAs(t, "ada", "?sessionId="+another)
	v.see("that ada is not asked again", saying("done"))
	later := h.session(t, "bob", "ask")
	h.question(t, later)
	if got, _ := h.question(t, waits); got != request || len(h.applied(t, waits)) != 0 {
		t.Errorf("ada's rule answered bob's question")
	}
}
