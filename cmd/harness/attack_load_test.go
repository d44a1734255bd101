package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"harness/gateway"
)

// TestAFloodHurtsOnlyItsSender is attack 38: at the same time one client sends
// 10,000 commands a second, another one opens thousands of connections, and a
// hundred follow a session that talks much and never read. Bob's commands take
// about as long as before, and the server's memory is bounded. LONG=1 does it
// with 5,000 connections, and longer.
func TestAFloodHurtsOnlyItsSender(t *testing.T) {
	connections, commands := 600, 150
	if os.Getenv("LONG") != "" {
		connections, commands = 5000, 2000
	}
	h := newHouse(t)
	id, mine := h.session(t, "ada", "hello"), h.session(t, "bob", "hello")
	h.settled(t)
	bob, _ := h.viewAs(t, "bob", "?sessionId="+mine)
	ask := func() time.Duration {
		began := time.Now()
		acked(t, bob.do(`"type":"configure","config":{"model":"m"}`))
		return time.Since(began)
	}
	quiet := latencies(100, ask)
	before := h.resident(t)

	over := make(chan struct{})
	var attacking sync.WaitGroup
	flood := &flood{h: h, over: over}
	for range 2 {
		c := h.rawSocket(t, "ada", "/ws?sessionId="+id)
		attacking.Go(func() { flood.commands(c.conn, 5_000) })
	}
	for range 100 {
		c := h.rawSocket(t, "ada", "/ws?sessionId="+id) // nobody reads it
		c.conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	}
	attacking.Go(func() { flood.talk(t, id) })
	attacking.Go(func() { flood.connect(t, "GET /ws?sessionId="+id, connections) })
	<-flood.started()
	loud := latencies(commands, ask)
	close(over)
	attacking.Wait()
	if n := h.audited(t); n > 1100 {
		t.Errorf("the audit has %d lines", n)
	}
	after := h.resident(t)
	t.Logf("bob's p50 and p99: quiet %s and %s, in the flood %s and %s; %d commands sent, %d connections let in and %d refused; from %d to %d MB",
		quiet(50), quiet(99), loud(50), loud(99), flood.sent.Load(), flood.in.Load(), flood.out.Load(), before>>20, after>>20)
	if most := 200*time.Millisecond + 5*quiet(99); loud(99) > most { // the attackers share the machine with the server
		t.Errorf("bob's p99 is %s, was %s", loud(99), quiet(99))
	}
	if flood.in.Load() > gateway.MaxWebSockets || int(flood.in.Load()+flood.out.Load()) != connections {
		t.Errorf("%d connections were let in, %d refused", flood.in.Load(), flood.out.Load())
	}
	if after > before+128<<20 {
		t.Errorf("the flood grew the server from %d to %d MB", before>>20, after>>20)
	}
}

// latencies asks n times, and gives the percentiles.
func latencies(n int, ask func() time.Duration) func(percent int) time.Duration {
	var all []time.Duration
	for range n {
		all = append(all, ask())
	}
	slices.Sort(all)
	return func(percent int) time.Duration { return all[min(len(all)-1, len(all)*percent/100)] }
}

// flood is what the attackers do, until it is over.
type flood struct {
	h             *house
	over          chan struct{}
	sent, in, out atomic.Int64
}

// started closes when every attack is under way.
func (f *flood) started() <-chan struct{} {
	ready := make(chan struct{})
	go func() {
		defer close(ready)
		for end := time.Now().Add(patience); time.Now().Before(end) && (f.sent.Load() < 1000 || f.in.Load() < 50); {
			time.Sleep(time.Millisecond) // sleep: the attackers need the machine
		}
	}()
	return ready
}

