package mint_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"harness"
	"harness/internal/mint"
)

func TestIdentifiersDifferWithinAMomentAndSortByTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		seen := map[string]bool{}
		var last string
		for range 100 {
			newest := last
			for range 100 {
				id := mint.ID(harness.TurnPrefix)
				if seen[id] || id <= last || !strings.HasPrefix(id, harness.TurnPrefix) || harness.CheckID("id", id) != nil {
					t.Fatalf("%s after %s", id, last)
				}
				seen[id] = true
				newest = max(newest, id)
			}
			last = newest
			time.Sleep(time.Millisecond) // sleep: the clock is the bubble's
		}
	})
}
