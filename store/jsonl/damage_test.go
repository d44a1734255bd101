package jsonl_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"harness"
)

// damagedDir has threads a and b with 300 events each, commit by commit of 3;
// change damages a's log. It returns the log.
func damagedDir(t testing.TB, change func([]byte) []byte) (dir string, log []byte) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), ".harness")
	st := open(t, dir)
	a, b := new(author), new(author)
	for range 100 {
		mustAppend(t, st, a.next("a", 3), b.next("b", 3))
	}
	mustClose(t, st)
	path := file(dir, "a", "events.jsonl")
	log = change(load(t, path))
	store(t, path, log)
	return dir, log
}

// mustQuarantine checks that a is refused at a byte after so many events, that b
// works, and that nothing was changed.
func mustQuarantine(t *testing.T, dir string, log []byte, at int, events harness.Seq) {
	t.Helper()
	st := open(t, dir)
	place := fmt.Sprintf("threads/a/events.jsonl, byte %d", at)
	s, err := fold(t, st, "a")
	if s.Seq != events || !errors.Is(err, harness.ErrCorrupt) || !strings.Contains(err.Error(), place) {
		t.Fatalf("read %d events, then %v; want %d and %s", s.Seq, err, events, place)
	}
	t.Log(err)
	err = st.Append(t.Context(), (&author{harness.State{Session: "a", Seq: 300}}).next("a", 1))
	if !errors.Is(err, harness.ErrCorrupt) || !strings.Contains(err.Error(), place) {
		t.Errorf("append: %v", err)
	}
	if r := row(t, st, "a"); r.Session != "a" {
		t.Error("the damaged thread is not listed")
	}
	b := &author{*mustAgree(t, st, "b")}
	mustAppend(t, st, b.next("b", 2))
	mustAgree(t, st, "b")
	if !bytes.Equal(load(t, file(dir, "a", "events.jsonl")), log) {
		t.Error("the damaged log was changed")
	}
}

func TestDamageInTheMiddleQuarantinesOneThread(t *testing.T) {
	t.Parallel()
	at := 0
	dir, log := damagedDir(t, func(b []byte) []byte {
		at = bytes.Index(b, []byte(`{"seq":150,`))
		b[at+3] = '\n'
		return b
	})
	mustQuarantine(t, dir, log, at, 149)
}

func TestAHoleInTheMiddleQuarantinesOneThread(t *testing.T) {
	t.Parallel()
	at := 0
	dir, log := damagedDir(t, func(b []byte) []byte {
		at = bytes.Index(b, []byte(`{"seq":150,`))
		clear(b[at : at+500])
		return b
	})
	os.Remove(file(dir, "a", "meta.json"))
	mustQuarantine(t, dir, log, at, 149)
}

func TestAMissingLineQuarantinesOneThread(t *testing.T) {
	t.Parallel()
	at := 0
	dir, log := damagedDir(t, func(b []byte) []byte {
		at = bytes.Index(b, []byte(`{"seq":299,`))
		return append(b[:at:at], b[bytes.Index(b, []byte(`{"seq":300,`)):]...)
	})
	os.Remove(file(dir, "a", "meta.json")) // otherwise the length tells
	st := open(t, dir)
	defer mustClose(t, st)
	_, err := fold(t, st, "a")
	if !errors.Is(err, harness.ErrCorrupt) || !strings.Contains(err.Error(), fmt.Sprintf("byte %d: event 300 of a in the place of 299", at)) {
		t.Fatalf("read: %v", err)
	}
	if !bytes.Equal(load(t, file(dir, "a", "events.jsonl")), log) {
		t.Error("the damaged log was changed")
	}
}

// TestALogThatLostItsEndIsQuarantined: meta.json knows that there was more, so
// this is no torn write.
func TestALogThatLostItsEndIsQuarantined(t *testing.T) {
	t.Parallel()
	at := 0
	dir, log := damagedDir(t, func(b []byte) []byte {
		at = bytes.Index(b, []byte(`{"seq":299,`))
		return b[:at]
	})
	mustQuarantine(t, dir, log, at, 298)
}

