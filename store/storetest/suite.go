// Package storetest is the promises of [harness.Store] and its optional powers,
// one test each. Every store passes it; a store that breaks one promise fails
// the test of that name (the package's own tests make sure).
package storetest

import (
	"os"
	"testing"

	"harness"
)

// Suite is a store to test.
type Suite struct {
	// Open makes an empty store and closes it with the test.
	Open func(testing.TB) harness.Store

	// Reopen closes a store that Open made and opens its data again, as the
	// next process would. Nil for a store that keeps nothing.
	Reopen func(testing.TB, harness.Store) harness.Store
}

// Test runs the suite on a store that keeps nothing.
func Test(t *testing.T, open func(testing.TB) harness.Store) {
	Suite{Open: open}.Run(t)
}

// Run runs one subtest for each promise, in parallel but for those that measure.
func (s Suite) Run(t *testing.T) {
	for _, p := range promises {
		t.Run(p.name, func(t *testing.T) {
			if p.name != measuring {
				t.Parallel()
			}
			p.check(t, s)
		})
	}
}

// measuring is the promise whose test looks at the heap of the whole process.
const measuring = "LongLogsAreReadInBoundedMemory"

// promise is one thing that a store must do.
type promise struct {
	name  string
	check func(testing.TB, Suite)
}

var promises = []promise{
	{"AppendIsConditional", appendIsConditional},
	{"OfEightConcurrentWritersOneWins", ofEightConcurrentWritersOneWins},
	{"ACommitIsAllOrNothing", aCommitIsAllOrNothing},
	{"WhatCannotFollowIsInvalid", whatCannotFollowIsInvalid},
	{"WhatIsAcknowledgedIsThereAfterReopen", whatIsAcknowledgedIsThereAfterReopen},
	{"ACancelledContextLeavesNoHalf", aCancelledContextLeavesNoHalf},
	{"AClosedStoreRefuses", aClosedStoreRefuses},

	{"ReadFromAnyPlaceIsGapFree", readFromAnyPlaceIsGapFree},
	{"ReadWhileWritingSeesAPrefix", readWhileWritingSeesAPrefix},
	{"UnknownPayloadsSurvive", unknownPayloadsSurvive},
	{"IdsAreOpaque", idsAreOpaque},
	{"AMegabyteEventSurvives", aMegabyteEventSurvives},
	{measuring, longLogsAreReadInBoundedMemory},
	{"AMissingSessionIsNotFound", aMissingSessionIsNotFound},

	{"SummaryAndEventsMoveTogether", summaryAndEventsMoveTogether},
	{"ListIsNewestUpdateFirst", listIsNewestUpdateFirst},
	{"ListPagesWithoutGapOrRepeat", listPagesWithoutGapOrRepeat},
	{"ListFilters", listFilters},
	{"CountFollowsTheList", countFollowsTheList},

	{"BranchesReadThrough", branchesReadThrough},
	{"ABranchNeverSeesItsParentsFuture", aBranchNeverSeesItsParentsFuture},
	{"ChainsReadAsIfCopied", chainsReadAsIfCopied},

	{"LoadSnapshotFindsTheNewestAtOrBefore", loadSnapshotFindsTheNewestAtOrBefore},
	{"SavingASnapshotAgainChangesNothing", savingASnapshotAgainChangesNothing},
	{"ASnapshotIsNeverAheadOfItsLog", aSnapshotIsNeverAheadOfItsLog},
	{"MessagesAreDense", messagesAreDense},
	{"BranchesReadSnapshotsAndMessagesThrough", branchesReadSnapshotsAndMessagesThrough},

	{"RemoveForgets", removeForgets},
	{"RemoveIsRefusedWithBranches", removeIsRefusedWithBranches},

	{"ACommitsRulesStandWithIt", aCommitsRulesStandWithIt},
	{"RulesAreOldestFirst", rulesAreOldestFirst},
	{"ARefusedCommitLeavesNoRule", aRefusedCommitLeavesNoRule},
	{"ARevokedRuleIsGoneForGood", aRevokedRuleIsGoneForGood},
	{"RulesOutliveTheirSession", rulesOutliveTheirSession},
	{"RulesMayComeWithoutACommit", rulesMayComeWithoutACommit},
}

// long reports whether the run may take minutes.
func long() bool { return os.Getenv("LONG") != "" }

// snapshotter returns st's power to keep snapshots; without it the test does
// not apply.
func snapshotter(t testing.TB, st harness.Store) harness.Snapshotter {
	t.Helper()
	s, ok := st.(harness.Snapshotter)
	if !ok {
		t.Skip("not a Snapshotter")
	}
	return s
}

// remover is the same for forgetting sessions.
func remover(t testing.TB, st harness.Store) harness.Remover {
	t.Helper()
	r, ok := st.(harness.Remover)
	if !ok {
		t.Skip("not a Remover")
	}
	return r
}

// rulebook is the same for keeping rules.
func rulebook(t testing.TB, st harness.Store) harness.Rulebook {
	t.Helper()
	b, ok := st.(harness.Rulebook)
	if !ok {
		t.Skip("not a Rulebook")
	}
	return b
}
