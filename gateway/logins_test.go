package gateway_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/gateway"
)

var alice = harness.Caller{Name: "alice's laptop", User: "alice", Role: harness.Approver}

// codeFor is a code for a caller, begin a login, and exchanged what there is for a
// code.
func codeFor(t testing.TB, l *gateway.Logins, c harness.Caller) string {
	t.Helper()
	code, err := l.Code(c)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func begin(t testing.TB, l *gateway.Logins, c harness.Caller) string {
	t.Helper()
	secret, err := l.Begin(c)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func exchanged(l *gateway.Logins, code string) (string, harness.Caller, bool) {
	secret, c, err := l.Exchange(code)
	return secret, c, err == nil
}

// loggedIn is the cookie header of a browser that was logged in by a code.
func (s *site) loggedIn() map[string][]string {
	s.t.Helper()
	link, err := s.logins.LoginURL("http://"+s.host+"/", harness.Caller{Name: "owner", Role: harness.Admin})
	if err != nil {
		s.t.Fatal(err)
	}
	_, code, _ := strings.Cut(link, "#code=")
	resp := s.post("/login", `{"code":"`+code+`","next":"/x"}`, one("Origin", "http://"+s.host))
	if resp.StatusCode != 200 || len(resp.Cookies()) != 1 {
		b, _ := io.ReadAll(resp.Body)
		s.t.Fatalf("login: %d %s", resp.StatusCode, b)
	}
	c := resp.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Secure || c.Domain != "" || !strings.HasSuffix(c.Name, s.host[strings.LastIndexByte(s.host, ':')+1:]) {
		s.t.Errorf("cookie %+v", c)
	}
	return one("Cookie", c.Name+"="+c.Value)
}

func (s *site) post(path, body string, h map[string][]string) *http.Response {
	return s.do(request{method: "POST", path: path, body: body, header: with(h, "Content-Type", "application/json")})
}

func TestACodeIsGoodOnceFromOurPage(t *testing.T) {
	t.Parallel()
	s := newSite(t, gateway.AuthOptions{}, gateway.EdgeOptions{})
	ours := one("Origin", "http://"+s.host)
	code := codeFor(t, s.logins, alice)
	body := `{"code":"` + code + `"}`
	for name, c := range map[string]struct {
		body string
		h    map[string][]string
		want int
	}{
		"no origin":       {body, one("Content-Type", "application/json"), 403},
		"another's page":  {body, with(one("Origin", "https://evil.example"), "Content-Type", "application/json"), 403},
		"a form":          {body, with(ours, "Content-Type", "text/plain"), 415},
		"no type":         {body, ours, 415},
		"twice in it":     {`{"code":"x","code":"` + code + `"}`, with(ours, "Content-Type", "application/json"), 400},
		"not JSON":        {`code=` + code, with(ours, "Content-Type", "application/json"), 400},
		"too much":        {`{"code":"` + strings.Repeat("x", 5000) + `"}`, with(ours, "Content-Type", "application/json"), 413},
		"another code":    {`{"code":"` + code + `x"}`, with(ours, "Content-Type", "application/json"), 401},
		"no code":         {`{}`, with(ours, "Content-Type", "application/json"), 401},
		"code as a token": {``, with(ours, "Authorization", "Bearer "+code), 415},
	} {
		if resp := s.do(request{method: "POST", path: "/login", body: c.body, header: c.h}); resp.StatusCode != c.want || len(resp.Cookies()) > 0 {
			t.Errorf("%s: %d, want %d", name, resp.StatusCode, c.want)
		}
	}
	resp := s.post("/login", body, ours)
	var answer struct{ Next string }
	if json.NewDecoder(resp.Body).Decode(&answer); resp.StatusCode != 200 || answer.Next != "/" {
		t.Fatalf("%d %+v", resp.StatusCode, answer)
	}
	cookie := one("Cookie", resp.Cookies()[0].Name+"="+resp.Cookies()[0].Value)
	who := s.do(request{method: "GET", path: "/whoami", header: cookie})
	if b, _ := io.ReadAll(who.Body); who.StatusCode != 200 || !strings.Contains(string(b), `"user":"alice"`) {
		t.Errorf("%d %s", who.StatusCode, b)
	}
	if resp := s.post("/logout", "", with(cookie, "Origin", "http://"+s.host)); resp.StatusCode != 200 || resp.Cookies()[0].MaxAge >= 0 {
		t.Errorf("logout: %d %v", resp.StatusCode, resp.Cookies())
	}
	if who := s.do(request{method: "GET", path: "/whoami", header: cookie}); who.StatusCode != 401 {
		t.Errorf("after logging out: %d", who.StatusCode)
	}
}

func TestACallerGetsACodeForAnotherBrowser(t *testing.T) {
	t.Parallel()
	s := newSite(t, gateway.AuthOptions{}, gateway.EdgeOptions{})
	resp := s.do(request{method: "POST", path: "/login/code", header: s.bearer()})
	var answer struct{ Code string }
	if json.NewDecoder(resp.Body).Decode(&answer); resp.StatusCode != 200 {
		t.Fatal(resp.StatusCode)
	}
	if _, c, ok := exchanged(s.logins, answer.Code); !ok || c.Name != "owner" || c.Role != harness.Admin {
		t.Errorf("%+v %t", c, ok)
	}
}

func bareLogins(t testing.TB, secure bool) *gateway.Logins {
	t.Helper()
	names, err := gateway.NewNames(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7717}, secure)
	if err != nil {
		t.Fatal(err)
	}
	return gateway.NewLogins(names, nil)
}

func known(l *gateway.Logins, secret string) bool {
	r := httptest.NewRequest("GET", "/", nil)
	r.AddCookie(&http.Cookie{Name: l.CookieName(), Value: secret})
	return l.Known(r)
}

// TestTimesOfALogin is attack 11, and the ends of logins.
func TestTimesOfALogin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := bareLogins(t, false)
		exchange := func(after time.Duration) (string, bool) {
			code := codeFor(t, l, alice)
			time.Sleep(after) // sleep: the bubble's clock is what is tested
			s, _, ok := exchanged(l, code)
			return s, ok
		}
		if _, ok := exchange(time.Minute - 1); !ok {
			t.Error("not good for a minute")
		}
		if _, ok := exchange(time.Minute); ok {
			t.Error("good for longer than a minute")
		}

		// A code that comes again at once ends the login that was had for it.
		for after, want := range map[time.Duration]bool{time.Second - 1: false, time.Second: true} {
			code := codeFor(t, l, alice)
			s, _, ok := exchanged(l, code)
			time.Sleep(after) // sleep: as above
			if _, _, again := exchanged(l, code); again || !ok || known(l, s) != want {
				t.Errorf("used again after %s: login there %t, want %t", after, known(l, s), want)
			}
		}

		s, _ := exchange(0)
		for range 13 { // it slides
			time.Sleep(12*time.Hour - 1) // sleep: as above
			if !known(l, s) {
				t.Fatal("logged out while in use")
			}
		}
		time.Sleep(12 * time.Hour) // sleep: as above
		if known(l, s) {
			t.Error("logged in after a week")
		}
		s, _ = exchange(0)
		time.Sleep(12 * time.Hour) // sleep: as above
		if known(l, s) {
			t.Error("logged in after half a day away")
		}
	})
}

