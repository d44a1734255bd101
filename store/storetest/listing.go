package storetest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"harness"
)

func summaryAndEventsMoveTogether(t testing.TB, s Suite) {
	st := s.Open(t)
	for head := harness.Seq(0); head < 12; head += 3 {
		c := commit("a", head, 3)
		c.Summary.Status = harness.Statuses()[head/3]
		c.Summary.Reason, c.Summary.Engine, c.Summary.Directory = "reason", "script", "/somewhere/else"
		c.Summary.Pending, c.Summary.Bytes = int(head), int64(head)*100
		c.Summary.SpawnedBy, c.Summary.Attempts, c.Summary.MaxRetries = "b", int(head), 3
		c.Summary.Queued, c.Summary.Retry, c.Summary.Started = epoch.Add(1e6), epoch.Add(2e6), epoch.Add(3e6)
		c.Summary.Ended, c.Summary.Expires = epoch.Add(4e6), epoch.Add(5e6)
		mustAppend(t, st, c)
		got, err := collect(st.List(t.Context(), harness.Filter{Session: "a"}))
		if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], c.Summary) {
			t.Fatalf("after the commit at %d\n got %+v, %v\nwant %+v", head+3, got, err, c.Summary)
		}
	}
	if err := st.Append(t.Context(), commit("a", 3, 3)); err == nil {
		t.Fatal("a stale append succeeded")
	}
	got, err := collect(st.List(t.Context(), harness.Filter{Session: "a"}))
	if err != nil || len(got) != 1 || got[0].Seq != 12 {
		t.Fatalf("after a refused commit: got %+v, %v", got, err)
	}
}

// ids are the sessions of a list, in its order.
func ids(t testing.TB, st harness.Store, f harness.Filter) (ids []harness.SessionID) {
	t.Helper()
	rows, err := collect(st.List(t.Context(), f))
	if err != nil {
		t.Fatalf("list %+v: %v", f, err)
	}
	for _, r := range rows {
		ids = append(ids, r.Session)
	}
	return ids
}

func at(c harness.Commit, d time.Duration) harness.Commit {
	c.Summary.Updated = epoch.Add(d)
	return c
}

func listIsNewestUpdateFirst(t testing.TB, s Suite) {
	st := s.Open(t)
	if got := ids(t, st, harness.Filter{}); len(got) != 0 {
		t.Fatalf("an empty store lists %v", got)
	}
	mustAppend(t, st,
		at(commit("old", 0, 1), -48*time.Hour), at(commit("b", 0, 1), time.Second), at(commit("d", 0, 1), 2*time.Second),
		at(commit("c", 0, 1), 2*time.Second), at(commit("e", 0, 1), time.Hour), at(commit("a", 0, 1), time.Millisecond))
	want := []harness.SessionID{"e", "d", "c", "b", "a", "old"}
	if got := ids(t, st, harness.Filter{}); !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	mustAppend(t, st, at(commit("b", 1, 1), 2*time.Hour), at(commit("old", 1, 1), 1500*time.Millisecond))
	want = []harness.SessionID{"b", "e", "d", "c", "old", "a"}
	if got := ids(t, st, harness.Filter{}); !slices.Equal(got, want) {
		t.Fatalf("after two updates: got %v, want %v", got, want)
	}
}

func listPagesWithoutGapOrRepeat(t testing.TB, s Suite) {
	st := s.Open(t)
	const total = 60
	var want []harness.SessionID
	for i := range total {
		id := harness.SessionID(fmt.Sprintf("s%03d", total-i))
		c := at(commit(id, 0, 1), -time.Duration(i*i)*time.Second)
		c.Summary.Status = harness.Statuses()[i%3]
		mustAppend(t, st, c)
		want = append(want, id)
	}
	for _, statuses := range [][]harness.Status{nil, harness.Statuses()[:3]} {
		for _, limit := range []int{1, 7, total, total + 1} {
			var got []harness.SessionID
			f := harness.Filter{Limit: limit, Statuses: statuses}
			for {
				rows, err := collect(st.List(t.Context(), f))
				if err != nil || len(rows) > limit {
					t.Fatalf("page of %d: got %d rows, %v", limit, len(rows), err)
				}
				if len(rows) == 0 {
					break
				}
				for _, r := range rows {
					got = append(got, r.Session)
				}
				if len(got) > 2*total {
					t.Fatalf("pages of %d never end: %v", limit, got)
				}
				f.Before = &rows[len(rows)-1]
			}
			if !slices.Equal(got, want) {
				t.Fatalf("pages of %d: got %v, want %v", limit, got, want)
			}
		}
	}
	for range st.List(t.Context(), harness.Filter{}) {
		break // stopping early is allowed
	}
}

func listFilters(t testing.TB, s Suite) {
	st := s.Open(t)
	mustAppend(t, st, commit("parent", 0, 1))
	users, kinds, parents := []string{"ada", "bob", ""}, []harness.Kind{harness.Chat, harness.Background}, []harness.SessionID{"", "parent"}
	all := []harness.Summary{summary("parent", 1)}
	for i := range 40 {
		id := harness.SessionID(fmt.Sprintf("s%02d", i))
		c := at(commit(id, 0, 1), time.Duration(i)*40*time.Second)
		c.Summary.User, c.Summary.Kind, c.Summary.Parent = users[i%3], kinds[i%2], parents[i/3%2]
		c.Summary.Status = harness.Statuses()[i%9]
		mustAppend(t, st, c)
		all = append(all, c.Summary)
	}
	slices.SortFunc(all, func(a, b harness.Summary) int { return b.Updated.Compare(a.Updated) })
	sets := [][]harness.Status{nil, {harness.Idle}, {harness.Running, harness.Paused, harness.Running}, {"unheard-of"}}
	for _, session := range []harness.SessionID{"", "s07", "nobody"} {
		for _, user := range []string{"", "ada", "nobody"} {
			for _, kind := range []harness.Kind{"", harness.Background} {
				for _, parent := range parents {
					for _, statuses := range sets {
						f := harness.Filter{Session: session, User: user, Kind: kind, Parent: parent, Statuses: statuses, Limit: 7}
						var want []harness.SessionID
						for _, r := range all {
							if (session == "" || r.Session == session) && (user == "" || r.User == user) && (kind == "" || r.Kind == kind) &&
								(parent == "" || r.Parent == parent) && (statuses == nil || slices.Contains(statuses, r.Status)) && len(want) < f.Limit {
								want = append(want, r.Session)
							}
						}
						if got := ids(t, st, f); !slices.Equal(got, want) {
							t.Fatalf("%+v\n got %v\nwant %v", f, got, want)
						}
					}
				}
			}
		}
	}
}

func countFollowsTheList(t testing.TB, s Suite) {
	st := s.Open(t)
	counter, ok := st.(harness.Counter)
	if !ok {
		t.Skip("not a Counter")
	}
	want := make(map[harness.Status]int)
	for i, status := range append(harness.Statuses(), harness.Idle, harness.Running) {
		c := commit(harness.SessionID(fmt.Sprintf("s%d", i)), 0, 1)
		c.Summary.Status = harness.Queued
		mustAppend(t, st, c)
		c = commit(c.Session, 1, 1)
		c.Summary.Status = status
		mustAppend(t, st, c)
		want[status]++
		got, err := counter.Count(t.Context())
		if err != nil || !maps.Equal(got, want) {
			t.Fatalf("after %d sessions: %v, %v; want %v", i+1, got, err, want)
		}
	}
}
