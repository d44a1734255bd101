package strict_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"harness/internal/strict"
)

const limit = 16 << 20

func keys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"k%d":%d,`, i, i)
	}
	return "{" + strings.TrimSuffix(b.String(), ",") + "}"
}

var refused = []struct {
	text string
	kind strict.Kind
	at   int
}{
	{strings.Repeat("[", 65) + strings.Repeat("]", 65), strict.TooDeep, 64},
	{strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), strict.TooDeep, 64 * 5},
	{strings.Repeat("[", 11_000), strict.TooDeep, 64},
	{keys(513), strict.Keys, strings.Index(keys(513), `"k512"`)},
	{`{"a":1,"a":2}`, strict.Duplicate, 7},
	{`{"a":1,"\u0061":2}`, strict.Duplicate, 7},
	{`{"":1,"":2}`, strict.Duplicate, 6},
	{`[{"x":{"b":1,"c":{},"b":1}}]`, strict.Duplicate, 20},
	{`{"type":"cancel","TYPE":"submit"}`, strict.Variant, 17},
	{`{"type":"cancel","ty\u0050e":"submit"}`, strict.Variant, 17},
	{`{"session":1,"se` + "\u017f" + `sion":2}`, strict.Variant, 13},
	{`{"k":1,"` + "\u212a" + `":2}`, strict.Variant, 7},
	{`{"straße":1,"STRASSE":2,"é":1,"É":2}`, strict.Variant, 32},
	{"\"\xff\"", strict.UTF8, 1},
	{"\"abcdefgh\xed\xa0\x80\"", strict.UTF8, 9},
	{"\"\xc0\xaf\"", strict.UTF8, 1},
	{"\"\xe2\x82\"", strict.UTF8, 1},
	{"{\"\xfe\":1}", strict.UTF8, 2},
	{`"\ud800"`, strict.Surrogate, 1},
	{`"\udc00"`, strict.Surrogate, 1},
	{`"\ud800\ud800"`, strict.Surrogate, 1},
	{`"\ud800x"`, strict.Surrogate, 1},
	{`"\ud800\n"`, strict.Surrogate, 1},
	{`"\u0000"`, strict.NUL, 1},
	{"\"a\x00\"", strict.NUL, 2},
	{"\x00", strict.NUL, 0},
	{"{}\x00", strict.Trailing, 2},
	{"\"a\nb\"", strict.Control, 2},
	{"\"12345678\x1f\"", strict.Control, 9},
	{`1e999`, strict.Number, 0},
	{`[-1e309]`, strict.Number, 1},
	{strings.Repeat("9", 400), strict.Number, 0},
	{"\xef\xbb\xbf{}", strict.BOM, 0},
	{`{} {}`, strict.Trailing, 3},
	{`1 2`, strict.Trailing, 2},
	{`{}x`, strict.Trailing, 2},
	{``, strict.Short, 0},
	{`  `, strict.Short, 2},
	{`{`, strict.Short, 1},
	{`{"a"`, strict.Short, 4},
	{`{"a":`, strict.Short, 5},
	{`[1,`, strict.Short, 3},
	{`"abc`, strict.Short, 4},
	{`"\`, strict.Short, 2},
	{`"\u12`, strict.Short, 5},
	{`"\ud800\`, strict.Short, 8},
	{`"\ud800\udc`, strict.Short, 11},
	{`tru`, strict.Short, 3},
	{`-`, strict.Short, 1},
	{`1.`, strict.Short, 2},
	{`1e+`, strict.Short, 3},
	{`"\x"`, strict.Syntax, 2},
	{`"\u00g0"`, strict.Syntax, 5},
	{`[1,]`, strict.Syntax, 3},
	{`{"a":1,}`, strict.Syntax, 7},
	{`{a:1}`, strict.Syntax, 1},
	{`{'a':1}`, strict.Syntax, 1},
	{`{"a":1]`, strict.Syntax, 6},
	{`[1}`, strict.Syntax, 2},
	{`{"a" 1}`, strict.Syntax, 5},
	{`[1 2]`, strict.Syntax, 3},
	{`+1`, strict.Syntax, 0},
	{`01`, strict.Trailing, 1},
	{`.5`, strict.Syntax, 0},
	{`NaN`, strict.Syntax, 0},
	{`nil`, strict.Syntax, 1},
	{`// c`, strict.Syntax, 0},
}

func TestWhatIsRefusedIsNamedWithItsPlace(t *testing.T) {
	t.Parallel()
	seen := map[strict.Kind]bool{strict.TooLarge: true} // see TestTheLimitsAreExact
	for _, c := range refused {
		f, ok := errors.AsType[*strict.Fault](strict.Check([]byte(c.text), limit))
		if !ok || f.Kind != c.kind || f.Offset != c.at {
			t.Errorf("%.60q: got %v, want %q at %d", c.text, f, c.kind, c.at)
		}
		seen[c.kind] = true
	}
	for _, k := range strict.Kinds() {
		if !seen[k] {
			t.Errorf("no case for %q", k)
		}
	}
}

func TestWhatIsFineIsAccepted(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{}`, `[]`, `null`, `true`, ` false `, `""`, `0`, `-0`, `1.5e-3`, `1E+2`, `1e308`, `1e-999`, strings.Repeat("9", 300), "\t\r\n {}\n",
		`{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}`, `{"a":1,"b":2,"ab":3,"ba":4,"":5}`, `{"__proto__":1,"constructor":2}`,
		`"\u0061\"\\\/\b\f\n\r\t"`, `"\ud83d\ude00 😀 é ` + "\u2028\ufffd" + `"`, `"` + strings.Repeat("x", 100) + `"`, "\"\x7f\"",
	} {
		if err := strict.Check([]byte(text), limit); err != nil {
			t.Errorf("%.60q: %v", text, err)
		}
	}
}

func TestTheLimitsAreExact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		fits, not string
		limit     int
		kind      strict.Kind
	}{
		{"size", `"12345678"`, `"123456789"`, 10, strict.TooLarge},
		{"depth of arrays", strings.Repeat("[", 64) + strings.Repeat("]", 64), strings.Repeat("[", 65) + strings.Repeat("]", 65), limit, strict.TooDeep},
		{"depth of objects", strings.Repeat(`{"a":`, 63) + "{}" + strings.Repeat("}", 63), strings.Repeat(`{"a":`, 64) + "{}" + strings.Repeat("}", 64), limit, strict.TooDeep},
		{"keys of an object", keys(strict.MaxKeys), keys(strict.MaxKeys + 1), limit, strict.Keys},
		{"keys of open objects", nested(4, 511), nested(4, 511)[:len(nested(4, 511))-4] + `,"x":{"y":1}}}}}`, limit, strict.Keys},
	} {
		if err := strict.Check([]byte(c.fits), c.limit); err != nil {
			t.Errorf("%s: what fits: %v", c.name, err)
		}
		f, _ := errors.AsType[*strict.Fault](strict.Check([]byte(c.not), c.limit))
		if f == nil || f.Kind != c.kind {
			t.Errorf("%s: what does not: %v", c.name, f)
		}
	}
}

// nested is objects in each other with n keys and one more for the next.
func nested(depth, n int) string {
	if depth == 0 {
		return "1"
	}
	return strings.TrimSuffix(keys(n), "}") + `,"z":` + nested(depth-1, n) + "}"
}

// mixed is like what clients send.
func mixed(size int) []byte {
	var b bytes.Buffer
	b.WriteByte('[')
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `{"type":"submit","commandId":"c%d","prompt":"Please look at the file main.go — and say \"what\" it does,\n then change line %d.","n":[1,2.5,true,null]},`, i, i)
	}
	b.WriteString("0]")
	return b.Bytes()
}

func TestNothingIsAllocated(t *testing.T) {
	for name, text := range map[string][]byte{
		"9 MB of {}":  []byte("[" + strings.Repeat("{},", 3<<20) + "{}]"),
		"commands":    mixed(1 << 20),
		"many keys":   []byte("[" + strings.Repeat(keys(strict.MaxKeys)+",", 50) + "1]"),
		"1e100 often": []byte("[" + strings.Repeat("1e100,", 1000) + "1]"),
	} {
		if n := testing.AllocsPerRun(3, func() {
			if err := strict.Check(text, limit); err != nil {
				t.Fatal(name, err)
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	for name, text := range map[string][]byte{
		"commands":  mixed(1 << 20),
		"text":      []byte(`"` + strings.Repeat("all work and no play makes a dull text, ", 20_000) + `"`),
		"empties":   []byte("[" + strings.Repeat("{},", 3<<20) + "{}]"),
		"many keys": []byte("[" + strings.Repeat(keys(strict.MaxKeys)+",", 50) + "1]"),
		"unicode":   []byte(`"` + strings.Repeat("žluťoučký kůň 👍 ", 20_000) + `"`),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if err := strict.Check(text, limit); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// FuzzCheck compares with encoding/json: what is accepted decodes there, to a
// value that encodes to something that is accepted and decodes to the same; what
// is refused although encoding/json takes it has one of the names for that.
func FuzzCheck(f *testing.F) {
	for _, c := range refused {
		f.Add([]byte(c.text))
	}
	f.Add(mixed(300))
	tolerated := []strict.Kind{strict.TooDeep, strict.Keys, strict.Duplicate, strict.Variant, strict.UTF8, strict.Surrogate, strict.NUL}
	f.Fuzz(func(t *testing.T, text []byte) {
		err := strict.Check(text, limit)
		var v any
		jerr := json.Unmarshal(text, &v)
		if err != nil {
			fault, ok := errors.AsType[*strict.Fault](err)
			if !ok || !slices.Contains(strict.Kinds(), fault.Kind) || fault.Offset < 0 || fault.Offset > len(text) {
				t.Fatalf("%q: refused with %v", text, err)
			}
			if jerr == nil && !slices.Contains(tolerated, fault.Kind) {
				t.Fatalf("%q: %v, but it is JSON", text, err)
			}
			return
		}
		if jerr != nil {
			t.Fatalf("%q: accepted, but %v", text, jerr)
		}
		if bytes.ContainsRune(text, 0xfffd) { // it was there before
			return
		}
		again, jerr := json.Marshal(v)
		if jerr != nil {
			t.Fatal(jerr)
		}
		if bytes.Contains(again, []byte(`\ufffd`)) || bytes.ContainsRune(again, 0xfffd) {
			if !bytes.Contains(bytes.ToLower(text), []byte(`\ufffd`)) {
				t.Fatalf("%q: something was replaced: %q", text, again)
			}
		}
		if err := strict.Check(again, 8*limit); err != nil {
			t.Fatalf("%q: accepted, but as %q: %v", text, again, err)
		}
		var w any
		if jerr := json.Unmarshal(again, &w); jerr != nil || !reflect.DeepEqual(v, w) {
			t.Fatalf("%q and %q differ", text, again)
		}
		var upper struct{ Type, TYPE any } // a struct sees the keys that a map sees
		json.Unmarshal(text, &upper)
	})
}

// TestOnlyTheOuterLevelsAreOurs: what others have said inside stays as it is.
func TestOnlyTheOuterLevelsAreOurs(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":[`, 500) + strings.Repeat(`]}`, 500)
	for _, inside := range []string{`{"x":1,"x":2,"X":3}`, `[1e999,{"":{"":0,"":1}}]`, `{"s":"\u0000 \ud800 \udc00"}`, `"\u0000\ud800x"`, deep, keys(2000), `"a"`, `[]`, `{}`, `1`} {
		text := `{"seq":1,"payload":{"input":` + inside + `,"tool":"b"},"x":[` + inside + `]}`
		if err := strict.Outer([]byte(text), limit, 2); err != nil {
			t.Errorf("%.60q: %v", text, err)
		}
	}
	for text, kind := range map[string]strict.Kind{
		`{"seq":1,"seq":2}`:                  strict.Duplicate,
		`{"a":{"b":1,"B":2}}`:                strict.Variant,
		`{"a":{"b":{"c":1}],"d":2}`:          strict.Syntax,
		`{"a":{"b":{"c":"` + "\xff" + `"}}}`: strict.UTF8,
		`{"a":{"b":{"c":1`:                   strict.Short,
		`{"a":{"b":{"c":1}}} {}`:             strict.Trailing,
		`{"\u0000":1}`:                       strict.NUL,
		`{"\ud800":1}`:                       strict.Surrogate,
		`{"a":"` + "\x01" + `"}`:             strict.Control,
	} {
		if f, _ := errors.AsType[*strict.Fault](strict.Outer([]byte(text), limit, 2)); f == nil || f.Kind != kind {
			t.Errorf("%q: %v, want %q", text, f, kind)
		}
	}
}
