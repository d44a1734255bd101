package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"harness"
	"harness/tool/mcp"
)

// site is a server over HTTP, behind whatever wrap puts before it. Its tool
// stuck answers when it is released.
func site(tb testing.TB, wrap func(http.Handler) http.Handler) (web *httptest.Server, release func()) {
	tb.Helper()
	released := make(chan struct{})
	release = sync.OnceFunc(func() { close(released) })
	s := sdk.NewServer(&sdk.Implementation{Name: "good", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{Name: "echo", InputSchema: map[string]any{"type": "object"}}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return say(string(r.Params.Arguments)), nil
	})
	s.AddTool(&sdk.Tool{Name: "stuck", InputSchema: map[string]any{"type": "object"}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		<-released
		return say("released"), nil
	})
	var h http.Handler = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	if wrap != nil {
		h = wrap(h)
	}
	web = httptest.NewServer(h)
	tb.Cleanup(web.Close)
	tb.Cleanup(web.CloseClientConnections)
	tb.Cleanup(release)
	return web, release
}

func TestAServerOverHTTPWorksAndGetsItsHeaders(t *testing.T) {
	t.Parallel()
	var without atomic.Int64
	web, _ := site(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer x" {
				without.Add(1)
			}
			next.ServeHTTP(w, r)
		})
	})
	c := open(t, mcp.Server{Name: "good", URL: web.URL + "/mcp", Headers: map[string]string{"Authorization": "Bearer x"}})
	if got := must(t, c, "echo", `{"a":1}`).Text; got != `{"a":1}` || without.Load() != 0 {
		t.Errorf("got %s; %d requests without the header", got, without.Load())
	}
	if p, err := c.Tools()[0].Plan(nil, nil); err != nil || p.Access != harness.AccessNetwork || len(p.Keys) != 1 {
		t.Errorf("plan %+v, %v", p, err)
	}
}

func TestASessionThatTheServerForgotIsMadeAgain(t *testing.T) {
	t.Parallel()
	var forget atomic.Bool
	web, _ := site(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") != "" && forget.CompareAndSwap(true, false) {
				http.Error(w, "session not found", http.StatusNotFound)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	c := open(t, mcp.Server{Name: "good", URL: web.URL})
	forget.Store(true)
	if _, err := run(t, c, "echo", ""); err == nil {
		t.Error("the call that was refused succeeded")
	}
	if got := must(t, c, "echo", "").Text; got != "{}" {
		t.Errorf("got %s", got)
	}
}

func TestHeadersDoNotFollowARedirect(t *testing.T) {
	t.Parallel()
	seen := make(chan http.Header, 16) // more than a start sends
	other, _ := site(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case seen <- r.Header.Clone():
			default:
			}
			next.ServeHTTP(w, r)
		})
	})
	web := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(web.Close)
	c := open(t, mcp.Server{Name: "good", URL: web.URL, Headers: map[string]string{"X-Key": "secret"}})
	must(t, c, "echo", "")
	if h := <-seen; h.Get("X-Key") != "" {
		t.Errorf("the other host got %v", h)
	}
}

func TestAnHTTPServerThatHangsOrIsNotThereIsAnError(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	t.Cleanup(web.Close)
	_, err := mcp.Open(t.Context(), mcp.Server{Name: "x", URL: web.URL, Start: 300 * time.Millisecond}, nil)
	if err == nil || !strings.Contains(err.Error(), "it did not start within 300ms") {
		t.Errorf("hangs: %v", err)
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	if _, err := mcp.Open(t.Context(), mcp.Server{Name: "x", URL: gone.URL}, nil); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("not there: %v", err)
	}
	wrong := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(wrong.Close)
	if _, err := mcp.Open(t.Context(), mcp.Server{Name: "x", URL: wrong.URL}, nil); err == nil {
		t.Error("a page that is no server was opened")
	}
}

// TestAFloodOverHTTPIsCutOff floods the stream of notices, and answers.
func TestAFloodOverHTTPIsCutOff(t *testing.T) {
	t.Parallel()
	flood := func(w http.ResponseWriter, media, text string) {
		w.Header().Set("Content-Type", media)
		for {
			if _, err := io.WriteString(w, text); err != nil {
				return
			}
		}
	}
	notices := fmt.Sprintf("event: message\ndata: %s\n\n", strings.TrimSpace(notice))
	for name, on := range map[string]func(http.ResponseWriter, *http.Request, bool) bool{
		"stream of notices": func(w http.ResponseWriter, r *http.Request, _ bool) bool {
			if r.Method == http.MethodGet {
				flood(w, "text/event-stream", notices)
			}
			return r.Method == http.MethodGet
		},
		"an answer of notices": func(w http.ResponseWriter, _ *http.Request, call bool) bool {
			if call {
				flood(w, "text/event-stream", notices)
			}
			return call
		},
		"an answer without an end": func(w http.ResponseWriter, _ *http.Request, call bool) bool {
			if call {
				flood(w, "application/json", `{"jsonrpc":"2.0","id":7,"result":{"x":"`+strings.Repeat("y", 1<<20))
			}
			return call
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			web, release := site(t, func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					r.Body = io.NopCloser(strings.NewReader(string(body)))
					if !on(w, r, strings.Contains(string(body), `"tools/call"`)) {
						next.ServeHTTP(w, r)
					}
				})
			})
			c := open(t, mcp.Server{Name: "good", URL: web.URL})
			// The stream floods beside the call, so the call only has to end.
			_, first := run(t, c, "stuck", "")
			release()
			if first == nil {
				t.Fatal("the call succeeded")
			}
			if _, err := run(t, c, "echo", ""); err == nil || !strings.Contains(err.Error(), "far more than it is asked for") {
				t.Errorf("after it: %v; the call in flight: %v", err, first)
			}
			if s := c.Status(); s.State != mcp.Failed {
				t.Errorf("status %+v", s)
			}
		})
	}
}
