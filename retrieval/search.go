package retrieval

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"
	"strings"

	"harness/retrieval/bm25"
)

// Hit is a passage that answers a query.
type Hit struct {
	Path     string  `json:"path"`
	FromLine int     `json:"from_line"`
	ToLine   int     `json:"to_line"` // included
	Score    float64 `json:"score"`
	Text     string  `json:"text"`
}

// candidate is a chunk with a score.
type candidate struct {
	path     string
	from, to uint32
	sum      uint64
	score    float64
}

// Search returns the k best passages, best first, of different places: passages
// that share lines with a better one are left out, and so are those that have
// changed since they were indexed.
func (x *Index) Search(ctx context.Context, query string, k int) ([]Hit, error) {
	k = min(k, maxHits)
	if k <= 0 {
		return nil, context.Cause(ctx)
	}
	best, err := x.now.Load().rank(ctx, bm25.Query(query), 4*k+16)
	if err != nil {
		return nil, err
	}
	var hits []Hit
	texts := map[string][]byte{}
	for _, c := range best {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(hits, func(h Hit) bool {
			return h.Path == c.path && h.FromLine <= int(c.to) && int(c.from) <= h.ToLine
		}) {
			continue
		}
		text, ok := texts[c.path]
		if !ok {
			text, _ = x.text(c.path) // one that is gone has no lines
			texts[c.path] = text
		}
		passage := lines(text, int(c.from), int(c.to))
		if maphash.Bytes(x.seed, passage) != c.sum {
			continue
		}
		shown := strings.ToValidUTF8(string(passage[:min(len(passage), chunkBytes)]), "\uFFFD")
		if hits = append(hits, Hit{c.path, int(c.from), int(c.to), c.score, shown}); len(hits) == k {
			break
		}
	}
	return hits, nil
}

// rank returns the best n chunks. Equals are in the order of their places.
func (s *snapshot) rank(ctx context.Context, terms []string, n int) ([]candidate, error) {
	posts := make([][][]byte, len(s.parts)) // by part and term
	having := make([]int, len(terms))
	for i, p := range s.parts {
		posts[i] = make([][]byte, len(terms))
		for j, t := range terms {
			posts[i][j] = p.find(t)
			each(posts[i][j], func(d uint32, _ int) {
				if !p.gone(d) {
					having[j]++
				}
			})
		}
	}
	mean := float64(s.length) / float64(max(s.chunks, 1))
	var best []candidate
	for i, p := range s.parts {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		scores := make([]float64, len(p.docs))
		for j := range terms {
			weight := bm25.Weight(having[j], s.chunks)
			each(posts[i][j], func(d uint32, count int) {
				if !p.gone(d) {
					scores[d] += weight * bm25.Saturation(count, int(p.docs[d].length), mean)
				}
			})
		}
		for d, score := range scores {
			if score == 0 || len(best) == n && score < best[n-1].score {
				continue
			}
			doc := p.docs[d]
			c := candidate{p.files[doc.file], doc.from, doc.to, doc.sum, score}
			at, _ := slices.BinarySearchFunc(best, c, compare)
			if at < n {
				best = slices.Insert(best, at, c)
				best = best[:min(len(best), n)]
			}
		}
	}
	return best, nil
}

func compare(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.path, b.path), cmp.Compare(a.from, b.from))
}

// lines returns those from one to another, both included, or less if the text ends.
func lines(text []byte, from, to int) []byte {
	start, end, line := len(text), len(text), 1
	if from == 1 {
		start = 0
	}
	for i, c := range text {
		if c != '\n' {
			continue
		}
		if line++; line == from {
			start = i + 1
		}
		if line == to+1 {
			end = i + 1
			break
		}
	}
	return text[min(start, end):end]
}
