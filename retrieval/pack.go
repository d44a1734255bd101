package retrieval

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"harness"
)

// ContextPack is what a model is given of some hits: passages in the order of
// their places, none of them twice. Its JSON is the context_pack of a retrieval
// event.
type ContextPack struct {
	Budget   int       `json:"budget"` // tokens
	Tokens   int       `json:"tokens"` // as estimated, at four bytes each
	Passages []Passage `json:"passages"`
	Left     int       `json:"left,omitempty"` // hits that did not fit, or not whole
	Same     int       `json:"same,omitempty"` // hits whose text is here from another file
}

// Passage is a run of lines.
type Passage struct {
	Source string  `json:"source"`
	From   int     `json:"from"`
	To     int     `json:"to"` // included
	Score  float64 `json:"score"`
	Text   string  `json:"text"`
}

// Citation names a passage, as a model should.
func (p Passage) Citation() string { return fmt.Sprintf("[%s:%d-%d]", p.Source, p.From, p.To) }

// tokens estimates the tokens of n bytes, as package model does.
func tokens(n int) int { return (n + 3) / 4 }

// Pack chooses from hits, best first, what fits the budget of tokens. The last
// one that does not fit whole is cut between lines.
func Pack(hits []Hit, budget int) ContextPack {
	p := ContextPack{Budget: budget, Passages: []Passage{}}
	taken := map[string]map[int]string{} // lines by path
	scores := map[string]map[int]float64{}
	texts := map[string]string{}
	bytes := 0
	for i, h := range hits {
		if path, ok := texts[h.Text]; ok && path != h.Path {
			p.Same++
			continue
		}
		texts[h.Text] = h.Path
		if taken[h.Path] == nil {
			taken[h.Path], scores[h.Path] = map[int]string{}, map[int]float64{}
		}
		room := budget*4 - bytes - len(Passage{Source: h.Path, From: h.FromLine, To: h.ToLine}.Citation()) - len("\n\n")
		used, whole := 0, true
		for j, line := range strings.Split(strings.TrimSuffix(h.Text, "\n"), "\n") {
			n := h.FromLine + j
			if _, ok := taken[h.Path][n]; !ok {
				if used+len(line)+1 > room {
					whole = false
					break
				}
				taken[h.Path][n] = line
				used += len(line) + 1
			}
			scores[h.Path][n] = max(scores[h.Path][n], h.Score)
		}
		if used > 0 {
			bytes = budget*4 - room + used
		}
		if !whole {
			p.Left = len(hits) - i
			break
		}
	}
	for _, path := range slices.Sorted(maps.Keys(taken)) {
		p.Passages = append(p.Passages, runs(path, taken[path], scores[path])...)
	}
	p.Tokens = tokens(len(p.String()))
	return p
}

// runs puts neighbouring lines together.
func runs(path string, lines map[int]string, scores map[int]float64) (all []Passage) {
	for _, n := range slices.Sorted(maps.Keys(lines)) {
		if last := len(all) - 1; last >= 0 && all[last].To == n-1 {
			all[last].To = n
			all[last].Text += lines[n] + "\n"
			all[last].Score = max(all[last].Score, scores[n])
			continue
		}
		all = append(all, Passage{Source: path, From: n, To: n, Score: scores[n], Text: lines[n] + "\n"})
	}
	return all
}

// String is the pack as a model reads it: each passage below its citation.
func (p ContextPack) String() string {
	var b strings.Builder
	for i, passage := range p.Passages {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(passage.Citation() + "\n" + passage.Text)
	}
	return b.String()
}

// Chunks is the pack as a retrieval event lists it, best first.
func (p ContextPack) Chunks() []harness.Chunk {
	all := []harness.Chunk{}
	for _, s := range p.Passages {
		all = append(all, harness.Chunk{Source: s.Source, Lines: fmt.Sprintf("%d-%d", s.From, s.To), Score: s.Score})
	}
	slices.SortStableFunc(all, func(a, b harness.Chunk) int { return cmp.Compare(b.Score, a.Score) })
	return all
}
