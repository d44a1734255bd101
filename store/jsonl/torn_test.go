package jsonl_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"harness"
)

// TestATornCommitIsCutWhole cuts the last commit of three events at every byte,
// bare and padded with what never arrived, with meta.json and without: it is
// there as a whole or not at all, the list agrees, and the log goes on.
func TestATornCommitIsCutWhole(t *testing.T) {
	t.Parallel()
	log, last := crashed(t, filepath.Join(t.TempDir(), "made"), 2, 3)
	dir := filepath.Join(t.TempDir(), ".harness")
	crashed(t, dir, 2, 3)
	meta := load(t, file(dir, "a", "meta.json"))
	for size := last; size <= len(log); size++ {
		for variant := range 4 {
			if variant > 0 && variant != 1+size%3 && size < len(log)-2 {
				continue // bare at every byte, one of the others as well
			}
			padding, lost := variant&1*(len(log)-size), variant&2 != 0
			store(t, file(dir, "a", "events.jsonl"), append(bytes.Clone(log[:size]), make([]byte, padding)...))
			store(t, file(dir, "a", "meta.json"), meta)
			if lost {
				os.Remove(file(dir, "a", "meta.json"))
			}
			want := harness.Seq(2)
			if size == len(log) {
				want = 5
			}
			st := open(t, dir)
			s := mustAgree(t, st, "a")
			if s.Seq != want {
				t.Fatalf("cut at %d of %d to %d, padding %d, meta.json lost %v: the log ends at %d, want %d", size, last, len(log), padding, lost, s.Seq, want)
			}
			if got := load(t, file(dir, "a", "events.jsonl")); want == 2 && !bytes.Equal(got, log[:last]) {
				t.Fatalf("cut at %d: the file is %q", size, got)
			}
			if size%10 == 0 || size == len(log) {
				a := &author{*s}
				mustAppend(t, st, a.next("a", 2))
				mustAgree(t, st, "a")
			}
			mustClose(t, st)
		}
	}
}

// TestATornFirstCommitIsNoThread: nothing of it is shown, and the id is free.
func TestATornFirstCommitIsNoThread(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".harness")
	st := open(t, dir)
	c := new(author).next("a", 2)
	mustAppend(t, st, c)
	mustClose(t, st)
	log := load(t, file(dir, "a", "events.jsonl"))
	for size := 0; size < len(log); size += 3 {
		os.Remove(file(dir, "a", "meta.json"))
		store(t, file(dir, "a", "events.jsonl"), log[:size])
		st := open(t, dir)
		if s, err := fold(t, st, "a"); harness.AsError(err) != harness.ErrNotFound {
			t.Fatalf("cut at %d: %d events, %v", size, s.Seq, err)
		}
		if r := row(t, st, "a"); r.Session != "" {
			t.Fatalf("cut at %d: listed as %+v", size, r)
		}
		mustAppend(t, st, c)
		mustAgree(t, st, "a")
		mustClose(t, st)
	}
}

// TestALineIsItsEnvelope: what people read with tail and jq is what the store
// was given, and line n is event n.
func TestALineIsItsEnvelope(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".harness")
	st := open(t, dir)
	a := new(author)
	var want []harness.Event
	for n := range 5 {
		c := a.next("a", n+1)
		mustAppend(t, st, c)
		want = append(want, c.Events...)
	}
	lines := bytes.Split(bytes.TrimSuffix(load(t, file(dir, "a", "events.jsonl")), []byte("\n")), []byte("\n"))
	if len(lines) != len(want) {
		t.Fatalf("%d lines, %d events", len(lines), len(want))
	}
	for i, line := range lines {
		if got := bytes.TrimSuffix(line, []byte(" ")); !bytes.Equal(got, want[i].JSON()) {
			t.Errorf("line %d is %s", i+1, line)
		}
	}
}
