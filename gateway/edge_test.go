package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/gateway"
)

// site is a real server with an edge, on a real listener.
type site struct {
	t      testing.TB
	dir    string
	token  string
	host   string // HOST:PORT
	edge   *gateway.Edge
	tokens *gateway.Tokens
	logins *gateway.Logins
	auth   *gateway.Auth
	access *bytes.Buffer
	mu     *sync.Mutex // guards access
	did    *int        // how often something was done; guarded by mu
}

type locked struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

func newSite(t testing.TB, auth gateway.AuthOptions, opts gateway.EdgeOptions) *site {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, dir: t.TempDir(), host: l.Addr().String(), access: new(bytes.Buffer), mu: new(sync.Mutex), did: new(int)}
	names, err := gateway.NewNames(l.Addr(), false)
	if err != nil {
		t.Fatal(err)
	}
	s.tokens = openTokens(t, s.dir, nil)
	s.token, _, _ = gateway.FirstToken(s.dir)
	s.logins = gateway.NewLogins(names, nil)
	auth.Tokens, auth.Logins = s.tokens, s.logins
	s.auth = gateway.NewAuth(names, auth)
	opts.Access = slog.New(slog.NewJSONHandler(locked{s.mu, s.access}, nil))
	s.edge = gateway.NewEdge(names, s.auth, &opts)
	s.logins.Mount(s.edge)
	act := func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		c, ok := harness.CallerOf(r.Context())
		s.mu.Lock()
		*s.did++
		s.mu.Unlock()
		fmt.Fprintf(w, "%t %s %s %s", ok, c.Name, c.User, c.Role)
	}
	s.edge.Handle(gateway.Route{Pattern: "POST /act"}, http.HandlerFunc(act))
	s.edge.Handle(gateway.Route{Pattern: "GET /look"}, http.HandlerFunc(act))
	s.edge.Handle(gateway.Route{Pattern: "GET /ws"}, http.HandlerFunc(act))
	s.edge.Handle(gateway.Route{Pattern: "GET /metrics", Needs: []gateway.Action{gateway.Inspect}}, http.HandlerFunc(act))
	s.edge.Handle(gateway.Route{Pattern: "GET /healthz", Public: true}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, `{"ok":true}`) }))
	srv := s.edge.Server(slog.New(slog.DiscardHandler))
	var serving sync.WaitGroup
	serving.Go(func() { srv.Serve(l) })
	t.Cleanup(func() { srv.Close(); serving.Wait() })
	return s
}

// done is how often something was done.
func (s *site) done() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.did
}

// lines takes the lines of the access log.
func (s *site) lines() []map[string]any {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []map[string]any
	for line := range bytes.Lines(s.access.Bytes()) {
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			s.t.Fatalf("%v in %s", err, line)
		}
		all = append(all, m)
	}
	s.access.Reset()
	return all
}

// request is one as a stranger could write it.
type request struct {
	method, path, body string
	header             map[string][]string
	host               string
}

func (s *site) do(q request) *http.Response {
	s.t.Helper()
	var body io.Reader
	if q.body != "" {
		body = strings.NewReader(q.body)
	}
	r, err := http.NewRequest(q.method, "http://"+s.host+q.path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	for k, v := range q.header {
		r.Header[http.CanonicalHeaderKey(k)] = v
	}
	if q.host != "" {
		r.Host = q.host
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		s.t.Fatalf("%s %s: %v", q.method, q.path, err)
	}
	b, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(b))
	return resp
}

func one(k, v string) map[string][]string { return map[string][]string{k: {v}} }

func (s *site) bearer() map[string][]string { return one("Authorization", "Bearer "+s.token) }

func with(h map[string][]string, more ...string) map[string][]string {
	all := map[string][]string{}
	for k, v := range h {
		all[k] = v
	}
	for i := 0; i < len(more); i += 2 {
		all[more[i]] = append(slices.Clone(all[more[i]]), more[i+1])
	}
	return all
}

