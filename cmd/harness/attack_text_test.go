package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// texts are JSON that two readers could understand differently, or that costs
// more than it says, around a command that must not be carried out. %s is where
// the members of the protocol stand.
var texts = map[string]string{
	"11,000 nested arrays":     `{%s,"x":` + strings.Repeat("[", 11_000) + strings.Repeat("]", 11_000) + `}`,
	"65 nested objects":        `{%s,"x":` + strings.Repeat(`{"a":`, 64) + "1" + strings.Repeat("}", 64) + `}`,
	"a key twice":              `{%s,"x":1,"x":2}`,
	"a key twice, escaped":     `{%s,"x":1,"\u0078":2}`,
	"keys that differ in case": `{%s,"xy":1,"XY":2}`,
	"Kelvin's sign":            `{%s,"k":1,"` + "\u212a" + `":2}`,
	"trailing bytes":           `{%s} x`,
	"a second value":           `{%s} {}`,
	"half a surrogate":         `{%s,"x":"\ud800"}`,
	"a byte order mark":        "\xef\xbb\xbf{%s}",
	"1e999":                    `{%s,"x":1e999}`,
	"NUL":                      `{%s,"x":"\u0000"}`,
	"a control character":      "{%s,\"x\":\"\x01\"}",
	"513 keys":                 `{%s,"x":{` + keyed(513) + `}}`,
	"a comment":                `{%s /* x */}`,
	"single quotes":            `{%s,'x':1}`,
	"NaN":                      `{%s,"x":NaN}`,
	"cut off":                  `{%s`,
}

// notUTF8 is apart: over WebSocket it ends the connection (RFC 6455, 8.1).
const notUTF8 = "{%s,\"x\":\"\xff\"}"

func keyed(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":1`, i)
	}
	return b.String()[1:]
}

// TestTextsWithTwoMeaningsAreRefused is attack 36, on every protocol: one
// error, nothing done, and the connection is as good as before.
func TestTextsWithTwoMeaningsAreRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.session(t, "ada", "hello")
	h.settled(t)
	t.Run("HTTP", func(t *testing.T) {
		h.unchanged(t, func() {
			for name, text := range withUTF8(texts) {
				got := h.denied(t, ask{as: "ada", method: "POST", path: "/chat/sessions/" + id + "/turns", body: fmt.Sprintf(text, `"prompt":"attack"`)})
				if got.status != 400 || !strings.Contains(got.body, `"invalid"`) {
					t.Errorf("%s: %d %s", name, got.status, got.body)
				}
			}
		})
	})
	t.Run("WebSocket", func(t *testing.T) {
		v, _ := h.viewAs(t, "ada", "?sessionId="+id)
		message := func(name, text, code string) {
			h.refused(t, name, func() {
				if err := v.ws.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
					t.Fatal(err)
				}
				if f, err := v.next(); err != nil || f.Type != "error" || f.Code != code {
					t.Errorf("%s: %+v, %v", name, f, err)
				}
			})
		}
		h.unchanged(t, func() {
			for name, text := range texts {
				message(name, fmt.Sprintf(text, `"type":"commands","commands":[{"type":"submit","prompt":"attack"}]`), "invalid")
			}
			message("TYPE for type", `{"TYPE":"commands","commands":[]}`, "invalid")
			message("no prototype", `{"__proto__":{"type":"commands"},"constructor":1}`, "invalid")
			message("65 commands", `{"type":"commands","commands":[`+strings.Repeat(`{"type":"submit","prompt":"attack"},`, 64)+`{"type":"cancel"}]}`, "too_large")
			h.harmless(t, "a command afterwards", func() {
				if f := v.do(`"type":"cancel"`); f.Code != "not_running" {
					t.Errorf("afterwards the connection says %+v", f)
				}
			})
		})
	})
	t.Run("JSON-RPC", func(t *testing.T) {
		s := h.speakAs(t, "ada")
		h.unchanged(t, func() {
			for name, text := range withUTF8(texts) {
				var a answered
				h.refused(t, name, func() {
					a = s.line(fmt.Sprintf(text, fmt.Sprintf(`"jsonrpc":"2.0","id":1,"method":"turn.start","params":{"threadId":%q,"input":[{"type":"text","text":"attack"}]}`, id)))
				})
				if a.Error.Code != -32700 || string(a.ID) != "null" {
					t.Errorf("%s: %+v", name, a)
				}
			}
			h.harmless(t, "a call afterwards", func() {
				if a := s.call("thread.get", fmt.Sprintf(`{"threadId":%q,"limit":1}`, id)); a.Error.Code != 0 {
					t.Errorf("afterwards the connection says %+v", a)
				}
			})
		})
	})
	t.Run("login", func(t *testing.T) {
		code := h.must(t, ask{as: "ada", method: "POST", path: "/login/code"})["code"].(string)
		for name, text := range withUTF8(texts) {
			got := h.denied(t, ask{method: "POST", path: "/login", body: fmt.Sprintf(text, fmt.Sprintf(`"code":%q`, code)), header: http.Header{"Origin": {h.http}}})
			if got.status != 400 && got.status != 413 || got.header.Get("Set-Cookie") != "" {
				t.Errorf("%s: %d %s", name, got.status, got.body)
			}
		}
	})
}

