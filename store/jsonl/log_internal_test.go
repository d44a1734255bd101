package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"harness"
)

// counted is a log that counts what is read of it.
type counted struct {
	*bytes.Reader
	read int
}

func (c *counted) ReadAt(b []byte, at int64) (int, error) {
	n, err := c.Reader.ReadAt(b, at)
	c.read += n
	return n, err
}

// TestSeekFindsEveryEventInAFewReads compares with where the lines begin, for
// lines of very different lengths.
func TestSeekFindsEveryEventInAFewReads(t *testing.T) {
	t.Parallel()
	var log []byte
	var begins []int64
	const first = 7
	for seq := harness.Seq(first); len(log) < 8<<20; seq++ {
		begins = append(begins, int64(len(log)))
		size := rand.IntN(300)
		if rand.IntN(500) == 0 {
			size = rand.IntN(300_000)
		}
		log = append(append(log, harness.NewEvent("a", seq, time.UnixMilli(1), "", &harness.Token{Text: strings.Repeat("x", size)}).JSON()...), '\n')
	}
	for i := 0; i < len(begins); i += 1 + rand.IntN(20) {
		want := begins[i]
		c := &counted{Reader: bytes.NewReader(log)}
		got, err := seek(c, int64(len(log)), "a", first, first+harness.Seq(i))
		if err != nil || got != want {
			t.Fatalf("event %d: got %d, %v; want %d", first+i, got, err, want)
		}
		if c.read > 2<<20 { // several of the longest lines may be in the way
			t.Fatalf("event %d: %d bytes were read of %d", first+i, c.read, len(log))
		}
	}
}

func TestTheEndIsFoundFromBehind(t *testing.T) {
	t.Parallel()
	var log []byte
	seq := harness.Seq(0)
	for len(log) < 4<<20 {
		lines, err := encode(at("a", seq, 10))
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, lines...)
		seq += 10
	}
	c := &counted{Reader: bytes.NewReader(log)}
	got, err := end(c, int64(len(log)), "a", place{})
	if err != nil || got != (place{int64(len(log)), seq}) || c.read > 1<<17 {
		t.Fatalf("%v, %v, %d bytes read; want %d at %d", got, err, c.read, seq, len(log))
	}
}

// FuzzLog feeds any bytes to what reads logs: nothing panics, and the end that
// is found is behind a whole commit, with nothing whole behind it.
func FuzzLog(f *testing.F) {
	var log []byte
	for after := harness.Seq(0); after < 6; after += 3 {
		lines, err := encode(at("a", after, 3))
		if err != nil {
			f.Fatal(err)
		}
		log = append(log, lines...)
	}
	f.Add(log)
	f.Add(log[:len(log)-5])
	f.Add(append(bytes.Clone(log), 0, 0, 0))
	f.Add(append(append(bytes.Clone(log), make([]byte, 9)...), '\n'))
	f.Add(bytes.ReplaceAll(log, []byte(" \n"), []byte("\n")))
	f.Add([]byte("\n\n{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		size := int64(len(data))
		for seq := range harness.Seq(8) {
			if at, err := seek(bytes.NewReader(data), size, "a", 1, seq+1); err == nil && (at < 0 || at > size) {
				t.Fatalf("event %d at %d of %d", seq+1, at, size)
			} else if err != nil && !errors.Is(err, harness.ErrCorrupt) {
				t.Fatal(err)
			}
		}
		got, err := end(bytes.NewReader(data), size, "a", place{})
		if err != nil {
			if !errors.Is(err, harness.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		whole, rest := data[:got.at], data[got.at:]
		if len(whole) > 0 {
			line := whole[bytes.LastIndexByte(whole[:len(whole)-1], '\n')+1 : len(whole)-1]
			e, goesOn, err := decode(bytes.Clone(line))
			if err != nil || goesOn || e.Seq != got.seq || whole[len(whole)-1] != '\n' {
				t.Fatalf("the end %v is behind %q: %v", got, line, err)
			}
		}
		for line := range bytes.Lines(rest) {
			if e, goesOn, err := decode(bytes.Clone(bytes.TrimSuffix(line, []byte("\n")))); err == nil && !goesOn && e.Session == "a" && bytes.HasSuffix(line, []byte("\n")) {
				t.Fatalf("a whole commit is behind the end %v: %q", got, line)
			}
		}
	})
}

// TestTheOrderIsThatOfASortedList moves rows about and compares.
func TestTheOrderIsThatOfASortedList(t *testing.T) {
	t.Parallel()
	var o order
	rows := map[harness.SessionID]int64{}
	for step := range 20_000 {
		id := harness.SessionID(fmt.Sprintf("s%d", rand.IntN(3000)))
		if old, ok := rows[id]; ok {
			o.remove(key{old, id})
			delete(rows, id)
		}
		if rand.IntN(5) > 0 {
			rows[id] = rand.Int64N(500)
			o.insert(key{rows[id], id})
		}
		if step%997 != 0 {
			continue
		}
		var want, got []key
		for id, updated := range rows {
			want = append(want, key{updated, id})
		}
		slices.SortFunc(want, newestFirst)
		from := key{rand.Int64N(500), "s5"}
		i, found := slices.BinarySearchFunc(want, from, newestFirst)
		if found {
			i++
		}
		o.after(&from, func(k key) bool { got = append(got, k); return true })
		if !slices.Equal(got, want[i:]) {
			t.Fatalf("step %d: %d keys behind %v, want %d", step, len(got), from, len(want)-i)
		}
		got = nil
		o.after(nil, func(k key) bool { got = append(got, k); return true })
		if !slices.Equal(got, want) {
			t.Fatalf("step %d: %d keys, want %d", step, len(got), len(want))
		}
	}
}
