package jsonl_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/store/jsonl"
)

func mustRefuse(t *testing.T, dir string, want *harness.Error, text string) {
	t.Helper()
	st, err := jsonl.Open(t.Context(), dir, nil)
	if err == nil {
		st.Close()
		t.Fatalf("open succeeded, want %v", want)
	}
	if !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
		t.Fatalf("got %v, want %v with %q", err, want, text)
	}
	t.Log(err)
}

func TestASecondOpenIsRefusedAndNamesTheHolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".harness")
	st := open(t, dir)
	mustRefuse(t, dir, harness.ErrLocked, fmt.Sprintf("process %d", os.Getpid()))
	mustAppend(t, st, new(author).next("a", 1))
	mustClose(t, st)
	open(t, dir)
}

func TestFilesAreTheirOwnersAloneAndGitIgnoresThem(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", ".harness")
	st := open(t, dir)
	mustAppend(t, st, new(author).next("a", 1))
	if err := st.SaveSnapshot(t.Context(), harness.Snapshot{Session: "a", Seq: 1, State: []byte("{}"), Sealed: [][]byte{[]byte("m")}}); err != nil {
		t.Fatal(err)
	}
	mustClose(t, st) // meta.json is written behind an append
	n := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		want := os.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if n++; err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
		return nil
	})
	if err != nil || n != 11 {
		t.Errorf("%d files, %v", n, err)
	}
	if got := load(t, filepath.Join(dir, ".gitignore")); string(got) != "*\n" {
		t.Errorf(".gitignore is %q", got)
	}
}

func TestADirectoryThatCannotBeWrittenIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	store(t, path, nil)
	mustRefuse(t, path, harness.ErrStorage, "not a directory")
	if os.Geteuid() == 0 {
		return // permissions do not bind root
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o700) }) // so that it can be removed
	mustRefuse(t, filepath.Join(dir, ".harness"), harness.ErrStorage, "permission denied")
}

func TestIdsThatAreNoFileNamesAreRefused(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".harness")
	st := open(t, dir)
	for _, id := range []harness.SessionID{"", "..", ".", ".hidden", "../a", "a/b", "/etc", "a\x00b", "é"} {
		if err := st.Append(t.Context(), new(author).next(id, 1)); !errors.Is(err, harness.ErrInvalid) {
			t.Errorf("append to %q: %v", id, err)
		}
		if _, err := fold(t, st, id); !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("read of %q: %v", id, err)
		}
		if err := st.Remove(t.Context(), id); !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("remove of %q: %v", id, err)
		}
	}
}

func TestLookReadsBesideTheOwnerAndChangesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".harness")
	if _, err := jsonl.Look(t.Context(), dir); !errors.Is(err, harness.ErrNotFound) {
		t.Fatalf("look at nothing: %v", err)
	}
	log, _ := crashed(t, dir, 2, 3)
	path := file(dir, "a", "events.jsonl")
	torn := append(log[:len(log):len(log)], `{"seq":6,"torn`...)
	store(t, path, torn)
	look, err := jsonl.Look(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer look.Close()
	if s := mustAgree(t, look, "a"); s.Seq != 5 {
		t.Fatalf("the looker sees %d events", s.Seq)
	}
	if got := load(t, path); string(got) != string(torn) {
		t.Fatal("looking changed the log")
	}
	owner := open(t, dir)
	a := &author{*mustAgree(t, owner, "a")}
	for range 3 {
		c := a.next("a", 2)
		mustAppend(t, owner, c)
		if s := mustAgree(t, look, "a"); s.Seq != a.state.Seq {
			t.Errorf("the looker sees %d events of %d", s.Seq, a.state.Seq)
		}
		if err := look.Append(t.Context(), (&author{*a.state.Clone()}).next("a", 1)); !errors.Is(err, harness.ErrStorage) {
			t.Errorf("append to a look: %v", err)
		}
	}
	if err := look.Remove(t.Context(), "a"); !errors.Is(err, harness.ErrStorage) {
		t.Errorf("remove from a look: %v", err)
	}
	if err := look.SaveSnapshot(t.Context(), harness.Snapshot{Session: "a", Seq: 1}); !errors.Is(err, harness.ErrStorage) {
		t.Errorf("snapshot to a look: %v", err)
	}
}

// TestMetaFollowsAStatus: people who look at meta.json see a new status soon,
// while the store is open.
func TestMetaFollowsAStatus(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".harness")
	st := open(t, dir)
	a := new(author)
	mustAppend(t, st, a.next("a", 1), a.next("a", 3), a.next("a", 2))
	want := fmt.Sprintf("%q: %q", "status", a.state.Status)
	for deadline := time.Now().Add(time.Minute); !strings.Contains(string(load(t, file(dir, "a", "meta.json"))), want); {
		if time.Now().After(deadline) {
			t.Fatalf("meta.json has no %s: %s", want, load(t, file(dir, "a", "meta.json")))
		}
	}
}

func TestWhatWasRemovedIsGoneFromTheDisk(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".harness")
	st := open(t, dir)
	mustAppend(t, st, new(author).next("a", 1), new(author).next("b", 1))
	if err := st.Remove(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(filepath.Join(dir, "threads"))
	if err != nil || len(names) != 1 || names[0].Name() != "b" {
		t.Errorf("%v, %v", names, err)
	}
}
