package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket"
)

// chromium is a real browser, driven by its DevTools.
type chromium struct {
	t       testing.TB
	ws      *websocket.Conn
	session string // of the page
	n       int
}

var devTools = regexp.MustCompile(`DevTools listening on (ws://\S+)`)

// browse starts a browser with an empty profile, to which evil.example is this
// machine.
func browse(t testing.TB) *chromium {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI has no Chromium")
		}
		t.Skip("there is no Chromium here")
	}
	cmd := exec.Command(path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-port=0",
		"--user-data-dir="+t.TempDir(), "--host-resolver-rules=MAP evil.example 127.0.0.1", "about:blank")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // with all its helpers
		cmd.Wait()
	})
	lines, said := bufio.NewScanner(stderr), ""
	for lines.Scan() {
		if m := devTools.FindStringSubmatch(lines.Text()); m != nil {
			c := &chromium{t: t}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if c.ws, _, err = websocket.Dial(ctx, m[1], nil); err != nil {
				t.Fatal(err)
			}
			c.ws.SetReadLimit(-1)
			t.Cleanup(func() { c.ws.CloseNow() })
			go func() { // it must not block on what it says
				for lines.Scan() {
				}
			}()
			c.page()
			return c
		}
		said += lines.Text() + "\n"
	}
	t.Fatalf("the browser does not start:\n%s", said)
	return nil
}

// call is a command of the DevTools protocol that must succeed.
func (c *chromium) call(method string, params map[string]any) map[string]any {
	c.t.Helper()
	result, refused := c.attempt(method, params)
	if refused != nil {
		c.t.Fatalf("%s: %v", method, refused)
	}
	return result
}

func (c *chromium) attempt(method string, params map[string]any) (result map[string]any, refused any) {
	c.t.Helper()
	c.n++
	text, err := json.Marshal(map[string]any{"id": c.n, "method": method, "params": params, "sessionId": c.session})
	if c.session == "" {
		text, err = json.Marshal(map[string]any{"id": c.n, "method": method, "params": params})
	}
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	if err := c.ws.Write(ctx, websocket.MessageText, text); err != nil {
		c.t.Fatal(err)
	}
	for {
		_, text, err := c.ws.Read(ctx)
		if err != nil {
			c.t.Fatalf("%s: %v", method, err)
		}
		var m struct {
			ID     int
			Result map[string]any
			Error  any
		}
		if err := json.Unmarshal(text, &m); err != nil {
			c.t.Fatal(err)
		}
		if m.ID == c.n {
			return m.Result, m.Error
		}
	}
}

// page opens a page, on which what follows is done.
func (c *chromium) page() {
	c.t.Helper()
	c.session = ""
	target := c.call("Target.createTarget", map[string]any{"url": "about:blank"})["targetId"]
	c.session, _ = c.call("Target.attachToTarget", map[string]any{"targetId": target, "flatten": true})["sessionId"].(string)
	if c.session == "" {
		c.t.Fatal("no page")
	}
}

// at navigates and evaluates an expression there, when the page is loaded; a
// promise is waited for.
func (c *chromium) at(url, expression string) string {
	c.t.Helper()
	c.call("Page.navigate", map[string]any{"url": url})
	loaded := `new Promise(ok => { const look = () => document.readyState === "complete" && location.href !== "about:blank" ? ok() : setTimeout(look, 10); look(); })`
	return c.eval(loaded + `.then(() => ` + expression + `)`)
}

// reaches waits until the page has gone to a path by itself.
func (c *chromium) reaches(path string) {
	c.t.Helper()
	until(c.t, "the page to go to "+path, func() bool {
		r, _ := c.attempt("Runtime.evaluate", map[string]any{"expression": `document.readyState + " " + location.pathname`, "returnByValue": true})
		result, _ := r["result"].(map[string]any)
		return result["value"] == "complete "+path
	})
}