func withUTF8(texts map[string]string) map[string]string {
	all := map[string]string{"invalid UTF-8": notUTF8}
	for name, text := range texts {
		all[name] = text
	}
	return all
}

// TestFramesThatNoClientSends is attacks 35 and 37.
func TestFramesThatNoClientSends(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.session(t, "ada", "hello")
	h.settled(t)
	submit := `{"type":"commands","commands":[{"type":"submit","prompt":"attack"}]}`
	h.unchanged(t, func() {
		for name, c := range map[string]struct {
			frames []byte
			code   websocket.StatusCode // 0: an error, and the connection stays
		}{
			"binary":                      {wsFrame(0x82, true, submit), 0},
			"invalid UTF-8":               {wsFrame(0x81, true, "{\"type\":\"\xff\"}"), 1007},
			"an unknown opcode":           {wsFrame(0x83, true, submit), 1002},
			"an unmasked frame":           {wsFrame(0x81, false, submit), 1002},
			"compressed without agreeing": {wsFrame(0xc1, true, submit), 1002},
			"a fragmented ping":           {wsFrame(0x09, true, "x"), 1002},
			"a continuation of nothing":   {wsFrame(0x80, true, submit), 1002},
			"1 MiB and a byte":            {wsFrame(0x81, true, `{"type":"`+strings.Repeat("x", 1<<20-10)+`"}`), 0},
		} {
			r := h.rawSocket(t, "ada", "/ws?sessionId="+id)
			r.until("a state", func(op byte, _ []byte) bool { return op == 1 })
			var op byte
			var payload []byte
			h.refused(t, name, func() {
				r.write(c.frames)
				op, payload = r.until("an answer", func(byte, []byte) bool { return true })
			})
			switch {
			case c.code == 0 && (op != 1 || !strings.Contains(string(payload), `"type":"error"`)),
				c.code != 0 && (op != 8 || len(payload) < 2 || websocket.StatusCode(payload[0])<<8|websocket.StatusCode(payload[1]) != c.code):
				t.Errorf("%s: opcode %d, %q, want %d", name, op, payload, c.code)
			}
		}
	})
	h.unchanged(t, func() { // 10,000 fragments are one message, and it is counted as one
		r := h.rawSocket(t, "ada", "/ws?sessionId="+id)
		r.until("a state", func(op byte, _ []byte) bool { return op == 1 })
		var all []byte
		all = append(all, wsFrame(0x01, true, `{"type":"`)...)
		for range 10_000 {
			all = append(all, wsFrame(0x00, true, "x")...)
		}
		h.refused(t, "10,000 fragments", func() {
			r.write(append(all, wsFrame(0x80, true, `"}`)...))
			if op, payload := r.until("an answer", func(byte, []byte) bool { return true }); op != 1 || !strings.Contains(string(payload), "unknown message type") {
				t.Errorf("10,000 fragments: opcode %d, %.200q", op, payload)
			}
		})
	})
	before := h.resident(t)
	h.unchanged(t, func() { // a fragment that never ends is cut off or skipped, in bounded memory
		r := h.rawSocket(t, "ada", "/ws?sessionId="+id)
		r.until("a state", func(op byte, _ []byte) bool { return op == 1 })
		piece := wsFrame(0x00, true, strings.Repeat("x", 64<<10))
		h.refused(t, "a fragment that never ends", func() {
			r.try(wsFrame(0x01, true, `{"type":"`))
			for range 64 << 4 { // 64 MiB
				if !r.try(piece) {
					break
				}
			}
		})
	})
	if after := h.resident(t); after > before+32<<20 {
		t.Errorf("64 MiB in fragments grew the server from %d to %d KiB", before>>10, after>>10)
	}
}

