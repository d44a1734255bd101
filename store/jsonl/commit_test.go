package jsonl_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/store/jsonl"
)

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// author writes a thread's commits as the kernel does: the summary is what the
// events add up to.
type author struct{ state harness.State }

// next is a commit of n events; each says which of how many it is.
func (a *author) next(id harness.SessionID, n int) harness.Commit {
	c := harness.Commit{Session: id, After: a.state.Seq}
	for i := range n {
		seq := c.After + 1 + harness.Seq(i)
		var p harness.Payload = &harness.Token{Text: fmt.Sprintf("%d of %d %s", i+1, n, strings.Repeat("x", int(seq)%70))}
		if seq%5 == 1 {
			p = &harness.SessionState{Status: harness.Statuses()[seq%9], Reason: fmt.Sprintf("%d of %d", i+1, n), Title: new(fmt.Sprintf("at %d", seq)), UserID: "ada", Directory: "/somewhere"}
		}
		e := harness.NewEvent(id, seq, epoch.Add(time.Duration(seq)*time.Millisecond), "", p)
		a.state.Apply(e)
		c.Events = append(c.Events, e)
	}
	c.Summary = a.state.Summary()
	return c
}

// fork is the first commit of a branch that a ends at, and the branch's author.
func (a *author) fork(id harness.SessionID) (*author, harness.Commit) {
	b := &author{*a.state.Clone()}
	parent := a.state.Session
	e := harness.NewEvent(id, a.state.Seq+1, epoch, "", &harness.SessionState{
		ParentSessionID: parent, BranchSourceEventID: harness.EventID(parent, a.state.Seq), Status: harness.Idle,
	})
	b.state.Apply(e)
	return b, harness.Commit{
		Session: id, After: a.state.Seq, Events: []harness.Event{e}, Summary: b.state.Summary(),
		From: &harness.Branch{Session: parent, Seq: a.state.Seq},
	}
}

func mustAppend(t testing.TB, st harness.Store, commits ...harness.Commit) {
	t.Helper()
	for _, c := range commits {
		if err := st.Append(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
}

// fold reads id and returns what its events add up to, and why not all.
func fold(t testing.TB, st harness.Store, id harness.SessionID) (*harness.State, error) {
	t.Helper()
	s := new(harness.State)
	for e, err := range st.Read(t.Context(), id, 0) {
		if err != nil {
			return s, err
		}
		if e.Seq != s.Seq+1 {
			t.Fatalf("event %d of %s behind %d", e.Seq, id, s.Seq)
		}
		s.Apply(e)
	}
	return s, nil
}

// row is id's row in the list.
func row(t testing.TB, st harness.Store, id harness.SessionID) (r harness.Summary) {
	t.Helper()
	for got, err := range st.List(t.Context(), harness.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if got.Session == id {
			r = got
		}
	}
	return r
}

// mustAgree checks that the list says what the log adds up to, and returns that.
func mustAgree(t testing.TB, st harness.Store, id harness.SessionID) *harness.State {
	t.Helper()
	s, err := fold(t, st, id)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := row(t, st, id), s.Summary(); !reflect.DeepEqual(got, want) {
		t.Fatalf("%s in the list\n got %+v\nwant %+v", id, got, want)
	}
	return s
}

func file(dir string, id harness.SessionID, name string) string {
	return filepath.Join(dir, "threads", string(id), name)
}

func load(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func store(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func mustClose(t testing.TB, st *jsonl.Store) {
	t.Helper()
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

// crashed is a directory whose thread a has the given commits, and a meta.json
// from before the last one, as a crash leaves it. It returns where the last
// commit begins.
func crashed(t testing.TB, dir string, sizes ...int) (log []byte, last int) {
	t.Helper()
	a := new(author)
	var old []byte
	for i, n := range sizes {
		st := open(t, dir)
		mustAppend(t, st, a.next("a", n))
		mustClose(t, st)
		if i < len(sizes)-1 {
			old = load(t, file(dir, "a", "meta.json"))
			last = len(load(t, file(dir, "a", "events.jsonl")))
		}
	}
	store(t, file(dir, "a", "meta.json"), old)
	return load(t, file(dir, "a", "events.jsonl")), last
}
