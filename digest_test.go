package harness_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"harness"
)

func TestADigestIsOfTheValueNotOfItsSpelling(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{`{"a":1,"b":[true,null,"x"]}`, "{ \"b\" : [ true , null , \"\\u0078\" ] ,\n \"a\" : 1.0 }", `{"b":[true,null,"x"],"a":1e0}`},
		{`100`, `1e2`, `100.0`, `1E+2`, `1000e-1`},
		{`0.1`, `1e-1`, `0.10`, `10e-2`},
		{`0`, `-0`, `0.0`, `0e9`},
		{`12345678901234567890123`, `12345678901234567890123.0`, `1.2345678901234567890123e22`},
		{`"é\n\/"`, `"\u00e9\u000a/"`},
		{`null`, ``},
		{`{"😀":1,"\ufb33":2}`, `{"\ufb33":2,"\ud83d\ude00":1}`}, // sorted as UTF-16
	} {
		for _, s := range same[1:] {
			if harness.Digest(json.RawMessage(s)) != harness.Digest(json.RawMessage(same[0])) {
				t.Errorf("%s and %s differ", same[0], s)
			}
		}
	}
	// No two of these are the same.
	seen := map[string]string{}
	for _, s := range []string{
		`1`, `-1`, `"1"`, `true`, `null`, `[]`, `{}`, `[1]`, `[[1]]`, `{"a":1}`, `{"a":"1"}`, `{"a":1,"b":1}`, `{"a":{"b":1}}`, `[1,2]`, `[2,1]`, `12`, `120`, `1.2`,
		`12345678901234567890`, `12345678901234567891`, `0.1`, `0.10000000000000000001`, `1e400`, `1e401`, `9007199254740993`, `9007199254740992`,
		`{"a":1,"a":2}`, `{"a":2,"a":1}`, `{"a":2}`, `{"A":1}`, `"\ud800"`, `"\ud801"`, "\"\xff\"", "\"\xfe\"", `"\ufffd"`, `not json`, `not json2`, `{"a":1}x`, `1e99999999999999999999`,
	} {
		d := harness.Digest(json.RawMessage(s))
		if was, ok := seen[d]; ok {
			t.Errorf("%s and %s are the same", was, s)
		}
		seen[d] = s
	}
	// The form is that of RFC 8785 where it is exact, so that others can check.
	if got, want := harness.Digest(json.RawMessage(`{"b":100.0,"a":"x"}`)), "sha256:"+sha(`{"a":"x","b":100}`); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestADecisionCoversItsArgumentsOnly(t *testing.T) {
	t.Parallel()
	args := json.RawMessage(`{"command":"ls"}`)
	d := harness.Decision{Verdict: harness.Allow, Digest: harness.Digest(args)}
	if !d.Covers(json.RawMessage(` {"command":"\u006cs"}`)) || d.Covers(json.RawMessage(`{"command":"rm"}`)) || d.Covers(nil) {
		t.Error("an allowance")
	}
	if d.Verdict = harness.Deny; d.Covers(args) {
		t.Error("a denial")
	}
	if (harness.Decision{Verdict: harness.Allow}).Covers(args) {
		t.Error("an allowance of nothing in particular")
	}
}

// FuzzDigest: a value that is written again, in another order and with white
// space, has the same digest.
func FuzzDigest(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.5e3,"x\u00e9"],"b":{"c":null,"":false}}`), uint64(1))
	f.Fuzz(func(t *testing.T, b []byte, seed uint64) {
		var v any
		d := harness.Digest(b)
		dec := json.NewDecoder(strings.NewReader(string(b)))
		dec.UseNumber()
		if dec.Decode(&v) != nil || !json.Valid(b) {
			return
		}
		again, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsRune(string(again), 0xfffd) || strings.Contains(string(again), `\ufffd`) || repeats(b) {
			return // named as it is
		}
		if harness.Digest(again) != d {
			t.Fatalf("%s and %s differ", b, again)
		}
		if changed := fmt.Appendf(nil, `[%s,%d]`, b, rand.New(rand.NewPCG(seed, 0)).Int()); harness.Digest(changed) == d {
			t.Fatalf("%s and %s are the same", b, changed)
		}
	})
}

// repeats reports whether a key is there twice: then decoding loses one.
func repeats(b []byte) bool {
	dec := json.NewDecoder(strings.NewReader(string(b)))
	n := 0
	for {
		t, err := dec.Token()
		if err != nil {
			break
		}
		if _, ok := t.(string); ok {
			n++
		}
	}
	var v any
	json.Unmarshal(b, &v)
	return count(v) != n
}

func count(v any) (n int) {
	switch v := v.(type) {
	case string:
		return 1
	case []any:
		for _, x := range v {
			n += count(x)
		}
	case map[string]any:
		for _, x := range v {
			n += 1 + count(x)
		}
	}
	return n
}

func sha(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
