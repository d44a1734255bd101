package storetest

import (
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"harness"
)

// epoch is when the tests' sessions begin.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// event is one with a text of its own.
func event(id harness.SessionID, seq harness.Seq) harness.Event {
	return harness.NewEvent(id, seq, epoch.Add(time.Duration(seq)*time.Millisecond), "trn_1", &harness.Token{Text: fmt.Sprintf("%s says %d", id, seq)})
}

// commit is n events of id after a position.
func commit(id harness.SessionID, after harness.Seq, n int) harness.Commit {
	c := harness.Commit{Session: id, After: after, Summary: summary(id, after+harness.Seq(n))}
	for i := range n {
		c.Events = append(c.Events, event(id, after+1+harness.Seq(i)))
	}
	return c
}

// summary is the row of id when its log ends at seq.
func summary(id harness.SessionID, seq harness.Seq) harness.Summary {
	return harness.Summary{
		Session: id, Kind: harness.Chat, User: "ada", Title: fmt.Sprintf("at %d", seq), Status: harness.Running, Seq: seq,
		Score: 58, Grade: "degraded", Stuck: true, CostUSD: 0.25, Spent: []harness.Day{{Date: "2026-11-15", CostUSD: 0.25}}, Changes: harness.Changes{Files: 2, Insertions: 14, Deletions: 3},
		Messages: int(seq), Created: epoch, Updated: epoch.Add(time.Duration(seq) * time.Millisecond),
	}
}

// branch is the first commit of a branch.
func branch(id, parent harness.SessionID, seq harness.Seq, n int) harness.Commit {
	c := commit(id, seq, n)
	c.From = &harness.Branch{Session: parent, Seq: seq}
	c.Summary.Parent, c.Summary.Branched = parent, harness.EventID(parent, seq)
	c.Summary.Cursor = harness.Cursor{Kind: harness.AtTurn, Session: parent, Seq: seq}.String()
	return c
}

func mustAppend(t testing.TB, st harness.Store, commits ...harness.Commit) {
	t.Helper()
	for _, c := range commits {
		if err := st.Append(t.Context(), c); err != nil {
			t.Fatalf("append %d events to %s after %d: %v", len(c.Events), c.Session, c.After, err)
		}
	}
}

// collect returns everything that a stream yields, or its error.
func collect[T any](seq iter.Seq2[T, error]) (all []T, err error) {
	for v, err := range seq {
		if err != nil {
			return all, err
		}
		all = append(all, v)
	}
	return all, nil
}

// history is the log of id after a position.
func history(t testing.TB, st harness.Store, id harness.SessionID, after harness.Seq) []harness.Event {
	t.Helper()
	events, err := collect(st.Read(t.Context(), id, after))
	if err != nil {
		t.Fatalf("read %s after %d: %v", id, after, err)
	}
	return events
}

// mustHave checks that the log of id is exactly the given envelopes.
func mustHave(t testing.TB, st harness.Store, id harness.SessionID, after harness.Seq, want []harness.Event) {
	t.Helper()
	got := history(t, st, id, after)
	for i := range min(len(got), len(want)) {
		if g, w := string(got[i].JSON()), string(want[i].JSON()); g != w || got[i].Seq != want[i].Seq || got[i].Session != want[i].Session {
			t.Fatalf("read %s after %d: event %d of the answer\n got %.300s\nwant %.300s", id, after, i, g, w)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("read %s after %d: got %d events, want %d", id, after, len(got), len(want))
	}
}

// mustBe checks that err is one of the closed set.
func mustBe(t testing.TB, err error, want *harness.Error, what string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%s: got error %v, want %v", what, err, want)
	}
}

// events joins the events of commits.
func events(commits ...harness.Commit) (all []harness.Event) {
	for _, c := range commits {
		all = append(all, c.Events...)
	}
	return all
}
