package workspace

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"harness/workspace/object"
)

func encode(entries []Entry) []byte {
	return encodeEntries(nil, len(entries), func(i int) *Entry { return &entries[i] })
}

var sample = []Entry{
	{Name: "\xff\n", Kind: Link, Target: "../\xfe"},
	{Name: ".git", Kind: Skipped, Reason: Git},
	{Name: "dir", Kind: Dir, Mode: 0o2755, ID: object.Sum([]byte("d"))},
	{Name: "file", Kind: File, Mode: 0o644, Size: 1 << 40, ID: object.Sum(nil)},
	{Name: "large", Kind: Skipped, Reason: Large, Size: 5, Mtime: -1},
}

func TestADirectoryWithADangerousNameIsDamaged(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", ".", "..", "a/b", "a\x00", ".git", ".GIT", ".harness", ours + "x"} {
		if _, err := decodeEntries(encode([]Entry{{Name: name, Kind: File}})); !errors.Is(err, ErrDamaged) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, wrong := range [][]Entry{{{Name: "b", Kind: File}, {Name: "a", Kind: File}}, {{Name: "a", Kind: File}, {Name: "a", Kind: Link}},
		{{Name: "a", Kind: 9}}, {{Name: "a", Kind: Skipped, Reason: reasons}}, {{Name: "a", Kind: File, Mode: 1 << 20}}} {
		if _, err := decodeEntries(encode(wrong)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
}

// FuzzDirectory: whatever is accepted is written back byte for byte, so a tree
// has one id, and has only names that are safe to write.
func FuzzDirectory(f *testing.F) {
	f.Add(encode(sample))
	f.Add(encode(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := decodeEntries(data)
		if err != nil {
			return
		}
		if again := encode(entries); !bytes.Equal(again, data) {
			t.Fatalf("%x was read as %+v, which is %x", data, entries, again)
		}
	})
}

// FuzzIndex: an index that is torn or planted is refused or read, never more.
func FuzzIndex(f *testing.F) {
	d := &dir{id: object.Sum(nil)}
	for _, e := range sample {
		n := node{Entry: e, mtime: -5, ctime: 1 << 60, inode: 7, racy: e.Kind == File}
		if e.Kind == Dir || e.Kind == Skipped {
			n = node{Entry: e}
		}
		if e.Kind == Dir {
			n.sub = &dir{id: e.ID}
		}
		d.nodes = append(d.nodes, n)
	}
	write := func(d *dir) []byte {
		var out bytes.Buffer
		w := &indexWriter{out: &out}
		w.flush(w.dir(nil, d))
		return out.Bytes()
	}
	f.Add(write(d))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := reader{rest: string(data)}
		d := readDir(&r, 0)
		if r.bad {
			return
		}
		again := reader{rest: string(write(d))}
		if d2 := readDir(&again, 0); again.bad || again.rest != "" || !reflect.DeepEqual(d, d2) {
			t.Fatalf("%x was read as %+v, then as %+v", data, d, d2)
		}
	})
}

func TestLinesAreCountedAsAShortestEditDoes(t *testing.T) {
	t.Parallel()
	many := bytes.Repeat([]byte("x\ny\n"), 20_000)
	other := bytes.Repeat([]byte("z\n"), 10_000)
	for _, c := range []struct {
		a, b     string
		ins, del int
		binary   bool
	}{
		{"", "", 0, 0, false},
		{"", "a\nb", 2, 0, false},
		{"a\nb\nc\n", "a\nc\n", 0, 1, false},
		{"a\nb\nc\n", "c\nb\na\n", 2, 2, false},
		{"a\nb\nc\nd\n", "b\nd\ne\n", 1, 2, false},
		{"a", "a\n", 1, 1, false},
		{"same 1\nsame 2\nold line here\nsame 3\nsame 4\n", "same 1\nsame 2\nnew line here\nsame 3\nsame 4\n", 1, 1, false},
		{"12345678\n12345678\n", "12345678\n", 0, 1, false},
		{"12345678", "12345678\n12345678", 1, 0, false},
		{"a\x00", "b", 0, 0, true},
		{string(many), string(other), 10_000, 40_000, false}, // beyond what is searched: rewritten
	} {
		ins, del, binary := countLines([]byte(c.a), []byte(c.b))
		if ins != c.ins || del != c.del || binary != c.binary {
			t.Errorf("%.20q to %.20q: +%d -%d %v, want +%d -%d %v", c.a, c.b, ins, del, binary, c.ins, c.del, c.binary)
		}
	}
}
