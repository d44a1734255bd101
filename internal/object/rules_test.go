package object_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"harness/internal/object"
	"harness/internal/object/objecttest"
)

// rule is one line of the table of rules: what operations make of a document.
// An outcome is the document after them, or "!" and why they are refused.
type rule struct {
	name   string
	doc    string
	ops    string
	strict string // generation C, strict
	ours   string // ours where it is not strict
	lax    string // generation C, lax, where it is not strict
	b, a   string // older generations where they are not strict
}

// refusals tells what JavaScript says when we say err.
var refusals = []struct {
	name string
	err  error
	says string
}{
	{"!kind", object.ErrKind, "Invalid operation type"},
	{"!parent", object.ErrParent, "Invalid path"},
	{"!index", object.ErrIndex, "Expected array index"},
	{"!bounds", object.ErrBounds, "Insert array index out of bounds"},
	{"!string", object.ErrString, "Expected string"},
	{"!unsafe", object.ErrUnsafe, "Unsafe gorp path segment"},
	{"!value", object.ErrValue, "(ours alone)"},
	{"!text", object.ErrText, "(ours alone)"},
}

// refusal names the reason in err, whichever side it comes from.
func refusal(err error) string {
	for _, r := range refusals {
		if errors.Is(err, r.err) || strings.HasPrefix(err.Error(), r.says) {
			return r.name
		}
	}
	return "!" + err.Error()
}

