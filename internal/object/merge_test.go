package object_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"harness/internal/object"
)

func TestPendingFolds(t *testing.T) {
	const start = `{"a":"","b":"","l":[],"o":{}}`
	for _, c := range []struct{ name, ops, want string }{
		{"append and append", `+a x|+a y`, `+a xy`},
		{"set of a string and append", `=a "x"|+a y"`, `=a "xy\""`},
		{"set and set", `=a 1|=a {}`, `=a {}`},
		{"append and set", `+a x|=a "y"|+a z`, `=a "yz"`},
		{"texts side by side", `+a 1|+b 2|+a 3|+b 4`, `+a 13|+b 24`},
		{"set of the root discards", `+a x|=l/0 1|= {"a":"q"}|+a r`, `= {"a":"q"}|+a r`},
		{"set of the root folds into one", `= "x"|+ y|= []`, `= []`},
		{"an empty text is nothing", `+a |+b `, ``},
		{"not past a descendant", `=o {"k":"x"}|+o/k y|=o {}`, `=o {"k":"x"}|+o/k y|=o {}`},
		{"not past an ancestor", `=o/k "x"|=o {"k":"y"}|+o/k z`, `=o/k "x"|=o {"k":"y"}|+o/k z`},
		{"into the place of the earlier", `=l/0 "x"|=l/1 "y"|+l/0 z`, `=l/0 "xz"|=l/1 "y"`},
		{"equal starts are no relation", `+a x|=ab 1|+a y`, `+a xy|=ab 1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			ops, want := short(t, c.ops), short(t, c.want)
			var pending object.Pending
			for range 2 { // the second time with used buffers
				pending.Reset()
				for i := range ops {
					pending.Add(&ops[i])
				}
				if got := string(pending.AppendJSON(nil)); got != string(encode(want)) {
					t.Errorf("%s\n got %s\nwant %s", c.ops, got, encode(want))
				}
				if pending.Len() != len(want) {
					t.Errorf("Len is %d, want %d", pending.Len(), len(want))
				}
			}
			whole, folded := set(t, start), set(t, start)
			if err := whole.Apply(ops); err != nil {
				t.Fatal(err)
			}
			if err := folded.Apply(want); err != nil {
				t.Fatal(err)
			}
			if got, want := string(folded.AppendJSON(nil)), string(whole.AppendJSON(nil)); got != want {
				t.Errorf("folded leads to %s, unfolded to %s", got, want)
			}
		})
	}
}

// short reads operations written as "=path value" and "+path text".
func short(t testing.TB, s string) []object.Op {
	t.Helper()
	ops := []object.Op{}
	for _, one := range fields(s, "|") {
		head, rest, ok := strings.Cut(one[1:], " ")
		if !ok {
			t.Fatalf("no value in %q", one)
		}
		op := object.Op{Kind: object.Set, Path: fields(head, "/"), Value: json.RawMessage(rest)}
		if one[0] == '+' {
			op = object.Op{Kind: object.AppendText, Path: op.Path, Text: rest}
		}
		ops = append(ops, op)
	}
	return ops
}

// fields is strings.Split, but nothing has no fields.
func fields(s, sep string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, sep)
}

func TestSetTextIsASetOfTheString(t *testing.T) {
	var a, b object.Pending
	a.SetText([]string{"x"}, "q\"\xff")
	a.AppendText([]string{"x"}, "r")
	b.Set([]string{"x"}, []byte("\n \"q\\\"\uFFFDr\" "))
	if got, want := string(a.AppendJSON(nil)), string(b.AppendJSON(nil)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFoldingIntoPendingTextAllocatesNothing(t *testing.T) {
	var pending object.Pending
	var dst []byte
	paths := [][]string{{"messages", "41", "content"}, {"messages", "41", "parts", "0", "text"}}
	frame := func() {
		for i := range 100 {
			pending.AppendText(paths[i%2], "tokn ")
		}
		dst = pending.AppendJSON(dst[:0])
		pending.Reset()
	}
	frame()
	if n := testing.AllocsPerRun(100, frame); n != 0 {
		t.Errorf("%v allocations per frame", n)
	}
}

func TestTextDoesNotFoldIntoAValueThatIsNoString(t *testing.T) {
	var pending object.Pending
	ops := short(t, `=a 1|+a x|=b {"c":""}|+b y`)
	for i := range ops {
		pending.Add(&ops[i])
	}
	if got, want := string(pending.AppendJSON(nil)), string(encode(ops)); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestResetDoesNotKeepTheLargestFrame(t *testing.T) {
	const ops, size = 100, 1 << 20
	var pending object.Pending
	large := strings.Repeat("x", size)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range ops {
		pending.SetText([]string{fmt.Sprint(i)}, large)
	}
	pending.Reset()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > size {
		t.Errorf("%d bytes kept of %d", kept, ops*size)
	}
	runtime.KeepAlive(&pending)
}

func TestManyPathsStayCorrectBeyondTheReachOfFolding(t *testing.T) {
	var pending object.Pending
	whole := set(t, `{}`)
	for round := range 3 {
		for i := range 200 {
			op := object.Op{Kind: object.Set, Path: []string{fmt.Sprint("k", i)}, Value: fmt.Append(nil, round)}
			pending.Add(&op)
			if err := whole.Apply([]object.Op{op}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, want := outcome(t, set(t, `{}`), string(pending.AppendJSON(nil))), string(whole.AppendJSON(nil)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
