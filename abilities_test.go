package harness_test

import (
	"slices"
	"testing"

	"harness"
)

// What an engine lacks is what there is, less what it tells of and what a server
// writes anyway; every kind has a place in the sets that this is found by.
func TestLacksIsTheRestOfTheInventory(t *testing.T) {
	t.Parallel()
	all := harness.Inventory()
	if len(all) >= 64 {
		t.Fatalf("%d kinds do not fit into a set of 64", len(all))
	}
	var none harness.Abilities
	lacking := none.Lacks().Events
	for _, row := range all {
		able := harness.Abilities{Tells: []harness.Type{row.Type, "unheard_of"}}
		lacks := slices.Contains(lacking, row.Type)
		if has := slices.Contains(none.Events(), row.Type); has && lacks {
			t.Errorf("%s is told of, and lacking", row.Type)
		}
		if !slices.Contains(able.Events(), row.Type) || able.Lacks() != nil && slices.Contains(able.Lacks().Events, row.Type) {
			t.Errorf("%s is lacking where an engine tells of it", row.Type)
		}
		if want := len(lacking); lacks {
			if got := len(able.Lacks().Events); got != want-1 {
				t.Errorf("with %s an engine lacks %d kinds, want %d", row.Type, got, want-1)
			}
		}
	}
}