var rules = []rule{
	{name: "set of the root replaces everything", doc: `{"a":1}`, ops: `[{"type":"set","path":[],"value":[true,null]}]`, strict: `[true,null]`},
	{name: "append-text to a root string", doc: `"a"`, ops: `[{"type":"append-text","path":[],"value":"b"}]`, strict: `"ab"`},
	{name: "append-text to a root object", doc: `{}`, ops: `[{"type":"append-text","path":[],"value":"b"}]`, strict: `!string`, lax: `{}`},
	{name: "append-text to a null root", doc: `null`, ops: `[{"type":"append-text","path":[],"value":"b"}]`, strict: `!string`, lax: `null`},
	{name: "missing parents are created", doc: `null`, ops: `[{"type":"set","path":["a","b"],"value":1}]`, strict: `{"a":{"b":1}}`},
	{name: "a null parent is missing", doc: `{"a":null,"z":0}`, ops: `[{"type":"set","path":["a","b","c"],"value":1}]`, strict: `{"a":{"b":{"c":1}},"z":0}`},
	{name: "a null element is missing", doc: `[null]`, ops: `[{"type":"set","path":["0","b"],"value":1}]`, strict: `[{"b":1}]`},
	{name: "arrays are never created", doc: `{}`, ops: `[{"type":"set","path":["a","0"],"value":1}]`, strict: `{"a":{"0":1}}`},
	{name: "parent is a string", doc: `{"a":"s"}`, ops: `[{"type":"set","path":["a","b"],"value":1}]`, strict: `!parent`, lax: `{"a":"s"}`},
	{name: "parent is a number", doc: `{"a":1}`, ops: `[{"type":"set","path":["a","0"],"value":1}]`, strict: `!parent`, lax: `{"a":1}`},
	{name: "parent is false", doc: `{"a":false}`, ops: `[{"type":"set","path":["a","b"],"value":1}]`, strict: `!parent`, lax: `{"a":false}`},
	{name: "root is a string", doc: `""`, ops: `[{"type":"set","path":["a"],"value":1}]`, strict: `!parent`, lax: `""`},
	{name: "index below length replaces", doc: `[1,2]`, ops: `[{"type":"set","path":["0"],"value":9}]`, strict: `[9,2]`},
	{name: "index at length appends", doc: `[1,2]`, ops: `[{"type":"set","path":["2"],"value":9}]`, strict: `[1,2,9]`},
	{name: "index at length and on appends an object", doc: `[1]`, ops: `[{"type":"set","path":["1","a"],"value":9}]`, strict: `[1,{"a":9}]`},
	{name: "index beyond length", doc: `[1]`, ops: `[{"type":"set","path":["5"],"value":9}]`, strict: `!bounds`, lax: `[1,9]`},
	{name: "huge index", doc: `[1]`, ops: `[{"type":"set","path":["1e+21"],"value":9}]`, strict: `!bounds`, lax: `[1,9]`},
	{name: "index that a float64 cannot hold", doc: `[1]`, ops: `[{"type":"set","path":["9007199254740993"],"value":9}]`, strict: `!index`, lax: `[1]`, b: `!bounds`, a: `!bounds`},
	{name: "negative index", doc: `[1]`, ops: `[{"type":"set","path":["-1"],"value":9}]`, strict: `!bounds`, lax: `[1]`},
	{name: "index 01", doc: `[1,2]`, ops: `[{"type":"set","path":["01"],"value":9}]`, strict: `!index`, lax: `[1,2]`, b: `[1,9]`, a: `[1,9]`},
	{name: "index 1.0", doc: `[1,2]`, ops: `[{"type":"set","path":["1.0"],"value":9}]`, strict: `!index`, lax: `[1,2]`, b: `[1,9]`, a: `[1,9]`},
	{name: "index 1e0", doc: `[1,2]`, ops: `[{"type":"set","path":["1e0"],"value":9}]`, strict: `!index`, lax: `[1,2]`, b: `[1,9]`, a: `[1,9]`},
	{name: "index with a space", doc: `[1,2]`, ops: `[{"type":"set","path":[" 1"],"value":9}]`, strict: `!index`, lax: `[1,2]`, b: `[1,9]`, a: `[1,9]`},
	{name: "empty index", doc: `[1,2]`, ops: `[{"type":"set","path":[""],"value":9}]`, strict: `!index`, lax: `[1,2]`, b: `[9,2]`, a: `[9,2]`},
	{name: "index -0", doc: `[1,2]`, ops: `[{"type":"set","path":["-0"],"value":9}]`, strict: `!index`, lax: `[1,2]`, b: `[9,2]`, a: `[9,2]`},
	{name: "index 0.5", doc: `[1,2]`, ops: `[{"type":"set","path":["0.5"],"value":9}]`, strict: `!index`, lax: `[1,2]`, b: `[1,2]`, a: `[1,2]`},
	{name: "index x", doc: `[1]`, ops: `[{"type":"set","path":["x"],"value":9}]`, strict: `!index`, lax: `[1]`},
	{name: "index length", doc: `[1]`, ops: `[{"type":"set","path":["length"],"value":9}]`, strict: `!index`, lax: `[1]`},
	{name: "index Infinity", doc: `[1]`, ops: `[{"type":"set","path":["Infinity"],"value":9}]`, strict: `!index`, lax: `[1]`, b: `!bounds`, a: `!bounds`},
	{name: "index as a number", doc: `[1,2]`, ops: `[{"type":"set","path":[1],"value":9}]`, strict: `[1,9]`},
	{name: "append-text to a string", doc: `{"a":["x"]}`, ops: `[{"type":"append-text","path":["a","0"],"value":"y"}]`, strict: `{"a":["xy"]}`},
	{name: "append-text to a missing key", doc: `{}`, ops: `[{"type":"append-text","path":["a"],"value":"y"}]`, strict: `!string`, lax: `{}`},
	{name: "append-text below a missing key", doc: `{}`, ops: `[{"type":"append-text","path":["a","b"],"value":"y"}]`, strict: `!string`, lax: `{}`},
	{name: "append-text to null", doc: `{"a":null}`, ops: `[{"type":"append-text","path":["a"],"value":"y"}]`, strict: `!string`, lax: `{"a":null}`},
	{name: "append-text to a number", doc: `{"a":1}`, ops: `[{"type":"append-text","path":["a"],"value":"y"}]`, strict: `!string`, lax: `{"a":1}`},
	{name: "append-text to an array", doc: `{"a":[]}`, ops: `[{"type":"append-text","path":["a"],"value":"y"}]`, strict: `!string`, lax: `{"a":[]}`},
	{name: "append-text to an array's end", doc: `{"a":[]}`, ops: `[{"type":"append-text","path":["a","0"],"value":"y"}]`, strict: `!string`, lax: `{"a":[]}`},
	{name: "append-text of a number", doc: `"a"`, ops: `[{"type":"append-text","path":[],"value":5}]`, strict: `"a5"`, ours: `!string`},
	{name: "append-text without value", doc: `"a"`, ops: `[{"type":"append-text","path":[]}]`, strict: `"aundefined"`, ours: `!value`},
	{name: "set without value", doc: `{"a":1}`, ops: `[{"type":"set","path":["a"]}]`, strict: `{}`, ours: `!value`},
	{name: "half a surrogate pair in a value", doc: `{}`, ops: `[{"type":"set","path":["a"],"value":"\ud83d"}]`, strict: `{"a":"\ud83d"}`, ours: `!text`},
	{name: "half a surrogate pair in text", doc: `""`, ops: `[{"type":"append-text","path":[],"value":"\ude00"}]`, strict: `"\ude00"`, ours: `!text`},
	{name: "key __proto__ in a value", doc: `{}`, ops: `[{"type":"set","path":["a"],"value":{"__proto__":1}}]`, strict: `{"a":{"__proto__":1}}`, ours: `!unsafe`},
	{name: "constructor.prototype in a value", doc: `{}`, ops: `[{"type":"set","path":["a"],"value":{"constructor":{"prototype":1}}}]`, strict: `{"a":{"constructor":{"prototype":1}}}`, ours: `!unsafe`},
	{name: "key constructor in a value", doc: `{}`, ops: `[{"type":"set","path":["a"],"value":{"constructor":{"x":1},"prototype":"__proto__"}}]`, strict: `{"a":{"constructor":{"x":1},"prototype":"__proto__"}}`},
	{name: "segment __proto__", doc: `{"a":{}}`, ops: `[{"type":"set","path":["a","__proto__"],"value":1}]`, strict: `!unsafe`, lax: `{"a":{}}`, a: `{"a":{}}`},
	{name: "segment constructor", doc: `{}`, ops: `[{"type":"set","path":["constructor"],"value":1}]`, strict: `!unsafe`, lax: `{}`, a: `{"constructor":1}`},
	{name: "segment prototype in a missing parent", doc: `{}`, ops: `[{"type":"set","path":["a","prototype"],"value":1}]`, strict: `!unsafe`, lax: `{}`, a: `{"a":{"prototype":1}}`},
	{name: "segment __proto__ in an array", doc: `[]`, ops: `[{"type":"set","path":["__proto__"],"value":1}]`, strict: `!unsafe`, lax: `[]`, a: `!index`},
	{name: "inherited name", doc: `{}`, ops: `[{"type":"set","path":["toString","a"],"value":1}]`, strict: `{"toString":{"a":1}}`, a: `!parent`},
	{name: "empty key", doc: `{}`, ops: `[{"type":"set","path":["",""],"value":1}]`, strict: `{"":{"":1}}`},
	{name: "unknown operation", doc: `[]`, ops: `[{"type":"delete","path":["x"],"value":1}]`, strict: `!kind`, lax: `[]`},
	{name: "one bad operation in a batch", doc: `{"a":"x","l":[]}`, ops: `[
		{"type":"append-text","path":["a"],"value":"y"},
		{"type":"set","path":["l","0"],"value":1},
		{"type":"set","path":["n","m"],"value":1},
		{"type":"set","path":["a"],"value":{}},
		{"type":"set","path":[],"value":{"r":"s"}},
		{"type":"append-text","path":["r"],"value":"t"},
		{"type":"append-text","path":["q"],"value":"t"}]`, strict: `!string`, lax: `{"r":"st"}`},
	{name: "a set key keeps its place", doc: `{"a":1,"b":2}`, ops: `[{"type":"set","path":["c"],"value":3},{"type":"set","path":["a"],"value":4}]`, strict: `{"a":4,"b":2,"c":3}`},
	{name: "numbers and escapes", doc: `null`, ops: `[{"type":"set","path":[],"value":[1e3,-0,1.50,"\u00e9\ud83d\ude00\/\n\u0001\u2028"]}]`, strict: `[1000,0,1.5,"é😀/\n\u0001` + "\u2028" + `"]`},
	{name: "of equal keys the last wins", doc: `null`, ops: `[{"type":"set","path":[],"value":{"a":1,"b":2,"a":3}}]`, strict: `{"a":3,"b":2}`},
}