// TestADamagedLastLineIsNotTakenForATornOne: a line with its newline was whole.
func TestADamagedLastLineIsNotTakenForATornOne(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".harness")
	log, last := crashed(t, dir, 2, 1)
	log[last+2] ^= 1
	store(t, file(dir, "a", "events.jsonl"), log)
	st := open(t, dir)
	if err := st.Append(t.Context(), (&author{harness.State{Session: "a", Seq: 2}}).next("a", 1)); !errors.Is(err, harness.ErrCorrupt) {
		t.Fatalf("append: %v", err)
	}
	if !bytes.Equal(load(t, file(dir, "a", "events.jsonl")), log) {
		t.Error("the log was changed")
	}
}

func TestALostOrDamagedMetaIsMadeAgain(t *testing.T) {
	t.Parallel()
	for name, data := range map[string][]byte{"lost": nil, "empty": {}, "torn": []byte(`{"threadId":"a","ti`), "another's form": []byte(`[]`)} {
		dir := filepath.Join(t.TempDir(), ".harness")
		st := open(t, dir)
		a := new(author)
		for range 50 {
			mustAppend(t, st, a.next("a", 3))
		}
		b, first := a.fork("b")
		mustAppend(t, st, first, b.next("b", 2))
		mustClose(t, st)
		want := map[harness.SessionID][]byte{"a": load(t, file(dir, "a", "meta.json")), "b": load(t, file(dir, "b", "meta.json"))}
		for id := range want {
			if os.Remove(file(dir, id, "meta.json")); data != nil {
				store(t, file(dir, id, "meta.json"), data)
			}
		}
		st = open(t, dir)
		for id := range want {
			mustAgree(t, st, id)
		}
		mustClose(t, st)
		for id, want := range want {
			if got := load(t, file(dir, id, "meta.json")); !bytes.Equal(got, want) {
				t.Errorf("%s: meta.json of %s\n got %s\nwant %s", name, id, got, want)
			}
		}
	}
}

// TestABranchThatNobodyKnowsTheParentOfIsRefused: a log that begins in the
// middle is not shown as if it were all.
func TestABranchThatNobodyKnowsTheParentOfIsRefused(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".harness")
	st := open(t, dir)
	a := new(author)
	mustAppend(t, st, a.next("a", 3))
	c := (&author{*a.state.Clone()}).next("b", 1)
	c.From = &harness.Branch{Session: "a", Seq: 3}
	mustAppend(t, st, c)
	mustClose(t, st)
	os.Remove(file(dir, "b", "meta.json"))
	st = open(t, dir)
	if _, err := fold(t, st, "b"); !errors.Is(err, harness.ErrCorrupt) {
		t.Fatalf("read: %v", err)
	}
	mustAgree(t, st, "a")
}

func TestANewerSchemaIsRefusedAndLeftAlone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".harness")
	st := open(t, dir)
	mustAppend(t, st, new(author).next("a", 3), new(author).next("b", 3))
	mustClose(t, st)
	meta := bytes.Replace(load(t, file(dir, "a", "meta.json")), []byte(`"schema": 1`), []byte(`"schema": 2`), 1)
	store(t, file(dir, "a", "meta.json"), meta)
	st = open(t, dir)
	if _, err := fold(t, st, "a"); !errors.Is(err, harness.ErrUnsupported) {
		t.Fatalf("read: %v", err)
	}
	mustAgree(t, st, "b")
	mustClose(t, st)
	if !bytes.Equal(load(t, file(dir, "a", "meta.json")), meta) {
		t.Error("meta.json was changed")
	}
}

func TestADirectoryOfAnotherThreadIsNotTaken(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".harness")
	st := open(t, dir)
	mustAppend(t, st, new(author).next("a", 3))
	mustClose(t, st)
	if err := os.Rename(filepath.Join(dir, "threads", "a"), filepath.Join(dir, "threads", "A")); err != nil {
		t.Fatal(err)
	}
	st = open(t, dir)
	if err := st.Append(t.Context(), new(author).next("A", 1)); !errors.Is(err, harness.ErrInvalid) {
		t.Fatalf("append: %v", err)
	}
}
