package rest

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"harness"
	"harness/internal/socket"
	"harness/kernel"
	"harness/store/memory"
)

// chatter is a turn of many small events that do not merge.
func chatter(n int, pause string) string {
	return fmt.Sprintf("repeat %d\nsay x\nthink y\nsay z\ncall look {\"at\":1} => seen\nwait %s\nend\n", n, pause)
}

func TestStreamIsTheLogsOwnBytes(t *testing.T) {
	eachStore(t, func(t *testing.T, st harness.Store) {
		h := build(t, st, "say hello\ncall look => \"a\\nb\"\n", kernel.Options{}, feedOptions{})
		id := h.create("")
		h.submit(id, "line one\nline two\r\nand three")
		h.asleep()
		l := h.listen(string(id))
		for k, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"} {
			if got := l.resp.Header.Get(k); got != want {
				t.Errorf("%s: %q", k, got)
			}
		}
		want := "retry: 1000\nevent: session\ndata: " + fmt.Sprintf(`{"session_id":%q,"type":"session","tier":"default","payload":{"session_id":%[1]q}}`, id) + "\n\n"
		for e, err := range st.Read(t.Context(), id, 0) {
			if err != nil {
				t.Fatal(err)
			}
			want += fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", e.Seq, e.Type(), e.JSON())
		}
		got := make([]byte, len(want))
		if _, err := io.ReadFull(l.br, got); err != nil || string(got) != want {
			t.Errorf("%v:\n%s\nwant\n%s", err, got, want)
		}
	})
}

// Whatever is committed while streams begin, at any place: each hears every
// event once.
func TestReplayHandsOverToLiveUnderRandomCommits(t *testing.T) {
	eachStore(t, func(t *testing.T, st harness.Store) {
		h := build(t, st, chatter(60, "300us"), kernel.Options{Window: -1, TailEvents: 16}, feedOptions{})
		id := h.create("")
		h.submit(id, "before")
		first := h.listen(string(id))
		first.until("turn_end")
		var wg sync.WaitGroup
		wg.Go(func() {
			for i := range 3 { // it sleeps and wakes in between
				h.submit(id, fmt.Sprint("turn ", i))
				if i == 1 {
					eventually(t, "the session sleeps", func() bool { return h.k.Awake() == 0 })
				}
			}
		})
		rnd := rand.New(rand.NewPCG(1, 2))
		told := make([][]heard, 12)
		queries := make([]string, len(told))
		for i := range told {
			queries[i] = []string{"", "?tier=default", "?types=token,turn_end"}[i%3]
			after := rnd.IntN(100)
			sep := "?"
			if queries[i] != "" {
				sep = "&"
			}
			l := h.listen(fmt.Sprintf("%s%s%safter=%d", id, queries[i], sep, after))
			l.last = fmt.Sprint(after)
			wg.Go(func() {
				for turns := 0; turns < 4; {
					e, err := l.next()
					if err != nil {
						t.Errorf("stream %d behind %s: %v", i, l.last, err)
						return
					}
					told[i] = append(told[i], e)
					if e.name == "turn_end" {
						turns++
					}
				}
			})
			queries[i] += fmt.Sprint(sep, "after=", after)
			for range rnd.IntN(20) { // begin anywhere
				first.must()
			}
		}
		wg.Wait()
		if t.Failed() {
			return
		}
		for i, q := range queries {
			values, _ := url.ParseQuery(strings.TrimPrefix(q, "?"))
			want, err := parseFilter(values)
			if err != nil {
				t.Fatal(err)
			}
			var after int
			fmt.Sscan(values.Get("after"), &after)
			all := h.log(id, want)
			for len(all) > 0 && number(all[0].id) <= after {
				all = all[1:]
			}
			same(t, "stream "+q, told[i], all)
		}
	})
}

func number(s string) (n int) {
	fmt.Sscan(s, &n)
	return n
}

func TestOneFilterForReplayAndLive(t *testing.T) {
	t.Parallel()
	h := build(t, memory.New(), chatter(40, "0s"), kernel.Options{Window: -1}, feedOptions{})
	id := h.create("")
	queries := []string{"", "?tier=debug", "?tier=default", "?types=token", "?types=thinking,tool_call,turn_end", "?tier=default&types=usage,token",
		"?tier=default&types=turn_start", "?types=turn_start", "?types=tool_outcome", "?types=session_state", "?types=response"} // more than there are lanes
	var live []*listener
	for _, q := range queries {
		live = append(live, h.listen(string(id)+q))
	}
	h.submit(id, "go")
	h.asleep()
	for i, q := range queries {
		values, _ := url.ParseQuery(strings.TrimPrefix(q, "?"))
		f, err := parseFilter(values)
		if err != nil {
			t.Fatal(err)
		}
		want := h.log(id, f)
		var got, again []heard
		late := h.listen(string(id) + q)
		for range want {
			got, again = append(got, live[i].must()), append(again, late.must())
		}
		same(t, "live "+q, got, want)
		same(t, "replayed "+q, again, want)
	}
	for _, q := range []string{"?tier=x", "?types=nothing", "?types=token,", "?until=never", "?after=x"} {
		if l, err := listen(t, h.addr, string(id)+q, ""); err != nil || l.resp.StatusCode != 400 {
			t.Errorf("%s: %v %v", q, l, err)
		}
	}
}