func set(t testing.TB, doc string) *object.Tree {
	t.Helper()
	var tree object.Tree
	if err := tree.Apply([]object.Op{{Kind: object.Set, Value: []byte(doc)}}); err != nil {
		t.Fatalf("set %s: %v", doc, err)
	}
	return &tree
}

// outcome decodes and applies ops. Where they are refused, it checks that the
// document stayed.
func outcome(t testing.TB, tree *object.Tree, ops string) string {
	t.Helper()
	before := string(tree.AppendJSON(nil))
	var batch []object.Op
	err := json.Unmarshal([]byte(ops), &batch)
	if err == nil {
		err = tree.Apply(batch)
	}
	after := string(tree.AppendJSON(nil))
	if err == nil {
		return after
	}
	if after != before {
		t.Errorf("refused %s\n changed %s\n      to %s", ops, before, after)
	}
	return refusal(err)
}

func TestRulesHoldInEveryGeneration(t *testing.T) {
	node := objecttest.Node(t)
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, side := range []struct {
				name   string
				gen    objecttest.Generation
				strict bool
				want   string
			}{
				{"C strict", objecttest.C, true, r.strict},
				{"C lax", objecttest.C, false, or(r.lax, r.strict)},
				{"B", objecttest.B, true, or(r.b, r.strict)},
				{"A", objecttest.A, true, or(r.a, r.strict)},
			} {
				acc := node.NewGeneration(side.gen, side.strict)
				if err := acc.Apply([]byte(`[{"type":"set","path":[],"value":` + r.doc + `}]`)); err != nil {
					t.Fatal(err)
				}
				err := acc.Apply([]byte(r.ops))
				got := string(acc.State())
				if err != nil {
					if got != string(node.Normal([]byte(r.doc))) {
						t.Errorf("%s: refused, yet the state became %s", side.name, got)
					}
					got = refusal(err)
				}
				if got != side.want {
					t.Errorf("%s:\n got %s\nwant %s", side.name, got, side.want)
				}
			}
		})
	}
}

