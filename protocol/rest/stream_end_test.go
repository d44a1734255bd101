package rest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/kernel"
	"harness/store/memory"
)

// A finished session replays and the stream ends if that was asked for; one
// that is merely idle does not end, and nothing ends unasked.
func TestUntilTerminal(t *testing.T) {
	eachStore(t, func(t *testing.T, st harness.Store) {
		h := build(t, st, "say one\ngate on\nsay two\n", kernel.Options{}, feedOptions{})
		chat, err := h.k.Create(t.Context(), harness.NewSession{Kind: harness.Chat})
		if err != nil {
			t.Fatal(err)
		}
		job, err := h.k.Create(t.Context(), harness.NewSession{Kind: harness.Background})
		if err != nil {
			t.Fatal(err)
		}
		h.submit(chat, "go")
		h.submit(job, "go")
		live, lone := h.listen(string(job)+"?until=terminal"), h.listen(string(job)+"?until=terminal&types=session_checkpoint")
		open, idle := h.listen(string(job)), h.listen(string(chat)+"?until=terminal")
		live.until("token")
		h.engine.Open("on")
		idle.until("turn_end")
		live.rest()
		if got := lone.rest(); len(got) != 0 {
			t.Errorf("told %v", got)
		}
		h.asleep()
		sum, err := h.feeds.summary(t.Context(), job)
		if err != nil || sum.Status != harness.StatusCompleted {
			t.Fatalf("status %s, %v", sum.Status, err)
		}
		all := h.log(job, everything)
		same(t, "a finished session", h.listen(string(job)+"?until=terminal").rest(), all)
		same(t, "its end", h.listen(string(job)+"?until=terminal", "Last-Event-ID: "+all[len(all)-1].id).rest(), nil)
		eventually(t, "two streams are left", func() bool { return h.feeds.srv.Len() == 2 })
		h.submit(chat, "again")
		idle.until("turn_end")
		h.submit(job, "again") // leaves the end
		open.until("turn_end")
		open.until("turn_end")
	})
}

// A turn's stream ends behind its turn_end, also if nobody wants to see that,
// whether the turn runs or ended before.
func TestUntilTheTurnEnds(t *testing.T) {
	eachStore(t, func(t *testing.T, st harness.Store) {
		h := build(t, st, "say a\ngate on\nsay b\n", kernel.Options{IdleAfter: time.Second}, feedOptions{})
		id := h.create("")
		one := h.submit(id, "one")
		h.submit(id, "two")
		a := h.listen(fmt.Sprintf("%s?turn=%s", id, one.Turn))
		b := h.listen(fmt.Sprintf("%s?turn=%s&types=token", id, one.Turn))
		h.engine.Open("on")
		first := a.rest()
		if e := first[len(first)-1]; e.name != "turn_end" || !strings.Contains(e.data, string(one.Turn)) {
			t.Errorf("ends with %v", e)
		}
		for _, e := range b.rest() {
			if e.name != "token" {
				t.Errorf("told %v", e)
			}
		}
		again := h.listen(fmt.Sprintf("%s?turn=%s", id, one.Turn)).rest()
		same(t, "a turn that ended", again, first)
		h.listen(fmt.Sprintf("%s?turn=%s&after=%s", id, one.Turn, h.log(id, everything)[len(first)].id)).rest()
	})
}

// A feed that looked at the session before a turn began, and tells of it after
// the turn's stream came, does not end that stream.
func TestAnOldRowDoesNotEndTheStreamOfATurn(t *testing.T) {
	t.Parallel()
	idle, busy := harness.Summary{Seq: 14, Status: harness.Idle}, harness.Summary{Seq: 16, Status: harness.Running}
	r := &room{end: idle.Seq}
	w := &stream{want: everything, at: idle.Seq, terms: &terms{until: untilTurn("trn_2")}}
	for _, sum := range []harness.Summary{idle, busy, idle} {
		r.note(sum)
	}
	if r.ends(w) {
		t.Error("the stream ends before its turn was told")
	}
	r.note(harness.Summary{Seq: 20, Status: harness.Idle})
	if w.at = 20; !r.ends(w) {
		t.Error("the stream goes on behind its turn")
	}
}

// What cannot be shown ends, and says so without internals.
func TestARemovedSessionEndsItsStreams(t *testing.T) {
	eachStore(t, func(t *testing.T, st harness.Store) {
		h := build(t, st, "echo", kernel.Options{}, feedOptions{})
		id := h.create("")
		h.submit(id, "hi")
		h.asleep()
		var all []*listener
		for range 5 {
			l := h.listen(string(id))
			l.until("turn_end")
			all = append(all, l)
		}
		h.asleep()
		if err := h.k.Remove(context.Background(), id); err != nil {
			t.Fatal(err)
		}
		h.feeds.look(id)
		for _, l := range all {
			got := l.rest()
			if len(got) != 1 || got[0].name != "error" || got[0].id != "" || !strings.Contains(got[0].data, `"code":"not_found"`) {
				t.Errorf("told %v", got)
			}
		}
		eventually(t, "nothing is left", func() bool { return h.feeds.count() == 0 && h.feeds.srv.Len() == 0 })
	})
}

// Who comes into the room of a session that was removed, having seen it there
// still, is told too.
func TestAStreamThatComesTooLateForItsSessionEnds(t *testing.T) {
	t.Parallel()
	h := build(t, memory.New(), "echo", kernel.Options{}, feedOptions{})
	id := h.create("")
	h.asleep()
	sum, err := h.feeds.summary(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	ended := func(w *stream) func() bool {
		return func() bool {
			w.room.mu.Lock()
			defer w.room.mu.Unlock()
			return w.ended && strings.Contains(string(w.rest), `"code":"not_found"`)
		}
	}
	first, late := &stream{want: everything, at: sum.Seq}, &stream{want: everything, at: sum.Seq}
	h.feeds.enter(first, id, sum)
	defer h.feeds.leave(first)
	h.asleep()
	if err := h.k.Remove(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	h.feeds.look(id)
	eventually(t, "the first is told", ended(first))
	h.asleep()
	h.feeds.enter(late, id, sum)
	defer h.feeds.leave(late)
	eventually(t, "the late one is told", ended(late))
}

func TestADamagedSessionIsShownUpToTheDamage(t *testing.T) {
	t.Parallel()
	st := &holed{Store: memory.New(), at: 5}
	h := build(t, st, "echo", kernel.Options{IdleAfter: time.Minute}, feedOptions{})
	id := h.create("")
	h.submit(id, "hi")
	eventually(t, "the turn ends", func() bool { return len(h.log0(id)) > 5 })
	l := h.listen(string(id))
	got := l.rest()
	if n := len(got); n != 5 || got[3].id != "4" || got[4].name != "error" || !strings.Contains(got[4].data, `"code":"corrupt"`) || strings.Contains(got[4].data, "secret") {
		t.Errorf("told %v", got)
	}
	past := h.listen(fmt.Sprintf("%s?after=%d", id, len(h.log0(id)))) // the rest of it is well
	h.submit(id, "more")
	past.until("turn_end")
}

// log0 is log of a store below its damage.
func (h *house) log0(id harness.SessionID) (all []harness.Event) {
	for e, err := range h.store.(*holed).Store.Read(context.Background(), id, 0) {
		if err == nil {
			all = append(all, e)
		}
	}
	return all
}