func TestEveryKindHasABit(t *testing.T) {
	if n := len(harness.Inventory()); n > 62 {
		t.Errorf("%d kinds do not fit beside the bit of those unknown", n)
	}
}

// A cursor that is none is refused where the client can see it and told in the
// stream where it cannot. It never leads to silence.
func TestCursorsThatAreNone(t *testing.T) {
	eachStore(t, func(t *testing.T, st harness.Store) {
		h := build(t, st, "echo", kernel.Options{}, feedOptions{})
		id, other := h.create(""), h.create("")
		h.submit(id, "hi")
		h.asleep()
		all := h.log(id, everything)
		end := len(all)
		for _, c := range []struct {
			after  string
			reason reason // "": it is one
			from   int
		}{
			{"0", "", 0}, {"3", "", 3}, {fmt.Sprint(end), "", end}, {string(id) + ".2", "", 2},
			{fmt.Sprint(end + 1), cursorAhead, 0}, {"9223372036854775807", cursorAhead, 0}, {fmt.Sprintf("%s.%d", id, end+5), cursorAhead, 0},
			{string(other) + ".1", cursorForeign, 0}, {"ses_nobody.1", cursorForeign, 0},
			{"x", cursorInvalid, 0}, {"-1", cursorInvalid, 0}, {"+1", cursorInvalid, 0}, {"1.5x", cursorInvalid, 0}, {string(id) + ".", cursorInvalid, 0},
			{"18446744073709551616", cursorInvalid, 0}, {"1e3", cursorInvalid, 0}, {".1", cursorInvalid, 0},
		} {
			l, err := listen(t, h.addr, fmt.Sprintf("%s?after=%s", id, url.QueryEscape(c.after)), "")
			if err != nil {
				t.Fatal(err)
			}
			if want := map[bool]int{true: 200, false: 400}[c.reason == ""]; l.resp.StatusCode != want {
				t.Errorf("?after=%s: %s", c.after, l.resp.Status)
			}
			if c.reason == "" && c.from < end {
				same(t, "?after="+c.after, []heard{l.must()}, all[c.from:c.from+1])
			}
			l = h.listen(string(id)+"?after=1", "Last-Event-ID: "+c.after) // the address that it began with
			if c.reason != "" {
				want := heard{"", "reset", fmt.Sprintf(`{"reason":%q,"after":%q,"end":%d}`, c.reason, c.after, end)}
				if got := l.must(); got != want {
					t.Errorf("Last-Event-ID %s: %v, want %v", c.after, got, want)
				}
			}
			var got []heard
			for range all[c.from:] {
				got = append(got, l.must())
			}
			same(t, "Last-Event-ID "+c.after, got, all[c.from:])
		}
		if l, err := listen(t, h.addr, "ses_none", ""); err != nil || l.resp.StatusCode != 404 {
			t.Errorf("no session: %v %v", l, err)
		}
		if h.k.Awake() != 0 {
			t.Error("connecting woke a session")
		}
	})
}

func TestHeadIsAnsweredWithoutAStream(t *testing.T) {
	t.Parallel()
	h := build(t, memory.New(), "echo", kernel.Options{}, feedOptions{})
	resp, err := http.Head(h.web.URL + "/" + string(h.create("")))
	if err != nil || resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("%v %v", resp, err)
	}
	if n := h.feeds.srv.Len(); n != 0 {
		t.Errorf("%d streams", n)
	}
}

// A stream over a connection that cannot be parked is the same stream.
func TestStreamOverAHeldConnection(t *testing.T) {
	t.Parallel()
	h := build(t, memory.New(), chatter(60, "0s"), kernel.Options{Window: -1}, feedOptions{Socket: socket.Options{NoPark: true}})
	id := h.create("")
	l := h.listen(string(id))
	h.submit(id, "go")
	got := l.until("turn_end")
	all := h.log(id, everything)
	same(t, "held", got, all[:len(got)])
}
