package native_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"harness"
	"harness/engine/enginetest"
	"harness/engine/native"
	"harness/memory"
	"harness/model"
	"harness/model/modeltest"
)

// everything is a turn in which everything happens that can.
const everything = `
when user "about to be shortened"
  say They wanted everything.
when user "what did you assume"
  say Done.
when user "part of it"
  say That part is done.
when step 1
  think Let me see.
  say I begin.
  call plan {"steps":[{"id":"a","title":"Look","status":"completed"}]}
  call local_search {"query":"rounding of invoices"}
  call read {"path":"notes.md","offset":"1"}
when step 2
  call bash id=asked {"command":"seq 1 5000"}
  call task {"description":"part","prompt":"do part of it"}
when step 3
  call bash {"command":"exit 1"}
when step 4
  usage in=91000 out=10
  call bash {"command":"exit 2"}
else
  say Done.
`

// elsewhere are kinds that no engine makes, and whose they are.
var elsewhere = map[harness.Type]string{
	"session":         "never stored",
	"health_snapshot": "of the health stream",
	"rewind":          "the kernel's, when files are taken back",
	"error":           "the kernel's, when a turn fails; see the faults",
}

// TestEveryKindOfEventIsTold plays one turn and finds the whole inventory in its
// log.
func TestEveryKindOfEventIsTold(t *testing.T) {
	t.Parallel()
	told := enginetest.NewLedger(t)
	t.Cleanup(func() { told.Settle(new(native.Engine).Abilities(), 1) })
	other := modeltest.Serve(t, "status 529 busy")
	r := newRig(t, "anthropic", everything, func(r *rig) {
		r.told = told
		r.opts.Facts = model.Facts{"anthropic/test-model": {Window: 100_000}}
		for i := range 20 {
			r.opts.Tools = append(r.opts.Tools, &plain{name: fmt.Sprintf("unrelated_%d", i), text: "Something else."})
		}
		r.opts.Hooks = []native.Hook{{On: native.HookTurnStart, Command: "true"}}
		r.kopts.Shelf = newShelf()
		book := filepath.Join(r.TempDir(), "memory")
		r.opts.Memory = func(string) (*memory.Book, error) { return memory.Open(book) }
		r.through = func(c model.Client) model.Client {
			return model.Fallback(model.Route{Name: "first", Client: clients["anthropic"](other.URL, nil)}, model.Route{Name: "second", Client: c})
		}
	})
	r.write("notes.md", "Rounding of invoices is half to even.\n")
	r.configure(harness.Normal)
	r.do(harness.Submit{Source: harness.FromTurn, Parts: harness.TextPart("everything, please")})
	for range 3 {
		r.answer(harness.Allow, "")
	}
	st := r.rest()
	if st.Status != harness.Idle {
		t.Errorf("%s\n%s", st.Status, r.story())
	}
	seen := map[harness.Type]bool{}
	for _, e := range r.log() {
		seen[e.Type()] = true
	}
	var missing []harness.Type
	for _, i := range harness.Inventory() {
		if !seen[i.Type] && elsewhere[i.Type] == "" {
			missing = append(missing, i.Type)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		t.Errorf("not told: %q\n%s", missing, r.story())
	}
	everyCommand(t, told)
}
