package tool_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"harness"
	"harness/tool"
)

// web is a session whose fetch may reach one server on this machine.
func web(t testing.TB, h http.Handler) (*session, string) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	must(t, err)
	only := netip.MustParseAddrPort(u.Host)
	return openAt(t, sandboxes()["local"], t.TempDir(), tool.Options{Allow: func(a netip.AddrPort) bool { return a == only }}), server.URL
}

func TestFetch(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("/page", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.Header.Get("Cookie")+r.Header.Get("Authorization")+r.Header.Get("Referer") != "" || r.Method != http.MethodGet {
			t.Errorf("%s with %v", r.Method, r.Header)
		}
		fmt.Fprint(w, `<html><head><title>Title</title><style>x{}</style><script>if (a<b) evil()</script></head><body><h1>Head  line</h1><p>Some <b>bold</b>,
			text &amp; a <a href="/other?x=1">link</a>.<br>next<ul><li>one</li><li>two</li></ul><pre>a
  b</pre><table><tr><td>1</td><td>2</td></tr></table><a href="javascript:x()">no</a><svg><text>hidden</text></svg></body></html>`)
	})
	mux.HandleFunc("/plain", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "just text") })
	mux.HandleFunc("/latin", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=ISO-8859-1")
		_, _ = w.Write([]byte("caf\xe9"))
	})
	mux.HandleFunc("/binary", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("\x7fELF\x00")) })
	mux.HandleFunc("/flood", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		for range 1000 {
			if _, err := w.Write(bytes.Repeat([]byte("x"), 64<<10)); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		for range 2000 {
			if _, err := z.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
		z.Close()
	})
	mux.HandleFunc("/hops/{n}", func(w http.ResponseWriter, r *http.Request) {
		n := r.PathValue("n")
		http.Redirect(w, r, "/hops/"+n[1:], http.StatusFound)
	})
	mux.HandleFunc("/hops/{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "arrived") })
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("u"), http.StatusFound)
	})
	s, base := web(t, mux)
	get := func(path string) string { t.Helper(); return s.do("fetch", in{"url": base + path}) }

	if got, want := get("/page"), base+"/page\n200 OK, text/html; charset=utf-8, "; !strings.HasPrefix(got, want) {
		t.Errorf("got %q", got)
	} else if _, text, _ := strings.Cut(got, "\n\n"); text != "Title\n\n# Head line\n\nSome bold, text & a [link]("+base+"/other?x=1).\nnext\n\n- one\n- two\n\n```\na\n  b\n```\n\n1 | 2\n\nno\n" {
		t.Errorf("got %q", text)
	}
	contains(t, s.do("fetch", in{"url": base + "/page", "raw": true}), "<script>")
	contains(t, get("/plain"), "just text")
	contains(t, get("/latin"), "café")
	contains(t, get("/hops/11111"), "arrived", base+"/hops/\n")
	contains(t, get("/flood"), "only the first 5242880 bytes")
	s.fails("fetch", in{"url": base + "/hops/111111"}, "more than 5 redirects")
	s.fails("fetch", in{"url": base + "/binary"}, "is not text")
	s.fails("fetch", in{"url": base + "/bomb"}, "is not text")
	r, err := s.try("fetch", in{"url": base + "/none"})
	if err == nil || !strings.Contains(err.Error(), "404") || !strings.Contains(r.Text, "page not found") {
		t.Errorf("404: %v, %q", err, r.Text)
	}
	for _, to := range []string{"http://127.0.0.1:1/", "http://169.254.169.254/latest/meta-data", "http://[::ffff:127.0.0.1]:1/", "http://localhost:1/", "http://0x7f.1:1/", "http://[64:ff9b::7f00:1]/"} {
		_, err := s.try("fetch", in{"url": base + "/to?u=" + url.QueryEscape(to)})
		if err == nil {
			t.Errorf("a redirect to %s is followed", to)
		}
	}
	s.fails("fetch", in{"url": base + "/to?u=" + url.QueryEscape("file:///etc/passwd")}, "must begin with https")
	s.fails("fetch", in{"url": base + "/to?u=" + url.QueryEscape("http://user:pw@x/")}, "user or password")
}

func TestFetchRefusesWhatIsNotPublic(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, to := range []string{
		"http://127.0.0.1/", "http://localhost/", "http://[::1]/", "http://0.0.0.0/", "http://10.1.2.3/", "http://192.168.1.1/", "http://172.31.0.1/", "http://100.64.0.1/",
		"http://169.254.169.254/", "http://[fd00:ec2::254]/", "http://[fe80::1]/", "http://[::ffff:10.0.0.1]/", "http://[64:ff9b::a00:1]/", "http://[64:ff9b:1::1]/",
		"http://224.0.0.1/", "http://[ff02::1]/", "http://255.255.255.255/", "http://[2002:7f00:1::]/", "http://[::]/", "http://[::127.0.0.1]/", "http://192.0.2.1/",
		"http://168.63.129.16/", "https://127.0.0.1/", "http://[fe80::1%25lo]/",
	} {
		if _, err := s.try("fetch", in{"url": to}); !errors.Is(err, tool.ErrAddress) {
			t.Errorf("%s: %v, want ErrAddress", to, err)
		}
	}
	for to, says := range map[string]string{"file:///etc/passwd": "must begin", "ftp://x/": "must begin", "http:///x": "no host", "http://u:p@example.com/": "user or password", "x": "must begin", "http://a b/": "url:"} {
		s.fails("fetch", in{"url": to}, says)
	}
	p, err := s.tools["fetch"].Plan(s.env, []byte(`{"url":"https://example.com/x?y"}`))
	if err != nil || p.Access != harness.AccessNetwork || len(p.Keys) != 1 || p.Keys[0] != "net:example.com" || p.Summary != "fetch https://example.com/x?y" {
		t.Errorf("plan %+v, %v", p, err)
	}
}

// Where there is a list, fetch asks nobody else, and is led to nobody else.
func TestFetchAsksOnlyListedHosts(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.RedirectHandler("http://other.example/", http.StatusFound))
	t.Cleanup(server.Close)
	s := openAt(t, sandboxes()["local"], t.TempDir(), tool.Options{
		Allow: func(netip.AddrPort) bool { return true },
		Hosts: func(name string) bool { return name == "127.0.0.1" },
	})
	for _, where := range []string{"http://other.example/", server.URL} {
		if _, err := s.try("fetch", in{"url": where}); !errors.Is(err, tool.ErrAddress) || !strings.Contains(err.Error(), "other.example is not on the list") {
			t.Errorf("%s: %v", where, err)
		}
	}
}
