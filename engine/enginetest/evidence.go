package enginetest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"harness"
)

// evidence is the file of an engine's package that says in which test each kind
// was told of, each command came to something, and each setting held in a turn
// that ended well and refused nothing; what a setting does there, the test itself
// looks at. The table of docs/engines.md is made from it.
const evidence = "testdata/fidelity.txt"

// owed are the kinds that an engine of these abilities has to show: those that
// only its own calls of its host bring about.
func owed(can harness.Abilities) (all []string) {
	var none harness.Abilities
	theirs := map[harness.Type]bool{"policy_decision": true, "approval_applied": true} // the session's, when it is asked
	for _, kind := range none.Events() {
		theirs[kind] = kind != "token"
	}
	for _, kind := range can.Events() {
		if !theirs[kind] {
			all = append(all, string(kind))
		}
	}
	return all
}

// taken are the commands and settings that such an engine has to show. What files
// are taken back is the session's.
func taken(can harness.Abilities) (all []string) {
	for _, c := range can.Commands() {
		if c != "rewind" {
			all = append(all, "command "+c)
		}
	}
	for _, s := range harness.Settings() {
		if !slices.Contains(can.Ignores, s) {
			all = append(all, "setting "+s)
		}
	}
	return all
}

// Settle fails the ledger's test for each kind, command and setting that an
// engine claims and has not shown, and for evidence that is not what was seen;
// UPDATE=1 writes it. It is to be called when all the engine's plays are over,
// and does nothing if fewer than that were wanted, or something else is wrong.
func (l *Ledger) Settle(can harness.Abilities, plays int) {
	l.tb.Helper()
	l.settle(append(taken(can), owed(can)...), plays)
}

// SettleEvents is Settle for an engine that only tells.
func (l *Ledger) SettleEvents(can harness.Abilities, plays int) {
	l.tb.Helper()
	l.settle(owed(can), plays)
}

func (l *Ledger) settle(claims []string, plays int) {
	l.tb.Helper()
	if l.played() < plays || l.tb.Failed() {
		return
	}
	var b strings.Builder
	for _, what := range claims {
		if !l.saw(what) {
			l.tb.Errorf("the engine claims %s, and no play shows it", what)
			continue
		}
		fmt.Fprintf(&b, "%s\t%s\n", what, l.where(what))
	}
	if l.tb.Failed() {
		return
	}
	if os.Getenv("UPDATE") != "" {
		if err := errors.Join(os.MkdirAll(filepath.Dir(evidence), 0o755), os.WriteFile(evidence, []byte(b.String()), 0o644)); err != nil {
			l.tb.Error(err)
		}
	}
	want, err := os.ReadFile(evidence)
	if err != nil || string(want) != b.String() {
		l.tb.Errorf("%s is not what was seen (%v); UPDATE=1 writes it:\n%s", evidence, err, b.String())
	}
}