func (c *chromium) eval(expression string) string {
	c.t.Helper()
	r := c.call("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true})
	result, _ := r["result"].(map[string]any)
	if r["exceptionDetails"] != nil {
		c.t.Fatalf("%s: %v", expression, r["exceptionDetails"])
	}
	return fmt.Sprint(result["value"])
}

// knock is what an evil page does: it tries to open the socket and to speak, to
// read with the visitor's cookie, and to make a session by every kind of request
// that needs no leave.
const knock = `(async (base) => {
  const out = {};
  const socket = (name, url, protocols) => new Promise((done) => {
    const ws = new WebSocket(url, protocols);
    ws.onopen = () => { ws.send('{"type":"commands","commands":[{"type":"submit","prompt":"attack"}]}'); out[name] = "open"; done(); };
    ws.onerror = () => { out[name] = "refused"; done(); };
  });
  await socket("ws", base.replace("http", "ws") + "/ws?userId=ada");
  await socket("protocol", base.replace("http", "ws") + "/ws?userId=ada", ["harness.v1"]);
  const get = async (name, url, init) => {
    try { const r = await fetch(url, init); out[name] = r.type === "opaque" ? "opaque" : r.status + " " + (await r.text()).slice(0, 40); }
    catch (e) { out[name] = "blocked"; }
  };
  await get("read", base + "/sessions", { credentials: "include" });
  await get("post", base + "/chat/sessions", { method: "POST", credentials: "include", body: '{"title":"attack"}', headers: { "Content-Type": "application/json" } });
  await get("simple", base + "/chat/sessions", { method: "POST", mode: "no-cors", credentials: "include", body: '{"title":"attack"}', headers: { "Content-Type": "text/plain" } });
  await get("beacon", base + "/logout", { method: "POST", mode: "no-cors", credentials: "include" });
  await get("events", base + "/sessions/x/events/stream", { credentials: "include" });
  await new Promise((done) => {
    const frame = document.createElement("iframe");
    frame.name = "f"; frame.onload = () => done(); document.body.append(frame);
    const form = document.createElement("form");
    form.method = "post"; form.enctype = "text/plain"; form.target = "f"; form.action = base + "/chat/sessions";
    const field = document.createElement("input");
    field.name = '{"title":"attack","x":"'; field.value = '"}';
    form.append(field); document.body.append(form); form.submit();
    setTimeout(done, 3000);
  });
  return JSON.stringify(out);
})`

// noted has a page keep the addresses of whatever its scripts ask for.
const noted = `window.asked = [];
for (const name of ["EventSource", "WebSocket"]) {
  const real = window[name];
  window[name] = class extends real { constructor(to, ...more) { asked.push(new URL(to, location).href); super(to, ...more); } };
}
const real = window.fetch;
window.fetch = (to, ...more) => { asked.push(new URL(to.url ?? to, location).href); return real(to, ...more); };`

// counted is how many lines of a log match.
func (h *house) counted(t testing.TB, log string, like *regexp.Regexp) (n int) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(h.dir, log))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		if like.Match(line) {
			n++
		}
	}
	return n
}

