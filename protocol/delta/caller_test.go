package delta_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/coder/websocket"

	"harness"
	"harness/store/memory"
)

// serveTo is a server whose callers all have one life.
func serveTo(t *testing.T, life *harness.Life) *server {
	return serveAs(t, func(web *httptest.Server) {
		hub := web.Config.Handler
		web.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c := harness.Caller{Name: "phone", User: "u", Role: harness.Operator, Life: life}
			hub.ServeHTTP(w, r.WithContext(harness.WithCaller(r.Context(), c)))
		})
		web.Start()
	}, memory.New(), "echo", nil, nil)
}

// ended reads until the connection ends, and returns with which code.
func (c *client) ended() websocket.StatusCode {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	for {
		if err := c.readErr(ctx); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

// TestAConnectionThatOpensAfterTheEndOfItsCredentialCloses: CloseOf has looked
// for it before it was there.
func TestAConnectionThatOpensAfterTheEndOfItsCredentialCloses(t *testing.T) {
	t.Parallel()
	life := harness.NewLife(harness.NewLife(nil))
	sv := serveTo(t, life)
	life.Of().End()
	sv.hub.CloseOf("phone")
	if code := sv.dial("?userId=u").ended(); code != 1008 {
		t.Errorf("it ended with %d", code)
	}
}

// TestAConnectionOnItsWayToAnotherSessionEndsWithItsCredential: CloseOf may look
// for it when it is in neither.
func TestAConnectionOnItsWayToAnotherSessionEndsWithItsCredential(t *testing.T) {
	t.Parallel()
	life := harness.NewLife(nil)
	sv := serveTo(t, life)
	other := sv.create("u")
	c := sv.connect("?userId=u")
	life.End() // and CloseOf has not found it
	c.do(`{"type":"resume","sessionId":"` + other + `","prompt":"there"}`)
	if code := c.ended(); code != 1008 {
		t.Errorf("it ended with %d", code)
	}
}
