package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/store/sqlite"
)

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// commit is n events of id after a position, each with a text that tells it
// from every other.
func commit(id harness.SessionID, after harness.Seq, n int) harness.Commit {
	head := after + harness.Seq(n)
	c := harness.Commit{Session: id, After: after, Summary: harness.Summary{
		Session: id, User: "ada", Kind: harness.Chat, Status: harness.Running, Seq: head, Created: epoch, Updated: epoch.Add(time.Duration(head) * time.Millisecond),
	}}
	for i := range n {
		seq := after + 1 + harness.Seq(i)
		c.Events = append(c.Events, harness.NewEvent(id, seq, epoch, "trn_1", &harness.Token{Text: fmt.Sprintf("%s says %d %s", id, seq, strings.Repeat("x", 60))}))
	}
	return c
}

func mustAppend(t testing.TB, st harness.Store, c harness.Commit) {
	t.Helper()
	if err := st.Append(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

// read returns how many events of id can be read, and why no more.
func read(t testing.TB, st harness.Store, id harness.SessionID) (n int, err error) {
	for e, err := range st.Read(t.Context(), id, 0) {
		if err != nil {
			return n, err
		}
		if n++; e.Seq != harness.Seq(n) || !bytes.Equal(e.JSON(), commit(id, e.Seq-1, 1).Events[0].JSON()) {
			t.Fatalf("event %d of %s is %s", n, id, e.JSON())
		}
	}
	return n, nil
}

// filled makes a closed database with 50 commits of 2 events in one session and
// returns its path.
func filled(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	st := open(t, dir)
	for after := harness.Seq(0); after < 100; after += 2 {
		mustAppend(t, st, commit("a", after, 2))
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "store.db")
}

func mustRefuse(t *testing.T, path string, want *harness.Error, text string) {
	t.Helper()
	st, err := sqlite.Open(t.Context(), path, nil)
	if err == nil {
		st.Close()
		t.Fatalf("open succeeded, want %v", want)
	}
	if !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
		t.Fatalf("got %v, want %v with %q", err, want, text)
	}
	t.Log(err)
}

func rewrite(t testing.TB, path string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, change(b), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestAFileThatIsNoDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	path := filled(t)
	rewrite(t, path, func([]byte) []byte { return bytes.Repeat([]byte("not a database. "), 1000) })
	mustRefuse(t, path, harness.ErrCorrupt, "not a database")
}

func TestATruncatedDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	path := filled(t)
	rewrite(t, path, func(b []byte) []byte { return b[:len(b)/2] })
	mustRefuse(t, path, harness.ErrCorrupt, "malformed")
}

func TestADatabaseWithoutItsSchemaIsRefused(t *testing.T) {
	t.Parallel()
	path := filled(t)
	rewrite(t, path, func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("commits_place"), []byte("commits_plaza")) })
	mustRefuse(t, path, harness.ErrCorrupt, "")
}

func TestANewerFormatAndAForeignDatabaseAreRefused(t *testing.T) {
	t.Parallel()
	newer := filled(t)
	rewrite(t, newer, func(b []byte) []byte { b[63] = 9; return b }) // user_version
	foreign := filled(t)
	rewrite(t, foreign, func(b []byte) []byte { b[71]++; b[18], b[19] = 1, 1; return b }) // application_id, not in WAL mode
	for path, refuse := range map[string]func(){
		newer:   func() { mustRefuse(t, newer, harness.ErrUnsupported, "format 9") },
		foreign: func() { mustRefuse(t, foreign, harness.ErrInvalid, "something else") },
	} {
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		refuse()
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
			t.Errorf("%s was changed, %v", path, err)
		}
	}
}

// TestAFlippedBitInALogIsFound damages one letter of one event: everything
// before its commit is readable, the commit is named, nothing is skipped.
func TestAFlippedBitInALogIsFound(t *testing.T) {
	t.Parallel()
	path := filled(t)
	rewrite(t, path, func(b []byte) []byte {
		at := bytes.Index(b, []byte("a says 42 "))
		if at < 0 {
			t.Fatal("event 42 is not in the file")
		}
		b[at] ^= 4
		return b
	})
	st := open(t, filepath.Dir(path))
	n, err := read(t, st, "a")
	if n != 40 || !errors.Is(err, harness.ErrCorrupt) || !strings.Contains(err.Error(), "session a, events 41 to 42") {
		t.Fatalf("read %d events, then %v", n, err)
	}
	mustAppend(t, st, commit("a", 100, 1))
}

// TestATornWriteAheadLogLosesOnlyItsEnd cuts the log of a copy taken while the
// store was open, as a crash in the middle of a write would.
func TestATornWriteAheadLogLosesOnlyItsEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := open(t, dir)
	for after := harness.Seq(0); after < 40; after++ {
		mustAppend(t, st, commit("a", after, 1))
	}
	whole := copyDir(t, dir)
	wal, err := os.ReadFile(filepath.Join(whole, "store.db-wal"))
	if err != nil {
		t.Fatal(err)
	}
	last := 41
	for cut := len(wal); cut >= 0; cut -= len(wal)/12 + 1 {
		torn := copyDir(t, whole)
		if err := os.Truncate(filepath.Join(torn, "store.db-wal"), int64(cut)); err != nil {
			t.Fatal(err)
		}
		n := 0
		if st, err := sqlite.Open(t.Context(), filepath.Join(torn, "store.db"), nil); err != nil {
			t.Fatal(err)
		} else {
			if n, err = read(t, st, "a"); err != nil && !errors.Is(err, harness.ErrNotFound) {
				t.Fatalf("log cut at %d of %d: %v", cut, len(wal), err)
			}
			st.Close()
		}
		if n > last || cut == len(wal) && n != 40 {
			t.Fatalf("log cut at %d of %d: %d events, %d with more of it", cut, len(wal), n, last)
		}
		last = n
	}
}

func TestASecondOpenIsRefusedAndNamesTheHolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := open(t, dir)
	path := filepath.Join(dir, "store.db")
	mustRefuse(t, path, harness.ErrLocked, fmt.Sprintf("process %d", os.Getpid()))
	mustAppend(t, st, commit("a", 0, 1))
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
}

func TestFilesAreTheirOwnersAlone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "deep")
	st := open(t, dir)
	mustAppend(t, st, commit("a", 0, 1))
	for name, want := range map[string]os.FileMode{"..": 0o700, "": 0o700, "store.db": 0o600, "store.db-wal": 0o600, "store.db-shm": 0o600, "store.db.lock": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%q: %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
}

func TestADirectoryThatCannotBeWrittenIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	mustRefuse(t, filepath.Join(file, "sub", "store.db"), harness.ErrStorage, "not a directory")
	if os.Geteuid() == 0 {
		return // permissions do not bind root
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o700) }) // so that it can be removed
	mustRefuse(t, filepath.Join(dir, "store.db"), harness.ErrStorage, "permission denied")
}

func TestAPathMayHaveAnyCharacter(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a b?c#d%20e&f=g:é'\"")
	st := open(t, dir)
	mustAppend(t, st, commit("a", 0, 1))
	if _, err := os.Stat(filepath.Join(dir, "store.db-wal")); err != nil {
		t.Fatal(err)
	}
}
