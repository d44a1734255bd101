package gateway_test

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"harness"
	"harness/gateway"
)

// TestLoginsOutliveTheServer as long as the credential that they came with: not
// when it is gone, nor when another has its name.
func TestLoginsOutliveTheServer(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "logins")
	standing := map[string]string{"owner": "first", "bob": "his"}
	current := func(name, _ string) (harness.Caller, string, bool) {
		of, ok := standing[name]
		return harness.Caller{Name: name, Role: harness.Admin}, of, ok
	}
	open := func() *gateway.Logins {
		n, err := gateway.NewNames(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7717}, false)
		if err != nil {
			t.Fatal(err)
		}
		l := gateway.NewLogins(n, nil)
		if err := l.Keep(path, current, func(err error) { t.Error(err) }); err != nil {
			t.Fatal(err)
		}
		return l
	}
	first := open()
	secrets := map[string]string{}
	for name := range standing {
		c, _, _ := current(name, "")
		secret, _, ok := exchanged(first, codeFor(t, first, c))
		if !ok {
			t.Fatal("no login")
		}
		secrets[name] = secret
	}
	out := begin(t, first, harness.Caller{Name: "somebody@provider", Role: harness.Viewer, User: "s"})
	namesake := begin(t, first, harness.Caller{Name: "owner", Role: harness.Viewer, User: "owner"}) // that a provider vouches for
	narrow := begin(t, first, harness.Caller{Name: "bob", Role: harness.Admin, Scope: "read"})
	file, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(file), secrets["owner"]) || strings.Contains(string(file), out) {
		t.Errorf("the file has a secret, or cannot be read: %v", err)
	}
	known := func(l *gateway.Logins, secret string) bool {
		r, err := http.NewRequestWithContext(t.Context(), "GET", "/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(&http.Cookie{Name: l.CookieName(), Value: secret})
		return l.Known(r)
	}
	again := open()
	if !known(again, secrets["owner"]) || !known(again, secrets["bob"]) || known(again, out) || known(again, namesake) || known(again, narrow) || again.Len() != 2 {
		t.Errorf("%d logins are left", again.Len())
	}
	standing["owner"] = "second"
	delete(standing, "bob")
	if last := open(); last.Len() != 0 {
		t.Errorf("%d logins stand without their credential", last.Len())
	}
	standing["bob"] = "his"
	again.EndOf("bob")
	if last := open(); known(last, secrets["bob"]) {
		t.Error("who was logged out is in again")
	}
}