// commands sends so many a second, and reads the answers.
func (f *flood) commands(c net.Conn, perSecond int) {
	const batch = 50
	text := wsFrame(0x81, true, `{"type":"commands","commands":[`+strings.Repeat(`{"type":"cancel"},`, batch-1)+`{"type":"cancel"}]}`)
	c.SetDeadline(time.Now().Add(10 * time.Minute))
	var reading sync.WaitGroup
	defer reading.Wait()
	reading.Go(func() { io.Copy(io.Discard, c) })
	defer c.Close()
	tick := time.NewTicker(time.Second * batch / time.Duration(perSecond))
	defer tick.Stop()
	for {
		select {
		case <-f.over:
			return
		case <-tick.C:
			if _, err := c.Write(text); err != nil {
				return
			}
			f.sent.Add(batch)
		}
	}
}

// talk makes the session say some 100 KB, ten times a second: a prompt is
// echoed.
func (f *flood) talk(t *testing.T, id string) {
	body := `{"prompt":"` + strings.Repeat("all work and no play ", 5_000) + `"}`
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-f.over:
			return
		case <-tick.C:
			f.h.send(t, ask{as: "ada", method: "POST", path: "/chat/sessions/" + id + "/turns", body: body, header: http.Header{"Accept": {"application/json"}}}) // whatever it is answered
		}
	}
}

// connect opens connections, keeps those that are let in, and counts.
func (f *flood) connect(t *testing.T, request string, n int) {
	for range n {
		conn, resp := f.h.knock(t, "ada", request)
		switch {
		case resp.StatusCode == http.StatusSwitchingProtocols:
			f.in.Add(1)
		case resp.StatusCode == http.StatusTooManyRequests && resp.Close:
			f.out.Add(1)
			conn.Close()
		default:
			t.Errorf("connection: %s", resp.Status)
		}
	}
}

// TestASlowBodyIsCutOff is attack 39 against a real server: a body that comes
// byte by byte has its time, from many at once, and others are served meanwhile.
// Its exact time, and a head's, is in gateway's TestWhoIsSlowIsCutOff.
func TestASlowBodyIsCutOff(t *testing.T) {
	if os.Getenv("LONG") == "" {
		t.Skip("takes the time of a body; LONG=1 has it")
	}
	t.Parallel()
	h := newHouse(t)
	id := h.session(t, "ada", "")
	h.unchanged(t, func() {
		var slow sync.WaitGroup
		h.leaves(t, "bodies that never end", 50, func() {
			for range 50 {
				c, err := h.stranger().Dial("tcp", h.host)
				if err != nil {
					t.Fatal(err)
				}
				slow.Go(func() {
					defer c.Close()
					c.SetDeadline(time.Now().Add(gateway.BodyFor + patience))
					begin := fmt.Sprintf("POST /chat/sessions/%s/turns HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{\"prompt\":\"", id, h.host, h.tokens["ada"])
					if _, d := drip(c, begin); d < gateway.BodyFor-time.Second || d > gateway.BodyFor+busy {
						t.Errorf("cut off after %s", d)
					}
				})
			}
			for range 20 {
				began := time.Now()
				h.must(t, ask{as: "bob", method: "GET", path: "/sessions"})
				if d := time.Since(began); d > busy {
					t.Errorf("meanwhile a request took %s", d)
				}
			}
			slow.Wait()
		})
	})
}

// TestAMessageThatDripsIsCutOff is the end of attack 35 against a real server: a
// WebSocket message that comes byte by byte ends with 1008 when its time is over.
// Its exact time is in internal/socket, and what is taken down of it in
// protocol/delta.
func TestAMessageThatDripsIsCutOff(t *testing.T) {
	if os.Getenv("LONG") == "" {
		t.Skip("takes the time of a message; LONG=1 has it")
	}
	t.Parallel()
	h := newHouse(t)
	id := h.session(t, "ada", "")
	h.unchanged(t, func() {
		h.refused(t, "a message that drips", func() {
			r := h.rawSocket(t, "ada", "/ws?sessionId="+id)
			r.conn.SetDeadline(time.Now().Add(2 * patience))
			begun := wsFrame(0x81, true, strings.Repeat(" ", 1000))[:20]
			if said, d := drip(r.conn, string(begun)); !bytes.Contains(said, []byte("\x03\xf0message took too long")) {
				t.Errorf("after %s it ended with %.200q", d, said)
			}
		})
	})
}