// TestAttacksOnTheEdge are those of the list that need no session: expected
// status, nothing done, one line in the log.
func TestAttacksOnTheEdge(t *testing.T) {
	t.Parallel()
	s := newSite(t, gateway.AuthOptions{}, gateway.EdgeOptions{})
	port := s.host[strings.LastIndexByte(s.host, ':')+1:]
	ok := s.bearer()
	upgrade := func(h map[string][]string) map[string][]string {
		return with(h, "Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
	}
	cookie := s.loggedIn()
	for _, a := range []struct {
		name string
		q    request
		want int
	}{
		{"1 upgrade without a token", request{method: "GET", path: "/ws", header: upgrade(nil)}, 401},
		{"2 foreign origin", request{method: "GET", path: "/ws", header: upgrade(with(ok, "Origin", "https://evil.example"))}, 403},
		{"3 origin null", request{method: "GET", path: "/ws", header: upgrade(with(ok, "Origin", "null"))}, 403},
		{"4 rebinding", request{method: "GET", path: "/ws", host: "evil.example:" + port, header: upgrade(with(ok, "Origin", "http://evil.example:"+port))}, 421},
		{"5 other port", request{method: "GET", path: "/ws", header: upgrade(with(ok, "Origin", "http://localhost:1"))}, 403},
		{"6 suffix", request{method: "POST", path: "/act", header: with(ok, "Origin", "http://127.0.0.1.evil.com")}, 403},
		{"6 suffix of localhost", request{method: "POST", path: "/act", header: with(ok, "Origin", "http://localhost.evil.com:"+port)}, 403},
		{"6 userinfo", request{method: "POST", path: "/act", header: with(ok, "Origin", "http://localhost:"+port+"@evil.com")}, 403},
		{"6 upper case", request{method: "POST", path: "/act", header: with(ok, "Origin", "http://LOCALHOST:"+port)}, 403},
		{"6 https", request{method: "POST", path: "/act", header: with(ok, "Origin", "https://localhost:"+port)}, 403},
		{"6 two origins", request{method: "POST", path: "/act", header: with(ok, "Origin", "http://localhost:"+port, "Origin", "http://localhost:"+port)}, 403},
		{"6 empty origin", request{method: "POST", path: "/act", header: with(ok, "Origin", "")}, 403},
		{"7 other host", request{method: "GET", path: "/look", host: "evil", header: ok}, 421},
		{"7 two ports", request{method: "GET", path: "/look", host: "127.0.0.1:" + port + ":80", header: ok}, 421},
		{"7 trailing dot", request{method: "GET", path: "/look", host: "127.0.0.1.:" + port, header: ok}, 421},
		{"7 no port", request{method: "GET", path: "/look", host: "127.0.0.1", header: ok}, 421},
		{"8 empty", request{method: "POST", path: "/act", header: one("Authorization", "Bearer ")}, 401},
		{"8 null", request{method: "POST", path: "/act", header: one("Authorization", "Bearer null")}, 401},
		{"8 basic", request{method: "POST", path: "/act", header: one("Authorization", "Basic "+s.token)}, 401},
		{"8 no scheme", request{method: "POST", path: "/act", header: one("Authorization", s.token)}, 401},
		{"8 twice", request{method: "POST", path: "/act", header: with(ok, "Authorization", "Bearer "+s.token)}, 401},
		{"8 header and protocol", request{method: "GET", path: "/ws", header: with(ok, "Sec-WebSocket-Protocol", "harness.v1, bearer."+s.token)}, 401},
		{"8 query", request{method: "POST", path: "/act?token=" + s.token}, 401},
		{"8 query beside the header", request{method: "POST", path: "/act?access_token=" + s.token, header: ok}, 401},
		{"8 query under any name", request{method: "POST", path: "/act?x=" + s.token, header: ok}, 401},
		{"9 prefix", request{method: "POST", path: "/act", header: one("Authorization", "Bearer "+s.token[:40])}, 401},
		{"13 form with a cookie", request{method: "POST", path: "/act", body: `{}`, header: with(cookie, "Content-Type", "text/plain")}, 403},
		{"13 foreign form with a cookie", request{method: "POST", path: "/act", body: `{}`, header: with(cookie, "Origin", "https://evil.example")}, 403},
		{"14 cross-site", request{method: "POST", path: "/act", header: with(cookie, "Origin", "http://"+s.host, "Sec-Fetch-Site", "cross-site")}, 403},
		{"14 same-site", request{method: "POST", path: "/act", header: with(cookie, "Origin", "http://"+s.host, "Sec-Fetch-Site", "same-site")}, 403},
		{"14 cookie upgrade without an origin", request{method: "GET", path: "/ws", header: upgrade(cookie)}, 403},
		{"16 no route", request{method: "GET", path: "/nowhere"}, 401},
		{"16 other method", request{method: "DELETE", path: "/look"}, 401},
		{"16 guarded", request{method: "GET", path: "/metrics"}, 401},
		{"17 preflight", request{method: "OPTIONS", path: "/act", header: map[string][]string{"Origin": {"https://evil.example"}, "Access-Control-Request-Method": {"POST"}}}, 403},
		{"trace", request{method: "TRACE", path: "/look", header: ok}, 405},
		{"two cookies", request{method: "GET", path: "/look", header: with(cookie, "Cookie", s.logins.CookieName()+"=x")}, 401},
		{"a long URL", request{method: "GET", path: "/look?x=" + strings.Repeat("x", gateway.MaxURL), header: ok}, 414},
	} {
		t.Run(a.name, func(t *testing.T) {
			s.lines()
			before := s.done()
			a.q.header = with(a.q.header, "X-Forwarded-For", "10.9.8.7", "X-Forwarded-User", "admin") // ignored
			resp := s.do(a.q)
			if resp.StatusCode != a.want {
				b, _ := io.ReadAll(resp.Body)
				t.Errorf("%d %s, want %d", resp.StatusCode, b, a.want)
			}
			if s.done() != before {
				t.Error("it was done")
			}
			if resp.Header.Get("Access-Control-Allow-Origin") != "" || resp.Header.Get("Content-Security-Policy") == "" || resp.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("headers %v", resp.Header)
			}
			await(t, func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.access.Len() > 0 })
			lines := s.lines()
			if len(lines) != 1 || int(lines[0]["status"].(float64)) != a.want || !strings.HasPrefix(lines[0]["remote"].(string), "127.0.0.1:") {
				t.Errorf("log %v", lines)
			}
			if fmt.Sprint(lines) != strings.ReplaceAll(fmt.Sprint(lines), s.token, "") {
				t.Error("the token is in the log")
			}
		})
	}
}

