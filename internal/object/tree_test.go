package object_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"harness/internal/object"
)

func TestLeafAppendsWhereItsPathLeadsNow(t *testing.T) {
	tree := set(t, `{"a":{"t":"x"}}`)
	leaf, err := tree.Leaf([]string{"a", "t"})
	if err != nil {
		t.Fatal(err)
	}
	step := func(ops, text, want string, refused error) {
		t.Helper()
		if got := outcome(t, tree, ops); got[0] == '!' {
			t.Fatalf("%s: %s", ops, got)
		}
		if err := leaf.Append(text); !errors.Is(err, refused) {
			t.Fatalf("append %q after %s: %v, want %v", text, ops, err, refused)
		}
		if got := string(tree.AppendJSON(nil)); got != want {
			t.Errorf("append %q after %s:\n got %s\nwant %s", text, ops, got, want)
		}
	}
	step(`[]`, "y", `{"a":{"t":"xy"}}`, nil)
	step(`[]`, "\xff", `{"a":{"t":"xy"}}`, object.ErrText)
	step(`[{"type":"set","path":["b"],"value":1}]`, "z", `{"a":{"t":"xyz"},"b":1}`, nil)
	step(`[{"type":"set","path":["a","t"],"value":"n"}]`, "o", `{"a":{"t":"no"},"b":1}`, nil)
	step(`[{"type":"set","path":["a"],"value":[]}]`, "p", `{"a":[],"b":1}`, object.ErrIndex)
	step(`[{"type":"set","path":[],"value":{"a":{"t":"q"}}}]`, "r", `{"a":{"t":"qr"}}`, nil)
	if got := outcome(t, tree, `[{"type":"set","path":["a","t"],"value":"s"},{"type":"set","path":["a","t","u"],"value":0}]`); got != "!parent" {
		t.Fatal(got)
	}
	step(`[]`, "s", `{"a":{"t":"qrs"}}`, nil)
}

func TestDepthIsBoundedByPathAndValueTogether(t *testing.T) {
	path := strings.Split(strings.Repeat("k", object.MaxDepth), "")
	value := func(levels int) json.RawMessage {
		return json.RawMessage(strings.Repeat("[", levels) + "0" + strings.Repeat("]", levels))
	}
	for _, c := range []struct {
		path, levels int
		want         error
	}{
		{object.MaxDepth, 0, nil}, {0, object.MaxDepth, nil}, {object.MaxDepth - 5, 5, nil},
		{object.MaxDepth, 1, object.ErrDepth}, {0, object.MaxDepth + 1, object.ErrDepth}, {object.MaxDepth - 5, 6, object.ErrDepth},
	} {
		var tree object.Tree
		err := tree.Apply([]object.Op{{Kind: object.Set, Path: path[:c.path], Value: value(c.levels)}})
		if !errors.Is(err, c.want) {
			t.Errorf("path of %d, value of %d levels: %v, want %v", c.path, c.levels, err, c.want)
		}
	}
	var tree object.Tree
	if err := tree.Apply([]object.Op{{Kind: object.Set, Path: append(path, "k"), Value: value(0)}}); !errors.Is(err, object.ErrDepth) {
		t.Errorf("path beyond MaxDepth: %v", err)
	}
}

func TestObjectsOfManyKeysKeepOrderAndTakeBatchesBack(t *testing.T) {
	tree := set(t, `{}`)
	var ops []object.Op
	for i := range 100 {
		ops = append(ops, object.Op{Kind: object.Set, Path: []string{fmt.Sprint("k", 99-i)}, Value: fmt.Append(nil, i)})
	}
	if err := tree.Apply(ops[:40]); err != nil {
		t.Fatal(err)
	}
	before := string(tree.AppendJSON(nil))
	bad := append(ops[40:90:90], object.Op{Kind: object.AppendText, Path: []string{"k0"}, Text: "x"})
	if err := tree.Apply(bad); !errors.Is(err, object.ErrString) {
		t.Fatal(err)
	}
	if after := string(tree.AppendJSON(nil)); after != before {
		t.Fatalf("refused batch changed %s\n to %s", before, after)
	}
	if err := tree.Apply(ops[40:]); err != nil {
		t.Fatal(err)
	}
	want := []byte("{")
	for i := range 100 {
		want = fmt.Appendf(want, `"k%d":%d,`, 99-i, i)
	}
	want[len(want)-1] = '}'
	if got := tree.AppendJSON(nil); string(got) != string(want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// Memory is the clock-free measure of work here: copying the text at each
// append would take 1 GB.
func TestAppendsToALongTextAllocateInProportionToIt(t *testing.T) {
	const n, piece = 20_000, "tokn "
	tree := set(t, conversation(1000))
	op := []object.Op{{Kind: object.AppendText, Path: []string{"messages", "999", "content"}, Text: piece}}
	var m0, m1 runtime.MemStats
	runtime.ReadMemStats(&m0)
	for range n {
		if err := tree.Apply(op); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&m1)
	if got, limit := m1.TotalAlloc-m0.TotalAlloc, uint64(16*n*len(piece)); got > limit {
		t.Errorf("%d appends of %d bytes allocated %d bytes, want at most %d", n, len(piece), got, limit)
	}
}

// conversation is a document whose n messages hold a text each.
func conversation(n int) string {
	var b strings.Builder
	b.WriteString(`{"status":"running","messages":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"m%d","role":"assistant","content":"","status":"streaming"}`, i)
	}
	b.WriteString(`]}`)
	return b.String()
}
