package metrics

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// page is a text in Prometheus's format: families by their names, what they
// are, and their series.
type page struct {
	families []string
}

// Kinds of families.
const (
	aCounter   = "counter"
	aGauge     = "gauge"
	aHistogram = "histogram"
	aSummary   = "summary"
)

// sample is one line: what comes behind the family's name, and a number.
type sample struct {
	rest  string
	value float64
}

// add adds a family; without samples there is none.
func (p *page) add(name, kind, help string, samples ...sample) {
	if len(samples) == 0 {
		return
	}
	var b strings.Builder
	b.WriteString("# HELP " + name + " " + help + "\n# TYPE " + name + " " + kind + "\n")
	for _, s := range samples {
		b.WriteString(name + s.rest + " " + number(s.value) + "\n")
	}
	p.families = append(p.families, b.String())
}

func (p *page) counter(name, help string, c *counter) {
	p.add(name, aCounter, help, sample{value: c.value()})
}

func (p *page) gauge(name, help string, value float64) {
	p.add(name, aGauge, help, sample{value: value})
}

// vector tells of the counters that have counted something.
func (p *page) vector(name, help string, v vector, labels ...string) {
	var all []sample
	for words, c := range v {
		if n := c.value(); n != 0 {
			all = append(all, sample{labelled(labels, words[:]...), n})
		}
	}
	slices.SortFunc(all, func(a, b sample) int { return strings.Compare(a.rest, b.rest) })
	p.add(name, aCounter, help, all...)
}

func (p *page) histogram(name, help string, h *histogram) {
	var all []sample
	total := uint64(0)
	for i := range h.counts {
		total += h.counts[i].Load()
		le := "+Inf"
		if i < len(h.bounds) {
			le = number(h.bounds[i])
		}
		all = append(all, sample{"_bucket" + labelled([]string{"le"}, le), float64(total)})
	}
	p.add(name, aHistogram, help, append(all, sample{"_sum", h.sum.value()}, sample{"_count", float64(total)})...)
}

// bytes are the families in the order of their names.
func (p *page) bytes() []byte {
	slices.Sort(p.families)
	var b bytes.Buffer
	for _, f := range p.families {
		b.WriteString(f)
	}
	return b.Bytes()
}

// labelled are labels with values, by their names. The values come from sets
// that we know, so nothing in them has to be escaped.
func labelled(labels []string, values ...string) string {
	var all []string
	for i, name := range labels {
		all = append(all, name+`="`+values[i]+`"`)
	}
	slices.Sort(all)
	return "{" + strings.Join(all, ",") + "}"
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