func TestWhatIsAllowedGetsThrough(t *testing.T) {
	t.Parallel()
	s := newSite(t, gateway.AuthOptions{}, gateway.EdgeOptions{})
	cookie := s.loggedIn()
	port := s.host[strings.LastIndexByte(s.host, ':')+1:]
	for name, q := range map[string]request{
		"a token":                 {method: "POST", path: "/act", header: s.bearer()},
		"in lower case":           {method: "POST", path: "/act", header: one("Authorization", "bearer "+s.token)},
		"with our origin":         {method: "POST", path: "/act", header: with(s.bearer(), "Origin", "http://"+s.host)},
		"by another of our names": {method: "POST", path: "/act", host: "LocalHost:" + port, header: with(s.bearer(), "Origin", "http://localhost:"+port)},
		"by IPv6's name":          {method: "POST", path: "/act", host: "[::1]:" + port, header: with(s.bearer(), "Origin", "http://[::1]:"+port)},
		"a subprotocol":           {method: "GET", path: "/ws", header: one("Sec-WebSocket-Protocol", "harness.v1, bearer."+s.token)},
		"a cookie that looks":     {method: "GET", path: "/look", header: cookie},
		"a cookie that acts":      {method: "POST", path: "/act", header: with(cookie, "Origin", "http://"+s.host, "Sec-Fetch-Site", "same-origin")},
		"a cookie that upgrades":  {method: "GET", path: "/ws", header: with(cookie, "Upgrade", "websocket", "Origin", "http://"+s.host)},
		"a user in the query":     {method: "GET", path: "/ws?userId=abc", header: s.bearer()},
		"an admin's":              {method: "GET", path: "/metrics", header: s.bearer()},
	} {
		resp := s.do(q)
		b, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != 200 || !strings.HasPrefix(string(b), "true owner") {
			t.Errorf("%s: %d %s", name, resp.StatusCode, b)
		}
	}
	for _, path := range []string{"/nowhere", "/act"} {
		if resp := s.do(request{method: "GET", path: path, header: s.bearer()}); resp.StatusCode != 404 && resp.StatusCode != 405 {
			t.Errorf("GET %s: %d", path, resp.StatusCode)
		}
	}
}

func TestOnlyPublicRoutesAnswerStrangers(t *testing.T) {
	t.Parallel()
	s := newSite(t, gateway.AuthOptions{}, gateway.EdgeOptions{})
	var open []string
	for _, r := range s.edge.Routes() {
		method, path, _ := strings.Cut(r.Pattern, " ")
		resp := s.do(request{method: method, path: path})
		if refusedAtDoor := resp.StatusCode == 401 || resp.StatusCode == 429; refusedAtDoor == r.Public {
			t.Errorf("%s: %d, public %t", r.Pattern, resp.StatusCode, r.Public)
		}
		if r.Public {
			open = append(open, r.Pattern)
		}
	}
	if want := []string{"GET /healthz", "GET /login", "GET /login.css", "GET /login.js", "POST /login"}; !slices.Equal(open, want) {
		t.Errorf("open to everybody: %v", open)
	}
}

