package main

import (
	"bufio"
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

// busy is what a request may take on a machine that has other tests to run. Whoever
// is in the way of others is there for longer.
const busy = 20 * time.Second

// hammer sends the same head over a connection n times, pipelined, and counts
// the answers by status.
func (h *house) hammer(t testing.TB, d *net.Dialer, head string, n int) map[string]int {
	t.Helper()
	c, err := d.Dial("tcp", h.host)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(5 * time.Minute))
	var writing sync.WaitGroup
	defer writing.Wait()
	writing.Go(func() {
		w := bufio.NewWriterSize(c, 64<<10)
		for range n {
			io.WriteString(w, head)
		}
		w.Flush()
	})
	seen, r := map[string]int{}, bufio.NewReader(c)
	for range n {
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Errorf("after %v: %v", seen, err)
			return seen
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		seen[fmt.Sprint(resp.StatusCode)]++
	}
	return seen
}

// TestAHundredThousandFailuresChangeNothing is attack 10 at its largest: wrong
// tokens from one address cost a bounded time and no memory, and who has the
// right one is let in, also from that address, also meanwhile. CI and LONG=1 have all of
// them; ten thousand are tried always.
func TestAHundredThousandFailuresChangeNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.session(t, "ada", "hello")
	both := 10_000
	if os.Getenv("LONG")+os.Getenv("CI") != "" {
		both = 100_000
	}
	wrong := "GET /sessions HTTP/1.1\r\nHost: " + h.host + "\r\nAuthorization: Bearer " + gateway.TokenPrefix + strings.Repeat("w", 43) + "\r\n\r\n"
	h.hammer(t, h.stranger(), wrong, 1000) // what the first ones cost is not what counts
	before, began := h.resident(t), time.Now()
	var seen sync.Map
	h.unchanged(t, func() {
		var attacking sync.WaitGroup
		var over atomic.Bool
		from := h.stranger()
		for i := range 2 {
			attacking.Go(func() { seen.Store(i, h.hammer(t, from, wrong, both/2)) })
		}
		var asking sync.WaitGroup
		asking.Go(func() {
			for asked := 0; !over.Load() || asked == 0; asked++ {
				began := time.Now()
				if got := h.send(t, ask{as: "ada", method: "GET", path: "/sessions"}); got.status != 200 || time.Since(began) > busy {
					t.Errorf("meanwhile: %d after %s", got.status, time.Since(began))
				}
			}
		})
		attacking.Wait()
		over.Store(true)
		asking.Wait()
		h.bounded(t, "audit.log", `"remote":"`+from.LocalAddr.(*net.TCPAddr).IP.String()+`:`, time.Since(began))
		right := strings.Replace(wrong, gateway.TokenPrefix+strings.Repeat("w", 43), h.tokens["ada"], 1)
		if got := h.hammer(t, from, right, 1); got["200"] != 1 {
			t.Errorf("the right token from the address that failed: %v", got)
		}
	})
	took := time.Since(began)
	n := map[string]int{}
	for i := range 2 {
		v, _ := seen.Load(i)
		for status, k := range v.(map[string]int) {
			n[status] += k
		}
	}
	if n["401"]+n["429"] != both || n["401"] > 1000 || n["401"] < 1 {
		t.Errorf("answers: %v", n)
	}
	after := h.resident(t)
	t.Logf("%d failures in %s (%v), from %d to %d MB", both, took.Round(time.Millisecond), n, before>>20, after>>20)
	if after > before+32<<20 {
		t.Errorf("%d failures grew the server from %d to %d MB", both, before>>20, after>>20)
	}
	if took > 2*time.Minute {
		t.Errorf("%d failures took %s", both, took)
	}
}

// drip sends begin, and then a byte now and then, which does not help: it returns
// what the server said until it ended the connection, and how long that took.
func drip(c net.Conn, begin string) (said []byte, took time.Duration) {
	began, gone := time.Now(), make(chan struct{})
	go func() {
		defer close(gone)
		said, _ = io.ReadAll(c) // a reset is an end as well
	}()
	io.WriteString(c, begin)
	clock := time.NewTicker(200 * time.Millisecond)
	defer clock.Stop()
	for {
		select {
		case <-clock.C:
			io.WriteString(c, "x")
		case <-gone:
			return said, time.Since(began)
		}
	}
}

// TestWhoSendsSlowlyIsCutOff is attack 39: a head that never ends, byte by byte,
// from many at once, and others are served meanwhile.
func TestWhoSendsSlowlyIsCutOff(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var slow sync.WaitGroup
	h.unchanged(t, func() {
		h.leaves(t, "heads that never end", 100, func() {
			for range 100 {
				c, err := h.stranger().Dial("tcp", h.host)
				if err != nil {
					t.Fatal(err)
				}
				slow.Go(func() {
					defer c.Close()
					c.SetDeadline(time.Now().Add(patience))
					if _, d := drip(c, "GET /sessions HTTP/1.1\r\nHost: "+h.host+"\r\nX-Slow: "); d > gateway.HeaderFor+busy {
						t.Errorf("cut off after %s", d)
					}
				})
			}
			for range 20 {
				began := time.Now()
				h.must(t, ask{as: "ada", method: "GET", path: "/sessions"})
				if d := time.Since(began); d > busy {
					t.Errorf("meanwhile a request took %s", d)
				}
			}
			slow.Wait()
		})
	})
}

// TestAClientThatOnlyTalksHurtsOnlyItself is attack 38, in the small: one that
// sends and never reads, one that sends as fast as it can, and bob.
func TestAClientThatOnlyTalksHurtsOnlyItself(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id, mine := h.session(t, "ada", "hello"), h.session(t, "bob", "hello")
	h.settled(t)
	bob, _ := h.viewAs(t, "bob", "?sessionId="+mine)
	before := h.resident(t)
	var over atomic.Bool
	var flooding sync.WaitGroup
	cancel := wsFrame(0x81, true, `{"type":"commands","commands":[`+strings.Repeat(`{"type":"cancel","commandId":"x"},`, 63)+`{"type":"cancel"}]}`)
	for range 4 {
		r := h.rawSocket(t, "ada", "/ws?sessionId="+id) // nobody reads it
		flooding.Go(func() {
			for !over.Load() {
				r.conn.SetDeadline(time.Now().Add(100 * time.Millisecond))
				if _, err := r.conn.Write(cancel); err != nil {
					return
				}
			}
		})
	}
	var waited []time.Duration
	for range 50 {
		began := time.Now()
		acked(t, bob.do(`"type":"configure","config":{"model":"m"}`))
		waited = append(waited, time.Since(began))
	}
	slices.Sort(waited)
	if half, most := waited[len(waited)/2], waited[len(waited)-1]; half > 2*time.Second || most > busy {
		t.Errorf("bob waited %s, and once %s", half, most)
	}
	over.Store(true)
	flooding.Wait()
	if n := h.audited(t); n > 1100 { // who is told to wait is refused; that a turn does not run is not
		t.Errorf("the audit has %d lines", n)
	}
	if after := h.resident(t); after > before+64<<20 {
		t.Errorf("the flood grew the server from %d to %d MB", before>>20, after>>20)
	}
}
