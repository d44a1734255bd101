package thin_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"harness/internal/thin"
)

// Positions come at random distances and are thinned each time. For every
// place the one that is left is the one that was there, or near; the newest
// are all there; and few are left.
func TestWhatIsLeftIsFewAndNear(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var all, have []uint64 // all oldest first, have newest first
		last := uint64(0)
		for range 5000 {
			last += 1 + uint64(rnd.IntN(1+rnd.IntN(200)))
			all = append(all, last)
			have = slices.Insert(have, 0, last)
			gone := thin.Out(have)
			have = slices.DeleteFunc(have, func(s uint64) bool { return slices.Contains(gone, s) })
		}
		newest := slices.Clone(all[len(all)-thin.Keep:])
		slices.Reverse(newest)
		if !slices.Equal(have[:thin.Keep], newest) {
			t.Errorf("seed %d: the newest are %d", seed, have[:thin.Keep])
		}
		if most := int(last/(thin.Span/2)) + 160; len(have) > most {
			t.Errorf("seed %d: %d of %d are left, want at most %d", seed, len(have), len(all), most)
		}
		for at := all[0]; at <= last; at++ {
			is := have[slices.IndexFunc(have, func(s uint64) bool { return s <= at })]
			i, exact := slices.BinarySearch(all, at)
			if !exact {
				i--
			}
			if is != all[i] && ((at-is)*(thin.Part-1) > last-at || at-is > thin.Span) {
				t.Fatalf("seed %d: at %d of %d the position is %d, it was %d", seed, at, last, is, all[i])
			}
		}
	}
}