func TestARoleIsAskedFor(t *testing.T) {
	t.Parallel()
	s := newSite(t, gateway.AuthOptions{}, gateway.EdgeOptions{})
	token, err := gateway.AddToken(s.dir, gateway.Token{Name: "eve", User: "eve", Role: harness.Approver})
	if err != nil {
		t.Fatal(err)
	}
	h := one("Authorization", "Bearer "+token)
	await(t, func() bool { return s.do(request{method: "GET", path: "/look", header: h}).StatusCode == 200 })
	if resp := s.do(request{method: "GET", path: "/metrics", header: h}); resp.StatusCode != 403 {
		t.Errorf("%d", resp.StatusCode)
	}
}

func TestAuthOffStillKeepsOtherSitesOut(t *testing.T) {
	t.Parallel()
	s := newSite(t, gateway.AuthOptions{Off: true}, gateway.EdgeOptions{})
	if resp := s.do(request{method: "POST", path: "/act"}); resp.StatusCode != 200 {
		t.Errorf("%d", resp.StatusCode)
	}
	for _, q := range []request{
		{method: "POST", path: "/act", header: one("Origin", "https://evil.example")},
		{method: "POST", path: "/act", host: "evil.example"},
	} {
		if resp := s.do(q); resp.StatusCode != 403 && resp.StatusCode != 421 {
			t.Errorf("%+v: %d", q, resp.StatusCode)
		}
	}
}

// TestABodyIsBounded meets the bound exactly.
func TestABodyIsBounded(t *testing.T) {
	t.Parallel()
	s := newSite(t, gateway.AuthOptions{}, gateway.EdgeOptions{})
	for size, want := range map[int]int{gateway.MaxBody: 200, gateway.MaxBody + 1: 413} {
		if resp := s.do(request{method: "POST", path: "/act", header: s.bearer(), body: strings.Repeat("x", size)}); resp.StatusCode != want {
			t.Errorf("%d bytes: %d, want %d", size, resp.StatusCode, want)
		}
	}
	if resp := s.do(request{method: "GET", path: "/look", header: with(s.bearer(), "X-Long", strings.Repeat("x", 64<<10))}); resp.StatusCode != 431 {
		t.Errorf("a long header: %d", resp.StatusCode)
	}
}

func TestAURLIsBounded(t *testing.T) {
	t.Parallel()
	s := newSite(t, gateway.AuthOptions{}, gateway.EdgeOptions{})
	for more, want := range map[int]int{0: 200, 1: 414} {
		path := "/look?x="
		path += strings.Repeat("x", gateway.MaxURL-len("/lookx=")+more)
		if resp := s.do(request{method: "GET", path: path, header: s.bearer()}); resp.StatusCode != want {
			t.Errorf("%d over the bound: %d", more, resp.StatusCode)
		}
	}
}

func TestRequestsAreBounded(t *testing.T) {
	t.Parallel()
	s := newSite(t, gateway.AuthOptions{}, gateway.EdgeOptions{CallerBurst: 5, CallerEvery: time.Hour})
	for i := range 7 {
		resp := s.do(request{method: "GET", path: "/look", header: s.bearer()})
		if want := map[bool]int{true: 200, false: 429}[i < 5]; resp.StatusCode != want || want == 429 && resp.Header.Get("Retry-After") == "" {
			t.Errorf("request %d of a caller: %d", i+1, resp.StatusCode)
		}
	}
	r := httptest.NewRequest("GET", "http://"+s.host+"/healthz", nil)
	seen := map[int]int{}
	for range 1000 {
		w := httptest.NewRecorder()
		s.edge.ServeHTTP(w, r)
		seen[w.Code]++
	}
	if seen[200] < 200 || seen[200] > 600 || seen[200]+seen[429] != 1000 { // some come back while it lasts
		t.Errorf("a stranger's: %v", seen)
	}
}

