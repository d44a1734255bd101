package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"harness"
	"harness/gateway"
	"harness/internal/strict"
)

// border is a limit on the wire: what is answered to something that has n of
// it. The answers are compared, so that each is met at exactly the limit.
type border struct {
	what  string
	limit int
	send  func(t *testing.T, n int) string
	ok    string
	over  string
}

// padded is a JSON object of n bytes with these members and white space.
func padded(members string, n int) string {
	text := "{" + members + "}"
	return text + strings.Repeat(" ", n-len(text))
}

// deep is a JSON array of n levels.
func deep(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// limitOf is the value of a limit as the server documents it.
func limitOf(t testing.TB, name string) int {
	t.Helper()
	for _, b := range bounds {
		for _, l := range b.all() {
			if l.Name != name {
				continue
			}
			number, unit, _ := strings.Cut(l.Value, " ")
			n, err := strconv.Atoi(number)
			scale, ok := map[string]int{"": 1, "KiB": 1 << 10, "MiB": 1 << 20}[unit]
			if err != nil || !ok {
				t.Fatalf("the limit %s is %s", name, l.Value)
			}
			return n * scale
		}
	}
	t.Fatalf("there is no limit %s", name)
	return 0
}

// TestEveryLimitIsMetExactly: as much as the limit is served, one more is
// refused in the documented way, over HTTP, WebSocket and JSON-RPC. Limits of
// time and of connections are in TestWhoIsSlowIsCutOff, TestConnectionsAreBounded
// and TestConnectionsOfAUserAreBounded; rates in gateway's
// TestTheRatesOfTheEdgeAreExact and TestThePaceOfCommandsIsExact.
func TestEveryLimitIsMetExactly(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var id string // each border has a session: what others have said is not read again
	http := func(body string) string {
		got := h.send(t, ask{as: "ada", method: "POST", path: "/chat/sessions/" + id + "/turns", body: body, header: http.Header{"Accept": {"application/json"}, "Expect": {"100-continue"}}})
		return fmt.Sprint(got.status)
	}
	socket := func(t *testing.T, text string) string {
		v, _ := h.viewAs(t, "ada", "?sessionId="+id)
		if err := v.ws.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
			t.Fatal(err)
		}
		for answers := strings.Count(text, `"commandId"`); ; {
			f, err := v.next()
			if err != nil {
				return err.Error()
			}
			if f.Type == "ack" {
				answers--
			}
			if f.Type == "error" || answers == 0 {
				return strings.TrimSuffix(f.Type+" "+f.Code, " ")
			}
		}
	}
	commands := func(list string) string { return `{"type":"commands","commands":[` + list + `]}` }
	rpc := func(t *testing.T, line string) string {
		return fmt.Sprint(h.speakAs(t, "ada").line(line).Error.Code)
	}
	pause := func(more string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"thread.get","params":{"threadId":%q,"limit":1%s}}`, id, more)
	}
	for _, b := range []border{
		{"head of a request", gateway.MaxHeader, func(t *testing.T, n int) string {
			head := "GET /whoami HTTP/1.1\r\nHost: " + h.host + "\r\nAuthorization: Bearer " + h.tokens["ada"] + "\r\nConnection: close\r\nX: "
			return h.raw(t, head+strings.Repeat("x", n-len(head)-4)+"\r\n\r\n")
		}, "200", "431"},
		{"URL", gateway.MaxURL, func(t *testing.T, n int) string {
			return fmt.Sprint(h.send(t, ask{as: "ada", method: "GET", path: "/whoami?x=" + strings.Repeat("x", n-len("/whoamix="))}).status)
		}, "200", "414"},
		{"body of a request", gateway.MaxBody, func(_ *testing.T, n int) string {
			return http(padded(`"prompt":"x"`, n))
		}, "202", "413"},
		{"body of a login", limitOf(t, "body of a login"), func(t *testing.T, n int) string {
			code := h.must(t, ask{as: "ada", method: "POST", path: "/login/code"})["code"].(string)
			got := h.send(t, ask{method: "POST", path: "/login", body: padded(fmt.Sprintf(`"code":%q`, code), n), header: map[string][]string{"Origin": {h.http}}})
			return fmt.Sprint(got.status)
		}, "200", "413"},
		{"prompt over HTTP", harness.MaxPrompt, func(_ *testing.T, n int) string {
			return http(`{"prompt":"` + strings.Repeat("x", n) + `"}`)
		}, "202", "400"},
		{"prompt over WebSocket", harness.MaxPrompt, func(t *testing.T, n int) string {
			return socket(t, commands(`{"type":"submit","commandId":"p`+fmt.Sprint(n)+`","prompt":"`+strings.Repeat("x", n)+`"}`))
		}, "ack", "error too_large"},
		{"prompt over JSON-RPC", harness.MaxPrompt, func(t *testing.T, n int) string {
			return rpc(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"turn.start","params":{"threadId":%q,"input":[{"type":"text","text":"%s"}]}}`, id, strings.Repeat("x", n)))
		}, "0", "-32602"},
		{"WebSocket message", limitOf(t, "WebSocket message"), func(t *testing.T, n int) string {
			return socket(t, padded(`"type":"commands","commands":[{"type":"configure","commandId":"f","config":{"model":"m"}}]`, n))
		}, "ack", "error too_large"},
		{"commands of a message", limitOf(t, "commands of a message"), func(t *testing.T, n int) string {
			return socket(t, commands(strings.TrimSuffix(strings.Repeat(`{"type":"configure","commandId":"c","config":{"model":"m"}},`, n), ",")))
		}, "ack", "error too_large"},
		{"id of a command", harness.MaxID, func(t *testing.T, n int) string {
			return socket(t, commands(`{"type":"configure","commandId":"`+strings.Repeat("c", n)+`","config":{"model":"m"}}`))
		}, "ack", "error invalid"},
		{"line of JSON-RPC", limitOf(t, "line of JSON-RPC"), func(t *testing.T, n int) string {
			line := pause("") // and its end
			return rpc(t, line+strings.Repeat(" ", n-len(line)-1))
		}, "0", "-32600"},
		{"batch of JSON-RPC", limitOf(t, "batch of JSON-RPC"), func(t *testing.T, n int) string {
			return h.batch(t, "["+strings.TrimSuffix(strings.Repeat(pause("")+",", n), ",")+"]")
		}, "answered", "-32600"},
		{"depth over HTTP", strict.MaxDepth, func(t *testing.T, n int) string {
			return fmt.Sprint(h.send(t, ask{as: "ada", method: "POST", path: "/policy/test", body: `{"tool":"read","input":` + deep(n-1) + `}`}).status)
		}, "200", "400"},
		{"depth over WebSocket", strict.MaxDepth, func(t *testing.T, n int) string {
			return socket(t, `{"type":"commands","x":`+deep(n-1)+`,"commands":[{"type":"configure","commandId":"d","config":{"model":"m"}}]}`)
		}, "ack", "error invalid"},
		{"depth over JSON-RPC", strict.MaxDepth, func(t *testing.T, n int) string {
			return rpc(t, pause(`,"x":`+deep(n-2)))
		}, "0", "-32700"},
		{"keys over HTTP", strict.MaxKeys, func(t *testing.T, n int) string {
			return fmt.Sprint(h.send(t, ask{as: "ada", method: "POST", path: "/policy/test", body: `{"tool":"read","input":{` + keyed(n) + `}}`}).status)
		}, "200", "400"},
		{"keys over WebSocket", strict.MaxKeys, func(t *testing.T, n int) string {
			return socket(t, `{"type":"commands","x":{`+keyed(n)+`},"commands":[{"type":"configure","commandId":"k","config":{"model":"m"}}]}`)
		}, "ack", "error invalid"},
		{"keys over JSON-RPC", strict.MaxKeys, func(t *testing.T, n int) string {
			return rpc(t, pause(`,"x":{`+keyed(n)+`}`))
		}, "0", "-32700"},
	} {
		t.Run(strings.ReplaceAll(b.what, " ", "_"), func(t *testing.T) {
			id = h.session(t, "ada", "")
			if got := b.send(t, b.limit); got != b.ok {
				t.Errorf("%d: %s, want %s", b.limit, got, b.ok)
			}
			h.settled(t)
			h.unchanged(t, func() {
				h.refused(t, b.what, func() {
					if got := b.send(t, b.limit+1); got != b.over {
						t.Errorf("%d: %s, want %s", b.limit+1, got, b.over)
					}
				})
			})
		})
	}
	t.Run("failures_to_authenticate", func(t *testing.T) {
		from := h.stranger()
		for i := range 22 {
			c, err := from.Dial("tcp", h.host)
			if err != nil {
				t.Fatal(err)
			}
			c.SetDeadline(time.Now().Add(patience))
			io.WriteString(c, "GET /whoami HTTP/1.1\r\nHost: "+h.host+"\r\nAuthorization: Bearer "+gateway.TokenPrefix+strings.Repeat("w", 43)+"\r\nConnection: close\r\n\r\n")
			line, err := bufio.NewReader(c).ReadString('\n')
			c.Close()
			want := map[bool]string{true: "401", false: "429"}[i < 20]
			if err != nil || !strings.HasPrefix(line, "HTTP/1.1 "+want) {
				t.Errorf("failure %d: %q, %v, want %s", i+1, line, err, want)
			}
		}
	})
}

// raw sends a request as it is and returns the status.
func (h *house) raw(t *testing.T, text string) string {
	t.Helper()
	c, err := h.stranger().Dial("tcp", h.host)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil || len(line) < 12 {
		return fmt.Sprintf("%q, %v", line, err)
	}
	return line[9:12]
}

// batch sends a batch and says how it was answered.
func (h *house) batch(t *testing.T, text string) string {
	t.Helper()
	s := h.speakAs(t, "ada")
	s.conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(s.conn, text+"\n"); err != nil {
		t.Fatal(err)
	}
	line, err := s.r.ReadString('\n')
	switch {
	case err != nil:
		return err.Error()
	case strings.HasPrefix(line, "[") && !strings.Contains(line, `"error"`):
		return "answered"
	case strings.Contains(line, "-32600"):
		return "-32600"
	}
	return line
}
