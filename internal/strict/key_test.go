package strict_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"harness/internal/strict"
)

// spellings are ways to write the key longer_name_%d once more.
var spellings = []struct {
	of   func(i int) string
	kind strict.Kind
}{
	{func(i int) string { return fmt.Sprintf("longer_name_%d", i) }, strict.Duplicate},
	{func(i int) string { return fmt.Sprintf(`l\u006fnger_name_%d`, i) }, strict.Duplicate},
	{func(i int) string { return fmt.Sprintf(`longer_nam\u0065_%d`, i) }, strict.Duplicate},
	{func(i int) string { return fmt.Sprintf("LONGER_NAME_%d", i) }, strict.Variant},
	{func(i int) string { return fmt.Sprintf("longer_Name_%d", i) }, strict.Variant},
	{func(i int) string { return fmt.Sprintf(`longer_\u004eame_%d`, i) }, strict.Variant},
}

// TestManyKeysAreComparedLikeFew: whatever the number of keys, whichever of them
// comes again, however it is written, and whatever objects are inside and
// around.
func TestManyKeysAreComparedLikeFew(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 15, 16, 17, 18, 40, strict.MaxKeys - 1} {
		for _, again := range []int{0, n / 2, n - 1} {
			for _, s := range spellings {
				var b strings.Builder
				for i := range n {
					fmt.Fprintf(&b, `"longer_name_%d":{"longer_name_%d":[{"x":1},{"x":1,"longer_name_%d":2}]},`, i, i, again)
				}
				fine := "{" + strings.TrimSuffix(b.String(), ",") + "}"
				around := `{"longer_name_0":` + keys(20) + `,"LONGER":` + fine + `,"a":` + fine + `}`
				if err := strict.Check([]byte(around), limit); err != nil {
					t.Fatalf("%d keys: %v", n, err)
				}
				bad := `{"x":[` + fine + `,{` + b.String() + `"` + s.of(again) + `":1}]}`
				f, _ := errors.AsType[*strict.Fault](strict.Check([]byte(bad), limit))
				if want := strings.LastIndex(bad, `"`+s.of(again)+`"`); f == nil || f.Kind != s.kind || f.Offset != want {
					t.Fatalf("%d keys, and the %d. once more as %s: %v, want %q at %d", n, again, s.of(again), f, s.kind, want)
				}
			}
		}
	}
}

// TestARefusedTextLeavesNothingBehind: the next one is looked at afresh.
func TestARefusedTextLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	many := keys(300)
	for range 50 {
		for _, cut := range []int{len(many) / 4, len(many) / 2, len(many) - 1} {
			if strict.Check([]byte(`{"a":`+many+`,"b":[`+many[:cut]), limit) == nil {
				t.Fatal("a text that was cut is accepted")
			}
			if err := strict.Check([]byte(`{"a":`+many+`,"b":[`+many+`,`+many+`]}`), limit); err != nil {
				t.Fatal(err)
			}
		}
	}
}
