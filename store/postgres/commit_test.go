package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"harness"
)

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// said is a commit of one event with a text.
func said(id harness.SessionID, after harness.Seq, text string) harness.Commit {
	return harness.Commit{
		Session: id, After: after, Events: []harness.Event{harness.NewEvent(id, after+1, epoch, "trn_1", &harness.Token{Text: text})},
		Summary: summary(id, after+1),
	}
}

// commit is n events of id after a position.
func commit(id harness.SessionID, after harness.Seq, n int) harness.Commit {
	c := harness.Commit{Session: id, After: after, Summary: summary(id, after+harness.Seq(n))}
	for seq := after + 1; seq <= c.Summary.Seq; seq++ {
		c.Events = append(c.Events, harness.NewEvent(id, seq, epoch, "trn_1", &harness.Token{Text: fmt.Sprintf("%s says %d", id, seq)}))
	}
	return c
}

func summary(id harness.SessionID, seq harness.Seq) harness.Summary {
	return harness.Summary{
		Session: id, User: "ada", Kind: harness.Chat, Status: harness.Running, Seq: seq, Created: epoch, Updated: epoch.Add(time.Duration(seq) * time.Millisecond),
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

// read is the length of a log, whose events are checked to follow one another.
func read(t testing.TB, st harness.Store, id harness.SessionID) (harness.Seq, error) {
	t.Helper()
	n := harness.Seq(0)
	for e, err := range st.Read(t.Context(), id, 0) {
		if err != nil {
			return n, err
		}
		if n++; e.Seq != n {
			t.Fatalf("event %d of %s in the place of %d", e.Seq, id, n)
		}
	}
	return n, nil
}
