package native_test

import (
	"testing"

	"harness"
	"harness/model"
)

// How full the window is follows from what the provider counted, also in the
// next turn, and at an address whose prices are not known.
func TestFullnessIsKnownInTheNextTurn(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		r := newRig(t, client, "when turn 1\n  usage in=75000 out=10\n  say Much.\nelse\n  say More.", func(r *rig) {
			r.opts.Facts = model.Facts{"known/test-model": {Window: 100_000}}
			r.opts.Provider = "known"
		})
		r.prompt("first")
		if list := all[*harness.ContextWarning](r); len(list) != 0 {
			t.Errorf("warned before anything was counted: %+v", list[0])
		}
		r.prompt("second")
		if w := one[*harness.ContextWarning](r); w.LimitTokens != 100_000 || w.UsedTokens < 75_000 || w.UsedTokens > 76_000 {
			t.Errorf("warning %+v", w)
		}
	})
}
