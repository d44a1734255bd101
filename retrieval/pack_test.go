package retrieval_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"harness/retrieval"
)

func TestAPackMergesOrdersAndCites(t *testing.T) {
	t.Parallel()
	hits := []retrieval.Hit{
		{"z.go", 10, 12, 9, "ten\neleven\ntwelve\n"},
		{"a.go", 5, 6, 8, "five\nsix\n"},
		{"z.go", 12, 14, 7, "twelve\nthirteen\nfourteen\n"},
		{"copy.go", 1, 3, 6, "ten\neleven\ntwelve\n"},
		{"a.go", 1, 1, 5, "one\n"},
	}
	p := retrieval.Pack(hits, 1000)
	want := "[a.go:1-1]\none\n\n[a.go:5-6]\nfive\nsix\n\n[z.go:10-14]\nten\neleven\ntwelve\nthirteen\nfourteen\n"
	if p.String() != want || p.Same != 1 || p.Left != 0 || p.Tokens != (len(want)+3)/4 {
		t.Errorf("got %+v\n%s\nwant\n%s", p, p, want)
	}
	text, err := json.Marshal(p)
	if err != nil || !strings.Contains(string(text), `{"source":"z.go","from":10,"to":14,"score":9,"text":"ten\n`) {
		t.Errorf("%s, %v", text, err)
	}
	if got := fmt.Sprint(p.Chunks()); got != "[{z.go 10-14 9} {a.go 5-6 8} {a.go 1-1 5}]" {
		t.Errorf("chunks %s", got)
	}
}

func TestAPackKeepsItsBudget(t *testing.T) {
	t.Parallel()
	var hits []retrieval.Hit
	for i := range 20 {
		hits = append(hits, retrieval.Hit{Path: fmt.Sprintf("f%d.go", i), FromLine: 1, ToLine: 20, Score: 1, Text: fmt.Sprintf("file %d\n", i) + numbered(2, 20, "x")})
	}
	for budget := range 600 {
		p := retrieval.Pack(hits, budget)
		if p.Tokens > budget || p.Tokens != (len(p.String())+3)/4 {
			t.Fatalf("budget %d: %d tokens, %d bytes", budget, p.Tokens, len(p.String()))
		}
		if p.Left == 0 {
			t.Fatalf("budget %d: nothing was left out", budget)
		}
	}
	if p := retrieval.Pack(nil, 100); p.Tokens != 0 || len(p.Passages) != 0 {
		t.Errorf("of nothing: %+v", p)
	}
}
