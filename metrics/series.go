package metrics

import (
	"math"
	"sort"
	"sync/atomic"
)

// counter is a number that only grows. Any number of goroutines may add to it,
// and none waits.
type counter struct{ bits atomic.Uint64 } // of a float64

func (c *counter) inc() { c.add(1) }

func (c *counter) add(x float64) {
	for {
		old := c.bits.Load()
		if c.bits.CompareAndSwap(old, math.Float64bits(math.Float64frombits(old)+x)) {
			return
		}
	}
}

func (c *counter) value() float64 { return math.Float64frombits(c.bits.Load()) }

// pair are the values of at most two labels.
type pair [2]string

// vector are the counters of one name, by the values of their labels. All that
// there can be are there from the beginning, so nothing guards them.
type vector map[pair]*counter

// other is the value of a label that is none of those that are known.
const other = "other"

// newVector makes counters for every combination of the words, and other.
func newVector(first []string, second ...string) vector {
	if second != nil {
		second = append(second, other)
	} else {
		second = []string{""}
	}
	v := vector{}
	for _, a := range append(first, other) {
		for _, b := range second {
			v[pair{a, b}] = new(counter)
		}
	}
	return v
}

// one is the counter of a word, or of other.
func (v vector) one(word string) *counter {
	if c := v[pair{word}]; c != nil {
		return c
	}
	return v[pair{other}]
}

// two is the counter of two words.
func (v vector) two(a, b string) *counter {
	for _, p := range [...]pair{{a, b}, {a, other}, {other, b}} {
		if c := v[p]; c != nil {
			return c
		}
	}
	return v[pair{other, other}]
}

// histogram counts how often a number was at most each of some bounds.
type histogram struct {
	bounds []float64
	counts []atomic.Uint64 // one more: what is over all of them
	sum    counter
}

// newHistogram has bounds of which each is twice the one before.
func newHistogram(first float64, n int) *histogram {
	h := &histogram{bounds: make([]float64, n), counts: make([]atomic.Uint64, n+1)}
	for i := range h.bounds {
		h.bounds[i], first = first, first*2
	}
	return h
}

func (h *histogram) observe(x float64) {
	h.counts[sort.SearchFloat64s(h.bounds, x)].Add(1)
	h.sum.add(x)
}
