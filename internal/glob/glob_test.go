package glob_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"harness/internal/glob"

	"github.com/bmatcuk/doublestar/v4"
)

// TestPatternsAreThoseOfDoublestar compares random patterns and names with what
// another implementation says, which takes too long for some patterns.
func TestPatternsAreThoseOfDoublestar(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	atoms := []string{"a", "b", "ab", "*", "?", "**", "a*", "*b", "[ab]", "[^a]", "[!a]", "[a-b]", "{a,b}", "{a,*b}", `\a`, `\*`, "é", "{**/a,b}", "a.b", "+(a)", "{a,{b,ab}}"}
	names := []string{"a", "b", "ab", "ba", "aab", "é", "a.b", "*", "axb"}
	join := func(list []string, most int) string {
		var parts []string
		for range 1 + r.IntN(most) {
			parts = append(parts, list[r.IntN(len(list))])
		}
		return strings.Join(parts, "/")
	}
	agreed, matched := 0, 0
	for range 50_000 {
		p, name := join(atoms, 4), join(names, 4)
		if strings.HasSuffix(p, "/**") {
			continue // there a/** matches a, and a*/** does not; here only what is inside
		}
		want, err := doublestar.Match(p, name)
		expr, mine := glob.Lenient(p)
		if (err == nil) != (mine == nil) {
			t.Fatalf("%q: error %v, doublestar says %v", p, mine, err)
		}
		if err != nil {
			continue
		}
		re, err := regexp.Compile(expr)
		if err != nil {
			t.Fatalf("%q: %v", p, err)
		}
		if strict, err := glob.Strict(p); err == nil && strict != expr {
			t.Fatalf("%q is %s, and strictly %s", p, expr, strict)
		}
		if got := re.MatchString(name); got != want {
			t.Fatalf("%q with %q (%s): got %v, doublestar says %v", name, p, re, got, want)
		}
		agreed++
		if want {
			matched++
		}
	}
	t.Logf("%d agreed, %d matched", agreed, matched)
}
