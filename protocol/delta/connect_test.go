package delta_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"harness"
)

// status is what a handshake that is refused is answered with.
func (s *server) status(query string) int {
	s.t.Helper()
	req, err := http.NewRequest("GET", "http"+strings.TrimPrefix(s.url, "ws")+query, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for k, v := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="} {
		req.Header.Set(k, v)
	}
	resp, err := s.web.Client().Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// listed is the sessions that exist.
func (s *server) listed() (ids []string) {
	s.t.Helper()
	for sum, err := range s.k.List(context.Background(), harness.Filter{}) {
		if err != nil {
			s.t.Fatal(err)
		}
		ids = append(ids, string(sum.Session))
	}
	return ids
}

// create makes a session, as another protocol would.
func (s *server) create(user string) string {
	s.t.Helper()
	id, err := s.k.Create(context.Background(), harness.NewSession{User: user})
	if err != nil {
		s.t.Fatal(err)
	}
	return string(id)
}

// submit has a session do a turn, as another protocol would.
func (s *server) submit(id, prompt string) {
	s.t.Helper()
	cmd := harness.Submit{Parts: harness.TextPart(prompt), Source: harness.FromSubmit, OnBusy: harness.Enqueue}
	if _, err := s.k.Do(context.Background(), harness.SessionID(id), cmd); err != nil {
		s.t.Fatal(err)
	}
}

func TestWhomAQueryNames(t *testing.T) {
	t.Parallel()
	sv := serve(t, "echo", nil)
	id := sv.create("ann")
	for query, want := range map[string]string{
		"?sessionId=" + id:            id,
		"?userId=bob&sessionId=" + id: id,
		"?userId=ann":                 string(harness.DefaultSession("ann")),
		"?userId=bob&sessionId=" + string(harness.DefaultSession("bob")): string(harness.DefaultSession("bob")),
	} {
		if got := sv.connect(query).state().SessionID; got != want {
			t.Errorf("%s: shown %s, want %s", query, got, want)
		}
	}
	for query, want := range map[string]int{
		"?sessionId=ses_nobody": 404,
		"?sessionId=" + string(harness.DefaultSession("bob")) + "&userId=ann": 404,
		"?sessionId=../etc":                      400,
		"?sessionId=" + strings.Repeat("x", 129): 400,
		"?userId=a%20b":                          400,
		"?userId=a&since=-1":                     400,
		"?userId=a&since=x":                      400,
		"?userId=a&window=1e3":                   400,
		"?userId=a&since=9007199254740992":       400,
	} {
		if got := sv.status(query); got != want {
			t.Errorf("%s: status %d, want %d", query, got, want)
		}
	}
	if got := sv.listed(); !slices.Equal(got, []string{id}) {
		t.Errorf("connecting made sessions: %v", got)
	}
}

func TestASessionIsMadeByItsFirstCommand(t *testing.T) {
	t.Parallel()
	sv := serve(t, "echo", nil)
	a, b := sv.connect(""), sv.connect("")
	if a.state().SessionID == b.state().SessionID || a.state().SessionID == "" {
		t.Fatalf("shown %q and %q, want two new sessions", a.state().SessionID, b.state().SessionID)
	}
	if got := sv.listed(); len(got) != 0 {
		t.Fatalf("before any command there are %v", got)
	}
	a.do(`{"type":"submit","prompt":"hi"}`)
	a.until("the turn ends", idle)
	a.settle(sv)
	if got := sv.listed(); !slices.Equal(got, []string{a.state().SessionID}) {
		t.Errorf("sessions %v, want %s", got, a.state().SessionID)
	}
	if slices.Contains(a.kinds[1:], "state") {
		t.Errorf("frames %v: the first turn did not come as deltas", a.kinds)
	}
	again := sv.connect("?sessionId=" + a.state().SessionID)
	again.settle(sv)
}

// A client may send before it has read anything, and the room may not have
// looked at the store yet.
func TestTheFirstCommandNeedNotWaitForTheState(t *testing.T) {
	t.Parallel()
	sv := serve(t, "echo", nil)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			c := sv.dial("")
			c.do(`{"type":"submit","prompt":"hi","commandId":"k"}`)
			c.until("the turn ends", idle)
			c.untilAck("k")
			c.settle(sv)
			if len(c.errs) > 0 {
				t.Errorf("errors %v", c.errs)
			}
		})
	}
	wg.Wait()
}

