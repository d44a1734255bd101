package tool

import (
	"math/rand/v2"
	"strings"
	"testing"

	tokens "golang.org/x/net/html"
)

// TestAttributesAreThoseOfTheTokenizer compares random tags with what its own
// reader says.
func TestAttributesAreThoseOfTheTokenizer(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 9))
	atoms := []string{" ", "\n", "/", "=", `"`, "'", "href", "HREF", "alt", "x", "a b", "http://h/?a=1&copy=2", "&amp;", "&lt;", "&#65;", "&nope;", "é", "<", ` href="/a"`, " href='b c'", " href=d", " alt = 'e'"}
	found := 0
	for range 50_000 {
		page := "<a "
		for range r.IntN(8) {
			page += atoms[r.IntN(len(atoms))]
		}
		page += ">"
		z := tokens.NewTokenizer(strings.NewReader(page))
		if kind := z.Next(); kind != tokens.StartTagToken && kind != tokens.SelfClosingTagToken {
			continue // a quotation without its end
		}
		raw, token := string(z.Raw()), z.Token()
		for _, name := range []string{"href", "alt"} {
			want := ""
			for _, a := range token.Attr {
				if a.Key == name {
					want = a.Val
					break
				}
			}
			if got := attribute(raw, name); got != want {
				t.Fatalf("%s of %q: got %q, the tokenizer says %q", name, raw, got, want)
			}
			if want != "" {
				found++
			}
		}
	}
	t.Logf("%d were there", found)
}

// TestAValueOfAmpersandsIsCheap: a page may have as many as it is long. A reader
// that looked for the end of each would take an hour.
func TestAValueOfAmpersandsIsCheap(t *testing.T) {
	t.Parallel()
	value := strings.Repeat("&", maxBody)
	if got := attribute(`<img alt="`+value+`">`, "alt"); got != value {
		t.Errorf("%d bytes of %d", len(got), len(value))
	}
}