// TestFailuresAreThrottledNotTheRight is attack 10: who fails is slowed down,
// who has the token is not, not even at the same address.
func TestFailuresAreThrottledNotTheRight(t *testing.T) {
	t.Parallel()
	s := newSite(t, gateway.AuthOptions{}, gateway.EdgeOptions{})
	seen := map[int]int{}
	for range 200 {
		resp := s.do(request{method: "GET", path: "/look", header: one("Authorization", "Bearer wrong")})
		seen[resp.StatusCode]++
		if resp.StatusCode == 429 && resp.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
	}
	if seen[401] < 20 || seen[401] > 30 || seen[401]+seen[429] != 200 {
		t.Errorf("answers %v", seen)
	}
	if resp := s.do(request{method: "GET", path: "/look", header: s.bearer()}); resp.StatusCode != 200 {
		t.Errorf("the right token: %d", resp.StatusCode)
	}
}

// TestManyFailuresCostNoMemory is 100,000 of them, each from another address.
func TestManyFailuresCostNoMemory(t *testing.T) {
	s := newSite(t, gateway.AuthOptions{}, gateway.EdgeOptions{})
	r := httptest.NewRequest("GET", "http://"+s.host+"/look", nil)
	r.Header.Set("Authorization", "Bearer wrong")
	knock := func(n int) {
		for i := range n {
			r.RemoteAddr = fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255)
			if _, err := s.auth.Authenticate(r); err == nil {
				t.Fatal("let in")
			}
		}
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	knock(1000)
	before := heap()
	knock(100_000)
	if after := heap(); after > before+1<<20 {
		t.Errorf("the heap grew from %d to %d", before, after)
	}
}

func TestTheClientsAddressIsTheProxysWord(t *testing.T) {
	t.Parallel()
	s := newSite(t, gateway.AuthOptions{}, gateway.EdgeOptions{BehindProxy: true})
	for _, c := range []struct {
		header []string
		want   string
	}{
		{[]string{"1.2.3.4"}, "1.2.3.4:0"},
		{[]string{"6.6.6.6, 1.2.3.4"}, "1.2.3.4:0"},
		{[]string{"6.6.6.6", "1.2.3.5"}, "1.2.3.5:0"},
		{[]string{"2001:db8::1"}, "[2001:db8::1]:0"},
		{[]string{"nonsense\x01"}, "127.0.0.1:"},
	} {
		r := httptest.NewRequest("GET", "http://"+s.host+"/healthz", nil)
		r.RemoteAddr = "127.0.0.1:5"
		r.Header["X-Forwarded-For"] = c.header
		s.edge.ServeHTTP(httptest.NewRecorder(), r)
		lines := s.lines()
		if len(lines) != 1 || !strings.HasPrefix(lines[0]["remote"].(string), c.want) {
			t.Errorf("%q: %v, want %s", c.header, lines, c.want)
		}
	}
}

// TestALineCannotBeForged is attack 49.
func TestALineCannotBeForged(t *testing.T) {
	t.Parallel()
	s := newSite(t, gateway.AuthOptions{}, gateway.EdgeOptions{})
	r := httptest.NewRequest("GET", "http://"+s.host+"/x", nil)
	r.URL.Path = "/a\r\n{\"level\":\"info\"}\x1b[2J\u202e\u200b\u0085\x9b"
	r.Header.Set("User-Agent", strings.Repeat("long", 1000))
	r.Host = "evil\n"
	s.edge.ServeHTTP(httptest.NewRecorder(), r)
	s.mu.Lock()
	text := s.access.String()
	s.mu.Unlock()
	if strings.Count(text, "\n") != 1 || strings.ContainsAny(text, "\x1b\u202e\u200b\u0085\r") || len(text) > 4000 {
		t.Errorf("%q", text)
	}
	if lines := s.lines(); len(lines) != 1 || !strings.Contains(lines[0]["path"].(string), `\u{202e}`) || lines[0]["host"] != `evil\u{a}` {
		t.Errorf("%v", lines)
	}
}