func TestTwoFirstCommandsMakeOneSession(t *testing.T) {
	t.Parallel()
	sv := serve(t, "echo", nil)
	for _, user := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		x, y := sv.connect("?userId="+user), sv.connect("?userId="+user)
		var wg sync.WaitGroup
		for i, c := range []*client{x, y} {
			wg.Go(func() { c.do(`{"type":"submit","prompt":"` + string(rune('x'+i)) + `"}`) })
		}
		wg.Wait()
		for _, c := range []*client{x, y} {
			c.until("both turns end", func(s state) bool { return idle(s) && len(s.Messages) == 4 })
			c.settle(sv)
			if len(c.errs) > 0 {
				t.Errorf("errors %v", c.errs)
			}
		}
	}
	if n := len(sv.listed()); n != 8 {
		t.Errorf("%d sessions for 8 users", n)
	}
}

func TestAUsersDefaultSessionIsTheSameAfterAReconnect(t *testing.T) {
	t.Parallel()
	sv := serve(t, "echo", nil)
	c := sv.connect("?userId=ann")
	c.do(`{"type":"submit","prompt":"remember"}`)
	c.until("the turn ends", idle)
	c.ws.CloseNow()
	sv.asleep()
	again := sv.connect("?userId=ann")
	again.settle(sv)
	if s := again.state(); len(s.Messages) != 2 || s.SessionID != c.state().SessionID {
		t.Errorf("state %s", again.json())
	}
}

func TestResumeOfAnotherSessionTakesTheClientThere(t *testing.T) {
	t.Parallel()
	sv := serve(t, "echo", nil)
	other := sv.create("ann")
	c := sv.connect("?userId=ann&since=7&hb=1")
	here := c.state().SessionID
	c.do(`{"type":"submit","prompt":"here"}`)
	c.until("the turn ends", idle)
	c.do(`{"type":"resume","sessionId":"ses_nobody","prompt":"there","commandId":"k"}`)
	if e := c.untilError(); e.Code != "not_found" || e.CommandID != "k" {
		t.Errorf("error %+v", e)
	}
	c.do(`{"type":"submit","prompt":"still here"}`)
	c.until("it stayed", func(s state) bool { return idle(s) && len(s.Messages) == 4 && s.SessionID == here })
	states := len(c.kinds)
	c.do(`{"type":"resume","sessionId":"` + other + `","prompt":"there"}`)
	s := c.until("it went", func(s state) bool { return s.SessionID == other && idle(s) })
	if len(s.Messages) != 2 || s.Messages[0].Content != "there" || !slices.Contains(c.kinds[states:], "state") {
		t.Errorf("state %s, frames %v", c.json(), c.kinds[states:])
	}
	c.settle(sv)
	sv.submit(here, "nobody sees this")
	c.do(`{"type":"submit","prompt":"more"}`)
	c.until("the second turn there", func(s state) bool { return idle(s) && len(s.Messages) == 4 })
	c.settle(sv)
	// The default session need not exist to be resumed.
	d := sv.connect("?userId=dan&sessionId=" + other)
	mine := string(harness.DefaultSession("dan"))
	d.do(`{"type":"resume","sessionId":"` + mine + `","prompt":"mine"}`)
	d.until("it went home", func(s state) bool { return s.SessionID == mine && idle(s) })
	if len(d.errs) > 0 {
		t.Errorf("errors %v", d.errs)
	}
	d.settle(sv)
}