// TestLoginsAreBounded: a credential that has too many loses its own, and nobody
// loses one by another's.
func TestLoginsAreBounded(t *testing.T) {
	t.Parallel()
	l := bareLogins(t, false)
	bob := harness.Caller{Name: "bob", User: "bob", Role: harness.Viewer}
	bobs, waits := begin(t, l, bob), codeFor(t, l, bob)
	first := codeFor(t, l, alice)
	for range gateway.MaxCodesOf {
		codeFor(t, l, alice)
	}
	if _, _, ok := exchanged(l, first); ok {
		t.Error("one code too many waits")
	}
	oldest := begin(t, l, alice)
	for range gateway.MaxLoginsOf {
		begin(t, l, alice)
	}
	if l.Len() != gateway.MaxLoginsOf+1 || known(l, oldest) {
		t.Errorf("%d logins, the oldest there: %t", l.Len(), known(l, oldest))
	}
	l.EndOf("somebody else's")
	if l.Len() != gateway.MaxLoginsOf+1 {
		t.Errorf("%d logins", l.Len())
	}
	l.EndOf(alice.Name)
	if l.Len() != 1 {
		t.Errorf("%d logins after their token was revoked", l.Len())
	}
	other := func(i int) harness.Caller {
		return harness.Caller{Name: fmt.Sprint("n", i), User: "n", Role: harness.Viewer}
	}
	for i := range gateway.MaxCodes - 1 {
		codeFor(t, l, other(i))
	}
	if _, err := l.Code(alice); !errors.Is(err, harness.ErrTooMany) {
		t.Errorf("one code too many of all: %v", err)
	}
	for i := range gateway.MaxLogins - 1 {
		begin(t, l, other(i))
	}
	if _, err := l.Begin(alice); !errors.Is(err, harness.ErrTooMany) {
		t.Errorf("one login too many of all: %v", err)
	}
	if !known(l, bobs) {
		t.Error("bob is logged out by others")
	}
	if _, _, err := l.Exchange(waits); !errors.Is(err, harness.ErrTooMany) {
		t.Errorf("a code for one too many: %v", err)
	}
	l.EndOf("n1")
	if _, _, ok := exchanged(l, waits); !ok {
		t.Error("bob's code is spent by others")
	}
}

