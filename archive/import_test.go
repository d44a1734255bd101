package archive_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"harness"
	"harness/archive"
	"harness/store/memory"
	"harness/store/sqlite"
)

// talk is a log of many turns.
func talk(id harness.SessionID, turns int) []harness.Event {
	var log []harness.Event
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	add := func(turn harness.TurnID, p harness.Payload) {
		log = append(log, harness.NewEvent(id, harness.Seq(len(log)+1), at, turn, p))
	}
	add("", &harness.SessionState{SessionID: id, Status: harness.Idle, Kind: harness.Chat})
	for i := range turns {
		turn, asked, said := harness.TurnID(fmt.Sprint("trn_", i)), harness.ItemID(fmt.Sprint("itm_q", i)), harness.ItemID(fmt.Sprint("itm_a", i))
		add("", &harness.UserMessage{ItemID: asked, Source: harness.FromTurn, Parts: harness.TextPart(fmt.Sprint("prompt ", i))})
		add(turn, &harness.TurnStart{TurnID: turn, ItemID: said, Attempt: 1})
		for j := range 6 {
			add(turn, &harness.Token{ItemID: said, Text: fmt.Sprint(" word ", j)})
		}
		add(turn, &harness.TurnEnd{TurnID: turn, Status: harness.TurnCompleted})
	}
	return log
}

// A long log is imported with snapshots, so that every place is near one, and
// they say what the log says.
func TestALongImportLeavesSnapshots(t *testing.T) {
	t.Parallel()
	lite, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "harness.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer lite.Close()
	for name, st := range map[string]harness.Store{"memory": memory.New(), "sqlite": lite} {
		log := talk("ses_long", 1000)
		got, err := archive.Import(t.Context(), st, log)
		if err != nil || got.New != len(log) || got.Session != "ses_long" {
			t.Fatalf("%s: %+v %v", name, got, err)
		}
		if again, err := archive.Import(t.Context(), st, log); err != nil || again.New != 0 {
			t.Errorf("%s: again: %+v %v", name, again, err)
		}
		fold := new(harness.State)
		snaps := st.(harness.Snapshotter)
		for _, e := range log {
			fold.Apply(e)
			if e.Seq%997 != 0 {
				continue
			}
			snap, err := snaps.LoadSnapshot(t.Context(), "ses_long", e.Seq)
			if errors.Is(err, harness.ErrNotFound) && e.Seq < 2048 {
				continue
			}
			if err != nil || e.Seq-snap.Seq > 4096 {
				t.Fatalf("%s: at %d the nearest is %d: %v", name, e.Seq, snap.Seq, err)
			}
			head, err := harness.DecodeState(snap.State)
			if err != nil {
				t.Fatal(err)
			}
			for _, more := range log[snap.Seq:e.Seq] {
				head.Apply(more)
			}
			if head.Count() != fold.Count() || head.Turns != fold.Turns || head.Status != fold.Status {
				t.Errorf("%s: at %d: %d messages, %d turns; want %d, %d", name, e.Seq, head.Count(), head.Turns, fold.Count(), fold.Turns)
			}
			i := 0
			for raw, err := range snaps.Messages(t.Context(), "ses_long", 0, head.Sealed) {
				if want := harness.EncodeMessage(fold.Messages[i]); err != nil || string(raw) != string(want) {
					t.Fatalf("%s: message %d: %s, want %s: %v", name, i, raw, want, err)
				}
				i++
			}
		}
	}
}

// Whoever writes to a log while it is imported is not written over.
func TestAnImportThatMeetsAWriterIsAConflict(t *testing.T) {
	t.Parallel()
	st := memory.New()
	log := talk("ses_1", 3)
	if _, err := archive.Import(t.Context(), st, log[:5]); err != nil {
		t.Fatal(err)
	}
	other := harness.NewEvent("ses_1", 6, time.Now(), "", &harness.SessionState{Status: harness.Paused})
	if err := st.Append(context.Background(), harness.Commit{Session: "ses_1", After: 5, Events: []harness.Event{other}, Summary: harness.Summary{Session: "ses_1"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Import(t.Context(), st, log); !errors.Is(err, harness.ErrExists) {
		t.Errorf("got %v", err)
	}
}
