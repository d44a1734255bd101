package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"harness"
	"harness/health"
	"harness/store/sqlite"
)

// The sessions on the shelf: one database with histories of these lengths.
var lengths = []int{1_000, 100_000, 1_000_000}

func shelved(events int) harness.SessionID {
	return harness.SessionID(fmt.Sprintf("ses_%d", events))
}

// openShelf builds the database: turns of about thirty events, commits of two
// hundred, and snapshots as often as the kernel makes them.
func openShelf(tb testing.TB) *sqlite.Store {
	tb.Helper()
	st, err := sqlite.Open(context.Background(), filepath.Join(tb.TempDir(), "harness.db"), nil)
	if err != nil {
		tb.Fatal(err)
	}
	for _, n := range lengths {
		if err := fill(st, shelved(n), n, 24); err != nil {
			tb.Fatal(err)
		}
	}
	return st
}

// shelf is a store that keeps snapshots.
type shelf interface {
	harness.Store
	harness.Snapshotter
}

// fill writes a session of about n events that has gone to sleep. Each token
// has size bytes.
func fill(st shelf, id harness.SessionID, n, size int) error {
	ctx := context.Background()
	now := time.Now().Add(-time.Hour)
	s, diagnosis := new(harness.State), health.New(nil)
	var commit []harness.Event
	after, kept := harness.Seq(0), harness.Seq(0)
	add := func(turn harness.TurnID, p harness.Payload) {
		now = now.Add(time.Millisecond)
		e := harness.NewEvent(id, s.Seq+1, now, turn, p)
		s.Apply(e)
		diagnosis.Apply(e)
		commit = append(commit, e)
	}
	flush := func() error {
		err := st.Append(ctx, harness.Commit{Session: id, After: after, Events: commit, Summary: s.Summary()})
		commit, after = nil, s.Seq
		return err
	}
	save := func() error {
		snap := harness.Snapshot{Session: id, Seq: s.Seq, First: s.Sealed}
		sealable := s.Sealable()
		for _, m := range s.Messages[:sealable] {
			snap.Sealed = append(snap.Sealed, harness.EncodeMessage(m))
		}
		s.Seal(sealable)
		s.SetAside(diagnosis.Clone())
		snap.State, kept = harness.EncodeState(s), s.Seq
		return st.SaveSnapshot(ctx, snap)
	}
	add("", &harness.SessionState{SessionID: id, Status: harness.Idle, Kind: harness.Chat, UserID: "ada", Engine: "bench"})
	for i := 0; int(s.Seq) < n; i++ {
		turn(i, size, add)
		if len(commit) >= 200 || int(s.Seq) >= n {
			if err := flush(); err != nil {
				return err
			}
			if int(s.Seq-kept) >= 1024 || int(s.Seq) >= n {
				if err := save(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// turn is a prompt, some text, a tool call and some more text: 30 events.
func turn(i, size int, add func(harness.TurnID, harness.Payload)) {
	id := harness.TurnID(fmt.Sprintf("trn_%d", i))
	item, call := harness.ItemID(fmt.Sprintf("itm_%da", i)), harness.CallID(fmt.Sprintf("call_%d", i))
	add("", &harness.UserMessage{ItemID: harness.ItemID(fmt.Sprintf("itm_%du", i)), Source: harness.FromResume, Parts: harness.TextPart(chunk(80))})
	add(id, &harness.TurnStart{TurnID: id, ItemID: item, Attempt: 1, Engine: "bench"})
	for range 11 {
		add(id, &harness.Token{ItemID: item, Text: chunk(size)})
	}
	add(id, &harness.ToolCall{Name: "bash", Arguments: []byte(`{"command":"ls"}`), ToolCallID: call, MessageID: item})
	add(id, &harness.ToolLog{ToolCallID: call, Stream: "stdout", Text: chunk(60)})
	add(id, &harness.ToolResult{ToolCallID: call, Output: chunk(60)})
	add(id, &harness.ToolOutcome{ToolCallID: call, ToolName: "bash", Status: harness.OutcomeOK, OutcomeType: harness.OutcomeType(harness.OutcomeOK)})
	for range 11 {
		add(id, &harness.Token{ItemID: item, Text: chunk(size)})
	}
	add(id, &harness.Usage{})
	add(id, &harness.TurnEnd{TurnID: id, Status: harness.TurnCompleted})
}
