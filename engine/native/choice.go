package native

import (
	"slices"

	"harness/retrieval/bm25"
	"harness/tool"
)

// scored is a tool, or what is described like one, and how well it fits a text.
type scored struct {
	Name  string
	Score float64
}

// chosen are those that fit a text best, and behind them, while there is room,
// those that share no word with it, in their order.
func chosen(specs []tool.Spec, text string, limit int) (all []scored) {
	docs := make([]bm25.Doc, len(specs))
	for i, s := range specs {
		docs[i] = bm25.Doc{Title: s.Name, Text: s.Description}
	}
	seen := make([]bool, len(specs))
	for _, r := range bm25.Rank(text, docs) {
		all, seen[r.Doc] = append(all, scored{specs[r.Doc].Name, r.Score}), true
	}
	for i, s := range specs {
		if !seen[i] {
			all = append(all, scored{Name: s.Name})
		}
	}
	return slices.Clip(all[:min(limit, len(all))])
}
