package enginetest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"harness"
)

// evidence is the file of an engine's package that says in which test each kind
// is told of. The table of docs/engines.md is made from it.
const evidence = "testdata/fidelity.txt"

// owed are the kinds that an engine of these abilities has to show: those that
// only its own calls of its host bring about.
func owed(can harness.Abilities) (all []harness.Type) {
	var none harness.Abilities
	theirs := map[harness.Type]bool{"policy_decision": true, "approval_applied": true} // the session's, when it is asked
	for _, kind := range none.Events() {
		theirs[kind] = kind != "token"
	}
	for _, kind := range can.Events() {
		if !theirs[kind] {
			all = append(all, kind)
		}
	}
	return all
}

// Settle fails the ledger's test for each kind that an engine claims and has not
// told of, and for evidence that is not what was seen; UPDATE=1 writes it. It is
// to be called when all the engine's plays are over, and does nothing if fewer
// than that were wanted, or something else is wrong.
func (l *Ledger) Settle(can harness.Abilities, plays int) {
	l.tb.Helper()
	if l.played() < plays || l.tb.Failed() {
		return
	}
	var b strings.Builder
	for _, kind := range owed(can) {
		if !l.saw(kind) {
			l.tb.Errorf("the engine claims to tell of %s, and no play shows it", kind)
			continue
		}
		fmt.Fprintf(&b, "%s\t%s\n", kind, l.where(kind))
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
