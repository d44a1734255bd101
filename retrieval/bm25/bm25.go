// Package bm25 ranks short texts by how well they answer a query: BM25 over
// terms that suit code and prose, with the words of a title counting more.
//
// It knows no language: there is no list of stop words, because frequent words
// already weigh little. Everything here is pure and safe for concurrent use.
package bm25

import (
	"math"
	"slices"
)

// The usual constants: K1 is how soon repetition stops to matter, B how much
// long texts are held against.
const (
	K1 = 1.2
	B  = 0.75
	// TitleWeight is how often a word of the title counts.
	TitleWeight = 3
)

// Doc is one text to rank. The title is a path or a name.
type Doc struct {
	Title, Text string
}

// Score is a document's, by its place in the list.
type Score struct {
	Doc   int
	Score float64
}

// Rank returns the documents that share a term with the query, best first;
// equals stay in the order of the list.
func Rank(query string, docs []Doc) []Score {
	terms := Query(query)
	if len(terms) == 0 || len(docs) == 0 {
		return nil
	}
	at := make(map[string]int, len(terms))
	for i, t := range terms {
		at[t] = i
	}
	counts := make([][]int, len(docs))
	lengths := make([]int, len(docs))
	having := make([]int, len(terms))
	total := 0
	for d, doc := range docs {
		count := make([]int, len(terms))
		add := func(text string, weight int) {
			Terms(text, func(term []byte) {
				lengths[d] += weight
				if i, ok := at[string(term)]; ok {
					count[i] += weight
				}
			})
		}
		add(doc.Title, TitleWeight)
		add(doc.Text, 1)
		for i, n := range count {
			if n > 0 {
				having[i]++
			}
		}
		counts[d] = count
		total += lengths[d]
	}
	mean := float64(total) / float64(len(docs))
	var scores []Score
	for d := range docs {
		s := 0.0
		for i, n := range counts[d] {
			if n > 0 {
				s += Weight(having[i], len(docs)) * Saturation(n, lengths[d], mean)
			}
		}
		if s > 0 {
			scores = append(scores, Score{d, s})
		}
	}
	slices.SortStableFunc(scores, func(a, b Score) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	return scores
}

// Weight is what a term is worth that having of all documents have. It is
// never negative.
func Weight(having, all int) float64 {
	return math.Log1p((float64(all) - float64(having) + 0.5) / (float64(having) + 0.5))
}

// Saturation is what count occurrences are worth in a document of the given
// length, where documents have mean length.
func Saturation(count, length int, mean float64) float64 {
	n := float64(count)
	return n * (K1 + 1) / (n + K1*(1-B+B*float64(length)/max(mean, 1)))
}
