package bench

import (
	"math"
	"slices"
	"testing"
)

// versus compares a cost with the gate to the same without, cycle by cycle, and
// two servers without it to each other: what that differs from 1 is chance.
type versus struct{ gated, same ratios }

// add takes the costs of one cycle.
func (v *versus) add(c cycle) {
	v.gated = append(v.gated, (c.first+c.second)/2/c.gated)
	v.same = append(v.same, c.first/c.second)
}

func (v *versus) report(b *testing.B, name string) {
	b.ReportMetric(v.gated.median(), name)
	b.ReportMetric(v.gated.within(), name+"±")
	b.ReportMetric(v.same.median(), name+"-A/A")
	b.ReportMetric(v.same.within(), name+"-A/A±")
}

// cycle is what each side's rounds of a cycle cost.
type cycle struct{ first, gated, second float64 }

// ratios are quotients of one cycle each.
type ratios []float64

func (r ratios) median() float64 { return median(slices.Clone(r)) }

// within is how far the median may be off: half of the interval that has the
// true one in 95 of 100 runs, whatever the distribution.
func (r ratios) within() float64 {
	v := slices.Sorted(slices.Values(r))
	mid, d := len(v)/2, int(math.Sqrt(float64(len(v))))
	return (v[min(len(v)-1, mid+d)] - v[max(0, mid-d)]) / 2
}
