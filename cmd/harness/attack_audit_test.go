package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
)

// audit is every line of the audit.
func (h *house) audit(t testing.TB) [][]byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(h.dir, "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.SplitAfter(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))[:bytes.Count(b, []byte("\n"))]
}

// audited is how many lines the audit has.
func (h *house) audited(t testing.TB) int {
	t.Helper()
	return len(h.audit(t))
}

// refusals are the lines of an audit of something that was refused.
func refusals(t testing.TB, dir string) (all []string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if !strings.Contains(line, `"result":"ok"`) {
			all = append(all, line)
		}
	}
	if len(all) == 0 {
		attacked.saw(t, sawQuiet)
	}
	return all
}

// refused makes an attack that the server refuses: it leaves exactly one line in
// the audit, which says who was refused what and why. Which attacks must go
// through this, and which through harmless, is in the list of attacks.
func (h *house) refused(t testing.TB, what string, attack func()) {
	t.Helper()
	h.leaves(t, what, 1, attack)
}

// harmless makes an attack that is nothing to the server: there is nothing to
// refuse, and the audit does not mention it.
func (h *house) harmless(t testing.TB, what string, attack func()) {
	t.Helper()
	h.leaves(t, what, 0, attack)
}

// leaves is refused for several attacks at once, of which each has its line.
func (h *house) leaves(t testing.TB, what string, lines int, attack func()) {
	t.Helper()
	before := h.audited(t)
	attack()
	all := h.audit(t)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); len(all) < before+lines && time.Now().Before(end); all = h.audit(t) { // an end of a connection is told before its line is written
		<-tick.C
	}
	if n := len(all) - before; n != lines {
		t.Errorf("%.200s: %d lines in the audit, want %d:\n%s", what, n, lines, bytes.Join(all[before:], nil))
		return
	}
	for _, line := range all[before:] {
		if why := h.unlike(line); why != "" {
			t.Errorf("%.200s: the audit %s: %s", what, why, line)
		}
	}
	if lines > 0 {
		attacked.saw(t, sawLine)
	} else {
		attacked.saw(t, sawQuiet)
	}
}

// unlike says what a line is not that tells of a refusal.
func (h *house) unlike(line []byte) string {
	var m struct {
		Record struct {
			Caller, Remote, Action, Request, Result, Reason string
		}
	}
	r := &m.Record
	switch err := json.Unmarshal(line, &m); {
	case err != nil:
		return err.Error()
	case r.Caller == "" && r.Remote == "":
		return "does not say who"
	case r.Action == "" && r.Request == "":
		return "does not say what"
	case r.Result == "" || r.Result == "ok" || r.Reason == "":
		return "does not say why"
	case bytes.ContainsFunc(bytes.TrimSuffix(line, []byte("\n")), unicode.IsControl):
		return "has control characters"
	case len(line) > 4096:
		return fmt.Sprintf("has %d bytes", len(line))
	}
	for name, token := range h.tokens {
		if bytes.Contains(line, []byte(token[8:20])) {
			return "has the token " + name
		}
	}
	return ""
}

// attack sends what must be refused: it changes nothing, and has one line in the
// access log and one in the audit.
func (h *house) attack(t testing.TB, q ask) (got reply) {
	t.Helper()
	h.unchanged(t, func() {
		h.refused(t, fmt.Sprintf("%s %.100s as %s", q.method, q.path, q.as), func() { got = h.send(t, q) })
	})
	h.logged(t, got)
	return got
}

// denied is attack for many that are watched together: what they change is.
func (h *house) denied(t testing.TB, q ask) (got reply) {
	t.Helper()
	h.refused(t, fmt.Sprintf("%s %.100s as %s, %.100q", q.method, q.path, q.as, q.body), func() { got = h.send(t, q) })
	h.logged(t, got)
	return got
}

// denies is a command over WebSocket that is refused.
func (h *house) denies(t testing.TB, v *viewer, format string, args ...any) (f frame) {
	t.Helper()
	h.refused(t, "WebSocket: "+fmt.Sprintf(format, args...), func() { f = v.do(format, args...) })
	return f
}

// declines is a call of JSON-RPC that is refused.
func (h *house) declines(t testing.TB, s *speaker, method, params string) (a answered) {
	t.Helper()
	h.refused(t, "JSON-RPC: "+method+" "+params, func() { a = s.call(method, params) })
	return a
}

// TestTheAuditSaysWhoAndWhy, in words that are escaped, of what is refused
// before anybody is known, at the gate, and in the text of a message.
func TestTheAuditSaysWhoAndWhy(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id, bobs := h.session(t, "ada", "hello"), h.session(t, "bob", "")
	h.settled(t)
	last := func() string { all := h.audit(t); return string(all[len(all)-1]) }
	has := func(words ...string) {
		t.Helper()
		for _, w := range words {
			if !strings.Contains(last(), w) {
				t.Errorf("the line %s lacks %s", last(), w)
			}
		}
	}
	h.denied(t, ask{method: "GET", path: "/sessions"})
	has(`"caller":""`, `"remote":"127.`, `"request":"GET /sessions"`, `"result":"unauthenticated"`, `"reason":"no token was sent`)
	h.denied(t, ask{as: "ada", method: "GET", path: "/sessions", host: "evil.example"})
	has(`"result":"misdirected"`, `"detail":"host evil.example"`)
	h.denied(t, ask{as: "ada", method: "GET", path: "/sessions/" + bobs})
	has(`"caller":"ada"`, `"user":"ada"`, `"result":"foreign"`, `"session":"`+bobs, `"request":"GET /sessions/`+bobs, `"remote":"127.`)
	h.denied(t, ask{as: "ada", method: "POST", path: "/chat/sessions/" + id + "/turns", body: `{"prompt":`})
	has(`"caller":"ada"`, `"session":"`+id, `"result":"invalid"`, `"reason":"body: must be JSON`)
	h.attack(t, ask{as: "ada", method: "GET", path: "/a%0d%0ab%1b%5b2J%e2%80%ae"})
	has(`"request":"GET /a\\u{d}\\u{a}b\\u{1b}[2J\\u{202e}"`, `"result":"no_such_path"`)
	v, _ := h.viewAs(t, "ada", "?sessionId="+id)
	h.denies(t, v, `"type":"rewind","messageId":"../x"`)
	has(`"request":"websocket message"`, `"result":"invalid"`)
	h.declines(t, h.speakAs(t, "ada"), "no.such\u202emethod", "{}")
	has(`"caller":"ada"`, `"request":"jsonrpc no.such`, `"result":"method_not_found"`)
	h.harmless(t, "cancel of nothing", func() { // says how things stand
		if f := v.do(`"type":"cancel"`); f.Code != "not_running" {
			t.Errorf("%+v", f)
		}
	})
}
