package rest

import (
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
