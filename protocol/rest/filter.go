package rest

import (
	"fmt"
	"net/url"
	"strings"

	"harness"
)

// filter chooses events, the same ones of the past and of the present. It has a
// bit for each kind of the inventory, so that filters that choose the same are
// equal.
type filter uint64

const (
	everything filter = 1<<64 - 1
	unknown    filter = 1 << 63 // kinds that this build does not know, which are for debugging
)

// kindBits is the bit of each kind, tierBits those of each tier.
var kindBits, tierBits = func() (map[harness.Type]filter, map[harness.Tier]filter) {
	kinds, tiers := map[harness.Type]filter{}, map[harness.Tier]filter{harness.Debug: everything}
	for i, info := range harness.Inventory() {
		kinds[info.Type] = 1 << i
		if info.Tier == harness.Default {
			tiers[harness.Default] |= 1 << i
		}
	}
	return kinds, tiers
}()

// parseFilter reads ?tier=default|debug and ?types=a,b. Without a tier
// everything is chosen; a type that does not exist is refused.
func parseFilter(q url.Values) (filter, error) {
	f := everything
	if tier := q.Get("tier"); tier != "" {
		bits, ok := tierBits[harness.Tier(tier)]
		if !ok {
			return 0, fmt.Errorf("tier %q is neither default nor debug: %w", tier, harness.ErrInvalid)
		}
		f = bits
	}
	if q.Get("types") == "" {
		return f, nil
	}
	var types filter
	for name := range strings.SplitSeq(q.Get("types"), ",") {
		name = strings.TrimSpace(name)
		bit, ok := kindBits[harness.Type(name)]
		if !ok {
			return 0, fmt.Errorf("types: there is no event %q; GET /stream-events lists them: %w", name, harness.ErrInvalid)
		}
		types |= bit
	}
	return f & types, nil
}

// chooses reports whether e is wanted.
func (f filter) chooses(e harness.Event) bool { return f.includes(e.Type()) }

// includes reports whether events of a kind are wanted.
func (f filter) includes(t harness.Type) bool {
	bit, ok := kindBits[t]
	if !ok {
		bit = unknown
	}
	return f&bit != 0
}