// TestPagesOfOtherOriginsCannotUseABrowserThatIsLoggedIn: a real Chromium logs
// in, then visits pages of another port, another site, and of the server itself
// under another's name (DNS rebinding).
func TestPagesOfOtherOriginsCannotUseABrowserThatIsLoggedIn(t *testing.T) {
	attacked.begin(t)
	t.Parallel()
	c := browse(t)
	h := newHouse(t)
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>nice</title><body>")
	}))
	defer evil.Close()
	evilPort := evil.URL[strings.LastIndexByte(evil.URL, ':')+1:]

	page, code := h.printedLogin()
	c.call("Page.navigate", map[string]any{"url": page + "#code=" + code})
	c.reaches("/")
	if got := c.at(h.http+"/", `fetch("/whoami").then(r => r.text())`); !strings.Contains(got, `"admin"`) {
		t.Fatalf("the login page did not log in: %s", got)
	}
	own := `new Promise(ok => { const ws = new WebSocket(location.origin.replace("http", "ws") + "/ws?userId=ada"); ws.onmessage = (e) => ok(e.data); ws.onerror = () => ok("refused"); })`
	if got := c.eval(own); !strings.Contains(got, `"state"`) {
		t.Errorf("the server's own page is refused: %s", got)
	}
	if got := c.eval(`document.cookie`); got != "" {
		t.Errorf("a script reads the cookie: %s", got)
	}
	h.unchanged(t, func() {
		for name, origin := range map[string]string{
			"another port": "http://127.0.0.1:" + evilPort, "another name of this machine": "http://localhost:" + evilPort, "another site": "http://evil.example:" + evilPort,
		} {
			var got map[string]string
			if err := json.Unmarshal([]byte(c.at(origin+"/", knock+`(`+fmt.Sprintf("%q", h.http)+`)`)), &got); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{"ws": "refused", "protocol": "refused", "read": "blocked", "post": "blocked", "simple": "opaque", "beacon": "opaque", "events": "blocked"}
			for what, wanted := range want {
				if got[what] != wanted && !(wanted == "opaque" && got[what] == "blocked") {
					t.Errorf("%s: %s is %s, want %s", name, what, got[what], wanted)
				}
			}
		}
		if got := c.at("http://evil.example:"+h.port+"/", `document.body.innerText`); !strings.Contains(got, "misdirected") {
			t.Errorf("the server under another's name: %s", got)
		}
		if got := c.eval(knock + `("http://evil.example:` + h.port + `")`); strings.Contains(got, "open") || strings.Contains(got, `"200`) || strings.Contains(got, `"201`) {
			t.Errorf("a rebound page: %s", got)
		}
	})
	if got := c.at(h.http+"/", `fetch("/whoami").then(r => r.text())`); !strings.Contains(got, `"admin"`) {
		t.Errorf("another page logged the visitor out: %s", got)
	}
	if len(h.lines(t, "audit.log", `"detail":"origin http://evil.example:`)) == 0 || len(h.lines(t, "access.log", `"origin":"http://evil.example:`)) == 0 {
		t.Error("the logs do not say who tried")
	}
	until(t, "a line in the audit for each request that was refused", func() bool {
		return h.counted(t, "access.log", regexp.MustCompile(`"status":4(0[0-8]|[1-9])`)) == h.counted(t, "audit.log", regexp.MustCompile(`"remote":"127`))
	})
	// Attack 55: neither the console nor the login page takes a server from its address.
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a page went to another server") }))
	defer other.Close()
	c.call("Page.enable", nil)
	c.call("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": noted})
	for _, where := range []string{"?server=" + other.URL, "?server=" + strings.Replace(other.URL, "http", "ws", 1), "?gatewayUrl=" + other.URL, "#gatewayUrl=" + other.URL} {
		c.at("about:blank#", "1") // or another fragment would be the same page
		h.harmless(t, "the console at /"+where, func() {
			all := c.at(h.http+"/"+where, `new Promise(ok => { const look = () => (window.asked ?? []).some((to) => to.includes("/sessions/stream")) ? ok(asked.join(" ")) : setTimeout(look, 10); look(); })`)
			for to := range strings.FieldsSeq(all) {
				if !strings.HasPrefix(to, h.http+"/") {
					t.Errorf("the console at /%s asked %s", where, to)
				}
			}
		})
	}
	c.call("Page.navigate", map[string]any{"url": h.http + "/login?server=" + other.URL})
	c.reaches("/") // whoever is logged in goes on, here
	for _, where := range []string{"#gatewayUrl=" + other.URL + "&code=x", "?gatewayUrl=" + other.URL + "#code=x"} {
		if got := c.at(h.http+"/login"+where, `new Promise(ok => { const look = () => document.getElementById("text").textContent.startsWith("Logging") ? setTimeout(look, 10) : ok(document.getElementById("text").textContent); look(); })`); !strings.Contains(got, "used already") {
			t.Errorf("%s: %s", where, got)
		}
	}
}
