package storetest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"harness"
)

func readFromAnyPlaceIsGapFree(t testing.TB, s Suite) {
	st := s.Open(t)
	var all []harness.Event
	for _, n := range []int{1, 2, 1, 7, 1, 1, 30, 3} {
		c := commit("a", harness.Seq(len(all)), n)
		mustAppend(t, st, c, commit("b", harness.Seq(len(all)), n))
		all = append(all, c.Events...)
	}
	for after := range len(all) {
		mustHave(t, st, "a", harness.Seq(after), all[after:])
	}
	for _, after := range []harness.Seq{46, 47, 1 << 40, 1<<64 - 1} {
		mustHave(t, st, "a", after, nil)
	}
	for range st.Read(t.Context(), "a", 0) {
		break // stopping early is allowed
	}
}

func readWhileWritingSeesAPrefix(t testing.TB, s Suite) {
	st := s.Open(t)
	const size = 5
	mustAppend(t, st, commit("a", 0, size))
	head := harness.Seq(size)
	seen := harness.Seq(0)
	for e, err := range st.Read(t.Context(), "a", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; e.Seq != seen {
			t.Fatalf("got event %d after %d while the log grew", e.Seq, seen-1)
		}
		if head < 8*size { // grow the log under the reader
			mustAppend(t, st, commit("a", head, size))
			head += size
		}
	}
	if seen%size != 0 {
		t.Fatalf("read %d events: part of a commit of %d", seen, size)
	}

	var wg sync.WaitGroup
	defer wg.Wait()
	written := make(chan struct{})
	wg.Go(func() {
		defer close(written)
		for ; head < 100*size; head += size {
			if err := st.Append(t.Context(), commit("a", head, size)); err != nil {
				t.Errorf("append after %d: %v", head, err)
				return
			}
		}
	})
	for last := 0; ; {
		got := history(t, st, "a", 0)
		for i, e := range got {
			if e.Seq != harness.Seq(i+1) {
				t.Fatalf("event %d in the place of %d", e.Seq, i+1)
			}
		}
		if len(got)%size != 0 || len(got) < last {
			t.Fatalf("read %d events after %d: not a later whole number of commits", len(got), last)
		}
		last = len(got)
		select {
		case <-written:
			return
		default:
		}
	}
}

func unknownPayloadsSurvive(t testing.TB, s Suite) {
	st := s.Open(t)
	const ts = `"ts":"2031-01-01T00:00:00.000Z","session_id":"a"`
	lines := []string{
		`{"seq":1,` + ts + `,"type":"from_the_future","tier":"default","payload":{"deep":[1,2.50,{"x":null}],"big":123456789012345678901234567890}}`,
		`{"seq":2,"extra":{"kept":true},` + ts + `,"type":"token","payload":{"text":"a","more":[ 1 ]}}`,
		`{"seq":3,` + ts + `,"type":"token","payload":"not an object"}`,
		`{"seq":4,` + ts + `,"type":"nothing"}`,
	}
	c := harness.Commit{Session: "a", Summary: summary("a", 4)}
	for _, line := range lines {
		e, err := harness.DecodeEvent([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		c.Events = append(c.Events, e)
	}
	want := slices.Clone(c.Events) // a store could change its argument
	mustAppend(t, st, c)
	mustHave(t, st, "a", 0, want)
}

func idsAreOpaque(t testing.TB, s Suite) {
	st := s.Open(t)
	ids := []harness.SessionID{
		"a", "A", "a.", "a.1", "a.1.2", "a:b", "a-b", "a_b", "_", "-", ":", "0", "00", "ses_u0", "con", "a.db", "a--", "a..b", "NULL", "null",
		harness.SessionID(strings.Repeat("x", harness.MaxID)), harness.SessionID(strings.Repeat("x", harness.MaxID-1)),
	}
	for i, id := range ids {
		mustAppend(t, st, commit(id, 0, i+1))
	}
	for i, id := range ids {
		mustHave(t, st, id, 0, commit(id, 0, i+1).Events)
		rows, err := collect(st.List(t.Context(), harness.Filter{Session: id}))
		if err != nil || len(rows) != 1 || rows[0].Session != id {
			t.Fatalf("list of session %q: %v, %v", id, rows, err)
		}
	}
}

func aMegabyteEventSurvives(t testing.TB, s Suite) {
	st := s.Open(t)
	c := commit("a", 0, 3)
	c.Events[1] = harness.NewEvent("a", 2, epoch, "", &harness.Token{Text: strings.Repeat("é\n\"<", 1<<18)})
	if n := len(c.Events[1].JSON()); n < 1<<20 {
		t.Fatalf("the event has only %d bytes", n)
	}
	mustAppend(t, st, c)
	mustHave(t, st, "a", 0, c.Events)
}

// longLogsAreReadInBoundedMemory watches the heap while a long log is read: it
// may not grow by more than a third of the log.
func longLogsAreReadInBoundedMemory(t testing.TB, s Suite) {
	st := s.Open(t)
	total, size := 8_000, 3000
	if long() {
		total = 50_000
	}
	text := strings.Repeat("x", size)
	const batch = 500
	for after := 0; after < total; after += batch {
		c := harness.Commit{Session: "a", After: harness.Seq(after), Summary: summary("a", harness.Seq(after+batch))}
		for i := range batch {
			c.Events = append(c.Events, harness.NewEvent("a", harness.Seq(after+i+1), epoch, "", &harness.Token{Text: text}))
		}
		mustAppend(t, st, c)
	}
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before, n := heap(), 0
	for e, err := range st.Read(t.Context(), "a", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; e.Seq != harness.Seq(n) {
			t.Fatalf("event %d in the place of %d", e.Seq, n)
		}
		if n%(total/8) == 1 {
			if grown := heap() - before; grown > total*size/3 {
				t.Fatalf("at event %d of %d the heap has grown by %d kB", n, total, grown>>10)
			}
		}
	}
	if n != total {
		t.Fatalf("read %d events, want %d", n, total)
	}
}

func aMissingSessionIsNotFound(t testing.TB, s Suite) {
	st := s.Open(t)
	mustAppend(t, st, commit("a", 0, 1))
	for _, after := range []harness.Seq{0, 1, 5} {
		_, err := collect(st.Read(t.Context(), "b", after))
		mustBe(t, err, harness.ErrNotFound, fmt.Sprintf("read of a missing session after %d", after))
	}
	if rows, err := collect(st.List(t.Context(), harness.Filter{Session: "b"})); err != nil || len(rows) != 0 {
		t.Fatalf("list of a missing session: %v, %v", rows, err)
	}
	if sn, ok := st.(harness.Snapshotter); ok {
		_, err := sn.LoadSnapshot(t.Context(), "b", 0)
		mustBe(t, err, harness.ErrNotFound, "snapshot of a missing session")
		_, err = sn.LoadSnapshot(t.Context(), "a", 0)
		mustBe(t, err, harness.ErrNotFound, "snapshot that nobody saved")
		_, err = collect(sn.Messages(t.Context(), "b", 0, 1))
		mustBe(t, err, harness.ErrNotFound, "messages of a missing session")
		err = sn.SaveSnapshot(t.Context(), harness.Snapshot{Session: "b", Seq: 1, State: []byte("{}")})
		mustBe(t, err, harness.ErrNotFound, "saving a snapshot of a missing session")
	}
	if r, ok := st.(harness.Remover); ok {
		mustBe(t, r.Remove(t.Context(), "b"), harness.ErrNotFound, "remove of a missing session")
	}
}
