package mcp

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestAServerOutsideCannotSendUsInside(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	for configured, want := range map[string]bool{"http://203.0.113.7/mcp": false, "http://example.org/mcp": false, "http://localhost:1/mcp": true, "http://10.1.2.3/mcp": true, web.URL: true} {
		l := &link{}
		l.life, l.end = context.WithCancelCause(t.Context())
		transport, err := l.remote(&Server{URL: configured})
		if err != nil {
			t.Fatal(err)
		}
		// What a redirect makes the client do.
		res, err := transport.(*sdk.StreamableClientTransport).HTTPClient.Get(web.URL)
		if err == nil {
			res.Body.Close()
		}
		if (err == nil) != want || err != nil && !strings.Contains(err.Error(), "an address inside") {
			t.Errorf("from %s to %s: %v", configured, web.URL, err)
		}
		l.end(nil)
	}
}

func TestAddressesInsideAreNotPublic(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]bool{
		"127.0.0.1": false, "::1": false, "10.0.0.1": false, "192.168.1.1": false, "172.16.0.1": false, "169.254.169.254": false, "100.64.0.1": false,
		"0.0.0.0": false, "::": false, "fe80::1": false, "fd00::1": false, "::ffff:127.0.0.1": false, "224.0.0.1": false, "255.255.255.255": false,
		"1.1.1.1": true, "2606:4700::1": true,
	} {
		if got := public(netip.MustParseAddr(at)); got != want {
			t.Errorf("%s: public is %v", at, got)
		}
	}
}

func TestNamesAreUsableUniqueAndTheSameEveryTime(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("very_long_", 12)
	for _, row := range []struct{ server, tool, want string }{
		{"github", "create_issue", "mcp__github__create_issue"},
		{"My Server!", "Get.Weather", "mcp__my_server__get_weather"},
		{"a__b", "__c", "mcp__a_b__c"},
		{"日本", "ツール", "mcp__x__x"},
	} {
		if got := toolName(serverSlug(row.server, nil), row.tool, nil); got != row.want {
			t.Errorf("%q of %q is %s, want %s", row.tool, row.server, got, row.want)
		}
	}
	servers, taken := map[string]bool{}, map[string]bool{}
	for _, server := range []string{"a", "A", "a!", long, long + "x"} {
		s := serverSlug(server, servers)
		if servers[s] {
			t.Errorf("two servers are %s", s)
		}
		servers[s] = true
		for _, tool := range []string{"b", "B", "b!", "日", "本", long, long + "x"} {
			name := toolName(s, tool, taken)
			if taken[name] || len(name) > MaxName || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
				t.Errorf("%s is taken or not usable", name)
			}
			taken[name] = true
		}
	}
}

func TestRestartsAreFewAndFartherApart(t *testing.T) {
	t.Parallel()
	var r restarts
	now := time.Unix(1000, 0)
	for i, want := range []time.Duration{0, 2 * restartDelay, 2*restartDelay + 4*restartDelay} {
		if when, ok := r.next(now); !ok || when.Sub(now) != want {
			t.Errorf("restart %d is in %v, %v, want %v", i, when.Sub(now), ok, want)
		}
	}
	if _, ok := r.next(now.Add(restartWindow)); ok {
		t.Error("one more within the window")
	}
	if _, ok := r.next(now.Add(2 * restartWindow)); !ok {
		t.Error("none after the window")
	}
}

func TestTheTailOfAFloodIsItsLastLines(t *testing.T) {
	t.Parallel()
	var s tail
	for range 1000 {
		_, _ = s.Write([]byte(strings.Repeat("x", 5000)))
	}
	_, _ = s.Write([]byte("\nlast\nwor"))
	_, _ = s.Write([]byte("ds\xff"))
	if got := s.String(); got != strings.Repeat("x", tailLine)+"\nlast\nwords\uFFFD" {
		t.Errorf("got %q", got)
	}
}