func TestOnlyLoopbackIsServedWithoutMore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		e  gateway.Exposure
		ok bool
	}{
		{gateway.Exposure{Addr: "127.0.0.1:0"}, true},
		{gateway.Exposure{Addr: "127.8.8.8:0"}, true},
		{gateway.Exposure{Addr: "[::1]:0"}, true},
		{gateway.Exposure{Addr: "localhost:7717"}, true},
		{gateway.Exposure{Addr: "localhost:7717", AuthOff: true}, true},
		{gateway.Exposure{Addr: ":7717"}, false},
		{gateway.Exposure{Addr: "0.0.0.0:7717"}, false},
		{gateway.Exposure{Addr: "[::]:7717"}, false},
		{gateway.Exposure{Addr: "192.168.1.2:7717"}, false},
		{gateway.Exposure{Addr: "localhost.evil.com:7717"}, false},
		{gateway.Exposure{Addr: "127.0.0.1"}, false},
		{gateway.Exposure{Addr: "0.0.0.0:7717", TLS: true}, true},
		{gateway.Exposure{Addr: "0.0.0.0:7717", BehindProxy: true}, true},
		{gateway.Exposure{Addr: "0.0.0.0:7717", TLS: true, AuthOff: true}, false},
		{gateway.Exposure{Addr: "127.0.0.1:7717", BehindProxy: true, AuthOff: true}, false},
	} {
		if err := c.e.Check(); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.e, err)
		}
	}
}

func TestNamesAreExact(t *testing.T) {
	t.Parallel()
	addr := &net.TCPAddr{IP: net.IPv4zero, Port: 443}
	n, err := gateway.NewNames(addr, true, "harness.example", "other.example:8443", "10.1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	for origin, want := range map[string]bool{
		"https://harness.example": true, "https://harness.example:443": true, "https://other.example:8443": true, "https://localhost": true, "https://10.1.2.3": true,
		"http://harness.example": false, "https://harness.example.evil.com": false, "https://other.example": false, "https://xharness.example": false, "": false, "null": false,
	} {
		if got := n.Origin(origin); got != want {
			t.Errorf("origin %q: %t", origin, got)
		}
	}
	for host, want := range map[string]bool{"harness.example": true, "HARNESS.example:443": true, "other.example": false, "": false, "0.0.0.0:443": false} {
		if got := n.Host(host); got != want {
			t.Errorf("host %q: %t", host, got)
		}
	}
	for _, bad := range []string{"*.example", "a b", "x/y", "http://x", "x:99999", "", "x."} {
		if _, err := gateway.NewNames(addr, true, bad); err == nil {
			t.Errorf("%q is a name", bad)
		}
	}
}

func TestEveryLimitHasAReasonAndAnAnswer(t *testing.T) {
	t.Parallel()
	for _, l := range gateway.Limits() {
		if l.Name == "" || l.Value == "" || l.Reason == "" || l.Answer == "" {
			t.Errorf("%+v", l)
		}
	}
}

// TestTheRatesOfTheEdgeAreExact: as many at once as the limit says, not one
// more, and one for each step of time after that.
func TestTheRatesOfTheEdgeAreExact(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		names, err := gateway.NewNames(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7717}, false)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		tokens := openTokens(t, dir, nil)
		token, _, _ := gateway.FirstToken(dir)
		e := gateway.NewEdge(names, gateway.NewAuth(names, gateway.AuthOptions{Tokens: tokens}), nil)
		fine := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
		e.Handle(gateway.Route{Pattern: "GET /open", Public: true}, fine)
		e.Handle(gateway.Route{Pattern: "GET /look"}, fine)
		get := func(path, token, from string) int {
			r := httptest.NewRequest("GET", "http://localhost:7717"+path, nil)
			r.RemoteAddr = from
			if token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			w := httptest.NewRecorder()
			e.ServeHTTP(w, r)
			if w.Code == 429 && w.Header().Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
			return w.Code
		}
		for name, c := range map[string]struct {
			path, token string
			burst       int
			every       time.Duration
			ok          int
		}{
			"strangers": {"/open", "", gateway.StrangerBurst, gateway.StrangerEvery, 200},
			"callers":   {"/look", token, gateway.CallerBurst, gateway.CallerEvery, 200},
			"failures":  {"/look", gateway.TokenPrefix + "wrong", gateway.FailBurst, gateway.FailEvery, 401},
		} {
			ask := func() int { return get(c.path, c.token, "10.1.1.1:5") }
			for i := range c.burst {
				if got := ask(); got != c.ok {
					t.Fatalf("%s: the %d. of %d: %d", name, i+1, c.burst, got)
				}
			}
			for range 3 {
				if got := ask(); got != 429 {
					t.Errorf("%s: one more: %d", name, got)
				}
			}
			if got := get("/open", "", "10.2.2.2:5"); got != 200 {
				t.Errorf("%s: somebody else: %d", name, got)
			}
			<-time.After(c.every)
			if got := ask(); got != c.ok {
				t.Errorf("%s: a step later: %d", name, got)
			}
			if got := ask(); got != 429 {
				t.Errorf("%s: and one more: %d", name, got)
			}
		}
	})
}
