package console

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"harness"
)

// TestTheReducerHandlesExactlyTheInventory compares the console's table of
// events with what GET /stream-events serves.
func TestTheReducerHandlesExactlyTheInventory(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("src/data/kinds.ts")
	if err != nil {
		t.Fatal(err)
	}
	var have, want []string
	for _, m := range regexp.MustCompile(`(?m)^  (\w+): \{ lane: `).FindAllStringSubmatch(string(source), -1) {
		have = append(have, m[1])
	}
	for _, i := range harness.Inventory() {
		want = append(want, string(i.Type))
	}
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) {
		t.Errorf("the console knows %q,\nthe inventory is %q", have, want)
	}
}
