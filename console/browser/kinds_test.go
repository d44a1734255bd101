package browser

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// TestTheReducerHandlesExactlyTheInventory compares the console's table of
// events with what the server says under GET /stream-events.
func TestTheReducerHandlesExactlyTheInventory(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../src/data/kinds.ts")
	if err != nil {
		t.Fatal(err)
	}
	var have, want []string
	for _, m := range regexp.MustCompile(`(?m)^  (\w+): \{ lane: `).FindAllStringSubmatch(string(source), -1) {
		have = append(have, m[1])
	}
	var served struct {
		Events []struct{ Type string }
	}
	newHouse(t).call("GET", "/stream-events", nil, &served)
	for _, e := range served.Events {
		want = append(want, e.Type)
	}
	slices.Sort(have)
	slices.Sort(want)
	if len(want) == 0 || !slices.Equal(have, want) {
		t.Errorf("the console knows %q,\nthe server tells of %q", have, want)
	}
}