func TestTheCookieOfASecureServer(t *testing.T) {
	t.Parallel()
	if name := bareLogins(t, true).CookieName(); name != "__Host-harness_7717" {
		t.Error(name)
	}
}

// TestNextIsOnThisServer is attack 12.
func TestNextIsOnThisServer(t *testing.T) {
	t.Parallel()
	for next, want := range map[string]string{
		"/": "/", "/sessions/ses_1": "/sessions/ses_1", "/a%20b": "/a%20b", "": "/",
		"//evil.com": "/", `/\evil.com`: "/", "https:evil": "/", "https://evil.com/": "/", "/%2f%2fevil.com": "/%2f%2fevil.com", "javascript:alert(1)": "/", `\\evil`: "/",
		"/\t/evil.com": "/", "///evil.com": "/", "evil.com": "/", "/x\ny": "/", "/%5cevil.com": "/", "/?next=https://evil.com": "/",
	} {
		got := gateway.LocalPath(next)
		if next == "/%2f%2fevil.com" { // its decoded form begins with another server's name
			want = "/"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", next, got, want)
		}
	}
}

// TestTheEndOfALoginIsTold, by the name that its caller has, and of no other:
// when it is logged out, when its code was used twice, when its token is
// revoked, and when there is no room for it.
func TestTheEndOfALoginIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		names, err := gateway.NewNames(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, false)
		if err != nil {
			t.Fatal(err)
		}
		var ended []string
		l := gateway.NewLogins(names, func(login string) { ended = append(ended, login) })
		ada := harness.Caller{Name: "laptop", User: "ada", Role: harness.Operator}
		request := func(secret string) *http.Request {
			r := httptest.NewRequest("GET", "/", nil)
			r.AddCookie(&http.Cookie{Name: l.CookieName(), Value: secret})
			return r
		}
		open := func() (*http.Request, string) {
			r := request(begin(t, l, ada))
			c, ok := l.CallerOf(r)
			if !ok || c.Login == "" || c.Name != ada.Name {
				t.Fatalf("the caller is %+v", c)
			}
			return r, c.Login
		}
		told := func(what string, want ...string) {
			t.Helper()
			if !slices.Equal(ended, want) {
				t.Errorf("%s: told of %v, want %v", what, ended, want)
			}
			ended = nil
		}
		one, first := open()
		_, second := open()
		if first == second {
			t.Error("two logins have one name")
		}
		l.End(one)
		l.End(one)
		told("logged out", first)

		code := codeFor(t, l, ada)
		secret, _, _ := exchanged(l, code)
		c, _ := l.CallerOf(request(secret))
		told("logged in")
		if _, _, ok := exchanged(l, code); ok {
			t.Error("the code is good twice")
		}
		told("its code came twice", c.Login)

		l.EndOf("phone")
		told("another token was revoked")
		l.EndOf("laptop")
		told("revoked", second)

		oldest, third := open()
		<-time.After(time.Second)
		for l.Len() < gateway.MaxLoginsOf {
			begin(t, l, ada)
		}
		told("room for all")
		begin(t, l, ada)
		told("one too many", third)
		if _, ok := l.CallerOf(oldest); ok {
			t.Error("it is still open")
		}
	})
}