func TestTreeFollowsTheRules(t *testing.T) {
	node := objecttest.Node(t)
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			got := outcome(t, set(t, r.doc), r.ops)
			if got[0] != '!' {
				got = string(node.Normal([]byte(got)))
			}
			if want := or(r.ours, r.strict); got != want {
				t.Errorf("strict:\n got %s\nwant %s", got, want)
			}
			if r.ours != "" {
				return
			}
			tree := set(t, r.doc)
			tree.Lax = true
			got = string(node.Normal([]byte(outcome(t, tree, r.ops))))
			if want := or(r.lax, r.strict); got != want {
				t.Errorf("lax:\n got %s\nwant %s", got, want)
			}
		})
	}
}

func TestValuesThatStreamDecodersDropAreRefused(t *testing.T) {
	node := objecttest.Node(t)
	for _, doc := range []string{
		`{"__proto__":1}`, `[{"a":{"\u005f_proto__":null}}]`, `{"constructor":{"prototype":null}}`,
		`{"constructor":{"x":1}}`, `{"constructor":["prototype"]}`, `{"prototype":1}`, `"__proto__"`, `["constructor"]`,
	} {
		_, err := object.Normalize([]byte(doc))
		if theirs := node.Secure([]byte(doc)); (err != nil) != (theirs != nil) {
			t.Errorf("%s: we say %v, the decoder says %v", doc, err, theirs)
		}
	}
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
