package main

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

func TestOnlyThisServersPagesGetThrough(t *testing.T) {
	t.Parallel()
	p := start(t, "--store", "memory")
	host := strings.TrimPrefix(p.http, "http://")
	port := host[strings.LastIndexByte(host, ':'):]
	const through = http.StatusSwitchingProtocols
	for name, c := range map[string]struct {
		header http.Header
		want   int
	}{
		"no page":                {nil, through},
		"own page":               {http.Header{"Origin": {"http://" + host}}, through},
		"own page, by name":      {http.Header{"Origin": {"http://localhost" + port}}, through},
		"by name":                {http.Header{"Host": {"localhost" + port}}, through},
		"a name of somebody":     {http.Header{"Host": {"evil.example" + port}}, 421},
		"a name without port":    {http.Header{"Host": {"127.0.0.1"}}, 421},
		"another port":           {http.Header{"Host": {"127.0.0.1:1"}}, 421},
		"rebound, with its page": {http.Header{"Host": {"evil.example" + port}, "Origin": {"http://evil.example" + port}}, 421},
		"foreign page":           {http.Header{"Origin": {"http://evil.example"}}, 403},
		"page of another port":   {http.Header{"Origin": {"http://localhost:1"}}, 403},
		"page over https":        {http.Header{"Origin": {"https://" + host}}, 403},
		"sandboxed page":         {http.Header{"Origin": {"null"}}, 403},
		"empty":                  {http.Header{"Origin": {""}}, 403},
		"our name as user":       {http.Header{"Origin": {"http://" + host + "@evil.example"}}, 403},
		"our name as prefix":     {http.Header{"Origin": {"http://" + host + ".evil.example"}}, 403},
		"two":                    {http.Header{"Origin": {"http://" + host, "http://evil.example"}}, 403},
		"the same twice":         {http.Header{"Origin": {"http://" + host, "http://" + host}}, 403},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			want := c.want
			if want == through {
				want = http.StatusOK
			}
			for _, path := range []string{"/", "/healthz"} {
				if code, body := p.get(path, c.header); code != want {
					t.Errorf("GET %s: %d, want %d: %s", path, code, want, body)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			opts := &websocket.DialOptions{HTTPHeader: p.bearer(c.header), Host: c.header.Get("Host")}
			opts.HTTPHeader.Del("Host")
			ws, r, err := websocket.Dial(ctx, p.ws+"?userId=ada", opts)
			if r == nil || r.StatusCode != c.want {
				t.Errorf("/ws: %v, %v, want %d", r, err, c.want)
			}
			if err == nil {
				ws.CloseNow()
			}
		})
	}
}
