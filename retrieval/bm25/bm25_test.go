package bm25_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"harness/retrieval/bm25"
)

func terms(text string) (all []string) {
	bm25.Terms(text, func(t []byte) { all = append(all, string(t)) })
	return all
}

func TestTermsOfCodeAndProse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"parseHTTPRequest(r)":     "parsehttprequest parse http request r",
		"user_id userID":          "userid user id userid user id",
		"__init__ MAX_SIZE":       "init maxsize max size",
		"utf8 v1.8.0 0x1F":        "utf8 utf 8 v1 v 1 8 0 0x1f 0 x 1 f",
		"files, boxes; is status": "file boxe is status",
		"Über GrößeMax":           "über größemax größe max",
		"検索 abc":                  "検 索 abc",
		"a.b/c-d":                 "a b c d",
		"":                        "",
		strings.Repeat("x", 100):  "",
		"\xff\xfeok":              "ok",
	} {
		if got := strings.Join(terms(text), " "); got != want {
			t.Errorf("%q has the terms %q, want %q", text, got, want)
		}
	}
}

func TestTheBestDocumentIsFirst(t *testing.T) {
	t.Parallel()
	docs := []bm25.Doc{
		{"mcp__github__create_issue", "Opens an issue in a repository."},
		{"mcp__github__list_issues", "Lists the issues of a repository, newest first."},
		{"mcp__weather__get_forecast", "Says what the weather will be in a city."},
		{"mcp__files__read_file", "Reads a file of the workspace."},
	}
	for query, want := range map[string][]int{
		"what is the weather in Berlin": {2},
		"create an issue":               {0, 1},
		"list issues":                   {1, 0},
		"read the file":                 {3},
	} {
		var got []int
		for _, s := range bm25.Rank(query, docs) {
			got = append(got, s.Doc)
		}
		if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("%q: %v, want %v first", query, got, want)
		}
	}
	if got := bm25.Rank("zebra", docs); got != nil {
		t.Errorf("zebra: %v", got)
	}
}

func TestEqualsStayInTheirOrder(t *testing.T) {
	t.Parallel()
	for i, s := range bm25.Rank("a", []bm25.Doc{{"", "a"}, {"", "a"}, {"", "a"}}) {
		if s.Doc != i {
			t.Errorf("place %d has document %d", i, s.Doc)
		}
	}
}

// FuzzTerms: any bytes have terms that are short, valid, lower case, and the
// same when the text stands beside another.
func FuzzTerms(f *testing.F) {
	for _, s := range []string{"parseHTTPRequest", "a_b__C9", "\xff\x80", "検索Über", strings.Repeat("aB9_", 40), "ǅ İ ß"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all := terms(text)
		for _, term := range all {
			if term == "" || len(term) > bm25.MaxTerm || !utf8.ValidString(term) && utf8.ValidString(text) {
				t.Fatalf("%q has the term %q", text, term)
			}
			if strings.ContainsFunc(term, func(r rune) bool { return r == '_' || r < '0' }) {
				t.Fatalf("%q has the term %q", text, term)
			}
		}
		if got := terms(text + " " + text); !slices.Equal(got, slices.Concat(all, all)) {
			t.Fatalf("%q twice has %q, once %q", text, got, all)
		}
		// What a document says can be asked for, if it is not too much.
		if q := bm25.Query(text); len(q) > 0 && len(bm25.Rank(q[0], []bm25.Doc{{"", text}})) == 0 && slices.Contains(terms(q[0]), q[0]) {
			t.Fatalf("%q is not found in %q", q[0], text)
		}
	})
}
