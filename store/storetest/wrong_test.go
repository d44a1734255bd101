package storetest

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"harness"
	"harness/store/memory"
)

// wrong has a store for each promise that breaks it and nothing else.
var wrong = map[string]Suite{
	"AppendIsConditional": appending(func(ctx context.Context, st powers, c harness.Commit) error {
		err := st.Append(ctx, c)
		if errors.Is(err, harness.ErrConflict) && c.After == 100 {
			return nil // takes a writer from the future for a late one
		}
		return err
	}),
	"OfEightConcurrentWritersOneWins": appending(func(ctx context.Context, st powers, c harness.Commit) error {
		err := st.Append(ctx, c)
		if errors.Is(err, harness.ErrConflict) && c.From == nil && strings.Contains(string(c.Events[0].JSON()), "writer ") {
			return nil // tells everybody yes
		}
		return err
	}),
	"ACommitIsAllOrNothing": appending(func(ctx context.Context, st powers, c harness.Commit) error {
		err := st.Append(ctx, c)
		if errors.Is(err, harness.ErrInvalid) && len(c.Events) == 5 {
			c.Events = c.Events[:3] // keeps what came before the mistake
			c.Summary.Seq = 6
			st.Append(ctx, c)
		}
		return err
	}),
	"WhatCannotFollowIsInvalid": appending(func(ctx context.Context, st powers, c harness.Commit) error {
		if err := st.Append(ctx, c); len(c.Events) > 0 {
			return err
		}
		return nil // has nothing against nothing
	}),
	"WhatIsAcknowledgedIsThereAfterReopen": {
		Open:   func(testing.TB) harness.Store { return memory.New() },
		Reopen: func(testing.TB, harness.Store) harness.Store { return memory.New() },
	},
	"ACancelledContextLeavesNoHalf": appending(func(ctx context.Context, st powers, c harness.Commit) error {
		if err := ctx.Err(); err != nil {
			c.Events = c.Events[:1]
			st.Append(context.WithoutCancel(ctx), c)
			return err
		}
		return st.Append(ctx, c)
	}),
	"AClosedStoreRefuses": wrongly(func(st powers) harness.Store { return neverClosed{st} }),

	"ReadFromAnyPlaceIsGapFree": reading(func(_ powers, id harness.SessionID, after harness.Seq, seq iter.Seq2[harness.Event, error]) iter.Seq2[harness.Event, error] {
		return without(seq, func(e harness.Event) bool { return after == 13 && e.Seq == 40 })
	}),
	"ReadWhileWritingSeesAPrefix": wrongly(func(st powers) harness.Store { return &distracted{powers: st} }),
	"UnknownPayloadsSurvive": appending(func(ctx context.Context, st powers, c harness.Commit) error {
		for i, e := range c.Events {
			if u, ok := e.Payload.(*harness.Unknown); ok {
				c.Events[i] = harness.NewEvent(e.Session, e.Seq, e.Time, e.Turn, u) // writes it anew
			}
		}
		return st.Append(ctx, c)
	}),
	"IdsAreOpaque": appending(func(ctx context.Context, st powers, c harness.Commit) error {
		if strings.HasSuffix(string(c.Session), ".db") {
			return harness.ErrInvalid // is afraid for its files
		}
		return st.Append(ctx, c)
	}),
	"AMegabyteEventSurvives": appending(func(ctx context.Context, st powers, c harness.Commit) error {
		if slices.ContainsFunc(c.Events, func(e harness.Event) bool { return len(e.JSON()) > 1<<19 }) {
			return harness.ErrTooLarge
		}
		return st.Append(ctx, c)
	}),
	measuring: reading(func(_ powers, _ harness.SessionID, _ harness.Seq, seq iter.Seq2[harness.Event, error]) iter.Seq2[harness.Event, error] {
		return func(yield func(harness.Event, error) bool) {
			var all []harness.Event
			var copies [][]byte
			for e, err := range seq {
				if err != nil {
					yield(e, err)
					return
				}
				all, copies = append(all, e), append(copies, slices.Clone(e.JSON()))
			}
			for i, e := range all {
				if len(copies[i]) > 0 && !yield(e, nil) {
					return
				}
			}
		}
	}),
	"AMissingSessionIsNotFound": reading(func(_ powers, id harness.SessionID, after harness.Seq, seq iter.Seq2[harness.Event, error]) iter.Seq2[harness.Event, error] {
		return func(yield func(harness.Event, error) bool) {
			for e, err := range seq {
				if errors.Is(err, harness.ErrNotFound) && after == 5 || !yield(e, err) {
					return // nothing after 5, so nothing to say
				}
			}
		}
	}),

	"SummaryAndEventsMoveTogether": listing(func(_ harness.Filter, rows []harness.Summary) []harness.Summary {
		for i, r := range rows {
			if r.Engine != "" && r.Seq > 3 {
				rows[i].Title = "at 3" // of an earlier moment than the log
			}
		}
		return rows
	}),
	"ListIsNewestUpdateFirst": listing(func(_ harness.Filter, rows []harness.Summary) []harness.Summary {
		for i := range len(rows) - 1 {
			if rows[i].Updated.Equal(rows[i+1].Updated) && rows[i].Kind == harness.Chat && len(rows) == 6 {
				rows[i], rows[i+1] = rows[i+1], rows[i]
				break
			}
		}
		return rows
	}),
	"ListPagesWithoutGapOrRepeat": listing(func(f harness.Filter, rows []harness.Summary) []harness.Summary {
		if f.Before != nil && f.Limit > 1 && len(rows) > 0 {
			rows = append([]harness.Summary{*f.Before}, rows[:len(rows)-1]...)
		}
		return rows
	}),
	"ListFilters": listing(func(f harness.Filter, rows []harness.Summary) []harness.Summary {
		if f.Kind != "" && f.User != "" && len(rows) > 1 {
			rows = rows[1:]
		}
		return rows
	}),

	"CountFollowsTheList": wrongly(func(st powers) harness.Store { return countsChanges{st} }),

	"BranchesReadThrough": reading(func(_ powers, id harness.SessionID, after harness.Seq, seq iter.Seq2[harness.Event, error]) iter.Seq2[harness.Event, error] {
		return without(seq, func(e harness.Event) bool { return id == "of-inherited" && e.Session != id })
	}),
	"ChainsReadAsIfCopied": reading(func(_ powers, id harness.SessionID, after harness.Seq, seq iter.Seq2[harness.Event, error]) iter.Seq2[harness.Event, error] {
		return without(seq, func(e harness.Event) bool { return id == "chain-20" && e.Session == "chain-0" && e.Seq == 1 })
	}),
	"ABranchNeverSeesItsParentsFuture": reading(func(st powers, id harness.SessionID, after harness.Seq, seq iter.Seq2[harness.Event, error]) iter.Seq2[harness.Event, error] {
		parent, _ := collect(st.Read(context.Background(), "a", 0))
		if id != "b" || len(parent) != 6 {
			return seq
		}
		return st.Read(context.Background(), "a", after) // follows the parent's log instead of the branch's
	}),

	"LoadSnapshotFindsTheNewestAtOrBefore":    wrongly(func(st powers) harness.Store { return strictlyBefore{st} }),
	"SavingASnapshotAgainChangesNothing":      wrongly(func(st powers) harness.Store { return savesOnce{st, new(sync.Map)} }),
	"ASnapshotIsNeverAheadOfItsLog":           wrongly(func(st powers) harness.Store { return hasty{st} }),
	"MessagesAreDense":                        wrongly(func(st powers) harness.Store { return silent{st} }),
	"BranchesReadSnapshotsAndMessagesThrough": wrongly(func(st powers) harness.Store { return lookingAhead{st} }),

	"RemoveForgets":               wrongly(func(st powers) harness.Store { return keepsLogs{st} }),
	"RemoveIsRefusedWithBranches": wrongly(func(st powers) harness.Store { return yesSayer{st} }),

	"ACommitsRulesStandWithIt": appending(func(ctx context.Context, st powers, c harness.Commit) error {
		if len(c.Rules) == 1 && c.Rules[0].Tool == "fetch" {
			c.Rules = nil
		}
		return st.Append(ctx, c)
	}),
	"RulesAreOldestFirst": wrongly(func(st powers) harness.Store { return sorted{st} }),
	"ARefusedCommitLeavesNoRule": appending(func(ctx context.Context, st powers, c harness.Commit) error {
		err := st.Append(ctx, c)
		if errors.Is(err, harness.ErrConflict) && len(c.Rules) > 0 {
			keep := commit("keeper", 0, 1)
			keep.Rules = c.Rules // writes the rules first, and does not look back
			st.Append(ctx, keep)
		}
		return err
	}),
	"RulesMayComeWithoutACommit": wrongly(func(st powers) harness.Store { return hesitant{st} }),
	"ARevokedRuleIsGoneForGood":  wrongly(func(st powers) harness.Store { return forgiving{st} }),
	"RulesOutliveTheirSession":   wrongly(func(st powers) harness.Store { return sweeping{st} }),
}