// TestOddCallsAreAnswered is attack 40.
func TestOddCallsAreAnswered(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.session(t, "ada", "hello")
	h.settled(t)
	s := h.speakAs(t, "ada")
	start := fmt.Sprintf(`"method":"turn.start","params":{"threadId":%q,"input":[{"type":"text","text":"attack"}]}`, id)
	h.unchanged(t, func() {
		for name, c := range map[string]struct {
			line string
			code int
		}{
			"a batch of 50,000":    {"[" + strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"none"},`, 50_000) + "1]", -32600},
			"an empty batch":       {"[]", -32600},
			"id object":            {`{"jsonrpc":"2.0","id":{},` + start + `}`, -32600},
			"id array":             {`{"jsonrpc":"2.0","id":[1],` + start + `}`, -32600},
			"id true":              {`{"jsonrpc":"2.0","id":true,` + start + `}`, -32600},
			"no version":           {`{"id":1,` + start + `}`, -32600},
			"version 1.0":          {`{"jsonrpc":"1.0","id":1,` + start + `}`, -32600},
			"a method of 1 MB":     {`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("m", 1<<20) + `"}`, -32601},
			"a method in capitals": {`{"jsonrpc":"2.0","id":1,"method":"TURN.START"}`, -32601},
			"params of text":       {`{"jsonrpc":"2.0","id":1,"method":"turn.start","params":"x"}`, -32600},
			"params by position":   {`{"jsonrpc":"2.0","id":1,"method":"turn.start","params":["` + id + `"]}`, -32602},
			"a wrong type":         {`{"jsonrpc":"2.0","id":1,"method":"turn.start","params":{"threadId":7}}`, -32602},
			"a line of 5 MB":       {`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("m", 5<<20) + `"}`, -32600},
			"9 MB of {}":           {"[" + strings.Repeat("{},", 3<<20) + "{}]", -32600},
		} {
			h.refused(t, name, func() {
				if a := s.line(c.line); a.Error.Code != c.code {
					t.Errorf("%s: %+v, want %d", name, a, c.code)
				}
			})
		}
		for _, id := range []string{"null", "1e308", `""`, "-0"} {
			h.refused(t, "id "+id, func() {
				if a := s.line(`{"jsonrpc":"2.0","id":` + id + `,"method":"none"}`); a.Error.Code != -32601 || string(a.ID) != id {
					t.Errorf("id %s: %+v", id, a)
				}
			})
		}
		h.leaves(t, "a batch of four, a notification and a notification of nothing", 5, func() { // each is asked by itself, also what is not answered
			one := `{"jsonrpc":"2.0","id":1,"method":"none"},`
			if _, err := fmt.Fprintf(s.conn, `{"jsonrpc":"2.0",%s}`+"\n"+`[%s1]`+"\n", strings.Replace(start, id, absentID, 1), one+one+one); err != nil {
				t.Fatal(err)
			}
		})
	})
}

// resident is how much memory the server has had at most, in bytes.
func (h *house) resident(t testing.TB) (now int) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", h.cmd.Process.Pid))
	if err != nil {
		t.Skipf("this system does not say how large a process is: %v", err)
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
			if now, err = strconv.Atoi(f[1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	return now << 10
}

// TestNineMegabytesOfNothing: nine megabytes of empty objects, and as many as
// the largest message holds, grow the server by less than four times themselves,
// on every protocol.
func TestNineMegabytesOfNothing(t *testing.T) {
	t.Parallel()
	const size = 9 << 20
	nothing := "[" + strings.Repeat("{},", size/3) + "{}]"
	fits := "[" + strings.Repeat("{},", 1<<20/3-100) + "{}]"
	for name, attack := range map[string]func(t *testing.T, h *house, id, body string){
		"HTTP": func(t *testing.T, h *house, id, body string) {
			got := h.denied(t, ask{as: "ada", method: "POST", path: "/chat/sessions/" + id + "/turns", body: `{"prompt":"x","parts":` + body + `}`, header: http.Header{"Expect": {"100-continue"}}})
			if got.status != 413 && got.status != 400 {
				t.Errorf("%d %s", got.status, got.body)
			}
		},
		"JSON-RPC": func(t *testing.T, h *house, id, body string) {
			s := h.speakAs(t, "ada")
			h.refused(t, "JSON-RPC", func() {
				if a := s.line(`{"jsonrpc":"2.0","id":1,"method":"turn.start","params":{"threadId":"` + id + `","input":` + body + `}}`); a.Error.Code == 0 {
					t.Errorf("%+v", a)
				}
			})
		},
		"WebSocket": func(t *testing.T, h *house, id, body string) {
			v, _ := h.viewAs(t, "ada", "?sessionId="+id)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			h.refused(t, "WebSocket", func() {
				if err := v.ws.Write(ctx, websocket.MessageText, []byte(`{"type":"commands","commands":`+body+`}`)); err != nil {
					t.Fatal(err)
				}
				if f, err := v.next(); err != nil || f.Code != "too_large" && f.Code != "invalid" {
					t.Errorf("%+v, %v", f, err)
				}
			})
		},
		"import": func(t *testing.T, h *house, _, body string) {
			got := h.denied(t, ask{as: "owner", method: "POST", path: "/sessions/import", body: body, header: http.Header{"Content-Type": {"application/jsonl"}}})
			if got.status != 413 && got.status != 400 {
				t.Errorf("%d %s", got.status, got.body)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			id := h.session(t, "ada", "hello")
			h.unchanged(t, func() {
				attack(t, h, id, `["`+strings.Repeat("x", len(fits))+`"]`) // what any message of that size takes
				for _, body := range []string{fits, nothing} {
					before := h.resident(t)
					attack(t, h, id, body)
					after := h.resident(t)
					t.Logf("%d KiB: from %d to %d KiB", len(body)>>10, before>>10, after>>10)
					other := 0
					if len(body) == len(fits) {
						other = 8 << 20 // what a process comes to use meanwhile; a third of what a map for each {} takes
					}
					if after > before+4*len(body)+other {
						t.Errorf("%d KiB of {} grew the server from %d to %d KiB", len(body)>>10, before>>10, after>>10)
					}
				}
			})
		})
	}
}
