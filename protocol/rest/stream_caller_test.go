package rest

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/kernel"
	"harness/store/memory"
)

// A stream ends with the credential that it was opened with, when that is
// revoked and when its time is over, and says why; others go on.
func TestAStreamEndsWithItsCredential(t *testing.T) {
	t.Parallel()
	h := build(t, memory.New(), "echo", kernel.Options{}, feedOptions{})
	id := h.create("")
	h.asleep()
	soonOver := "Expires: " + time.Now().Add(50*time.Millisecond).Format(time.RFC3339Nano)
	revoked, expired := h.listen(string(id), "Caller: phone"), h.listen(string(id)+"?until=terminal", "Caller: page", soonOver)
	over := h.listen(string(id), "Caller: page", "Expires: "+time.Unix(1, 0).Format(time.RFC3339Nano))
	stays, nobody := h.listen(string(id), "Caller: laptop"), h.listen(string(id))
	revoked.must()
	h.feeds.closeIf(func(c *harness.Caller) bool { return c.Name == "phone" })
	for name, l := range map[string]*listener{"revoked": revoked, "expired": expired, "over": over} {
		got := l.rest()
		if len(got) == 0 || got[len(got)-1].name != "error" || !strings.Contains(got[len(got)-1].data, `"code":"unauthenticated"`) {
			t.Errorf("%s: %v", name, got)
		}
	}
	h.submit(id, "hi")
	stays.until("turn_end")
	nobody.until("turn_end")
	eventually(t, "the others are gone", func() bool { return h.feeds.srv.Len() == 2 })
}

// Who closes the streams of a credential may have looked before a stream was
// there, also before one of the list of sessions.
func TestAStreamDoesNotOpenAfterTheEndOfItsCredential(t *testing.T) {
	t.Parallel()
	h := build(t, memory.New(), "echo", kernel.Options{}, feedOptions{})
	id := h.create("")
	l, err := listen(t, h.addr, string(id), "", "Caller: phone", "Over: yes")
	if err != nil || l.resp.StatusCode != 401 {
		t.Fatalf("%v, %v", l, err)
	}
	eventually(t, "it has left", func() bool { return h.feeds.srv.Len() == 0 && h.feeds.room(id) == nil })

	api, err := New(h.k, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer api.Shutdown(t.Context())
	life := harness.NewLife(nil)
	life.End()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	r := httptest.NewRequest("GET", "/sessions/stream", nil).WithContext(harness.WithCaller(ctx, harness.Caller{Name: "phone", Role: harness.Admin, Life: life}))
	w := httptest.NewRecorder()
	if api.ServeHTTP(w, r); w.Code != 401 || ctx.Err() != nil || api.Clients() != 0 {
		t.Errorf("the list of sessions: %d, %v", w.Code, ctx.Err())
	}
}
