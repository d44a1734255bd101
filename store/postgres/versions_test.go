package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/store/memory"
	"harness/store/postgres"
	"harness/store/postgres/postgrestest"

	"github.com/jackc/pgx/v5"
)

// Of each version of the schema testdata/versions has a dump with something of
// everything in it, as a build of that version left it; and of this one and the
// one before, which works beside it, also what its build said to the server
// meanwhile. Both are written once, by UPDATE=1 when the version is new, and never
// change again.

func fixture(version int, kind string) string {
	return filepath.Join("testdata", "versions", fmt.Sprintf("%04d.%s", version, kind))
}

func readFixture(t testing.TB, version int, kind string) string {
	t.Helper()
	text, err := os.ReadFile(fixture(version, kind))
	if err != nil {
		t.Fatalf("%v; a new version of the schema leaves it with UPDATE=1", err)
	}
	return string(text)
}

// latest is the version of this build's schema. Its steps are numbered without a
// gap.
func latest(t testing.TB) int {
	t.Helper()
	files, err := filepath.Glob("migrations/*.sql")
	for i, file := range files {
		if !strings.HasPrefix(filepath.Base(file), fmt.Sprintf("%04d_", i+1)) {
			t.Fatalf("%s is step %d", file, i+1)
		}
	}
	if err != nil || len(files) < 2 {
		t.Fatalf("migrations are %v, %v", files, err)
	}
	return len(files)
}

// openTraced is open with somebody who takes down what is said.
func openTraced(t testing.TB, url string, said *transcript) *postgres.Store {
	t.Helper()
	st, err := postgres.OpenTraced(t.Context(), url, said)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

// live fills a store with something of everything, and asks for it.
func live(t testing.TB, st *postgres.Store) {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	lived(t, st)
	for seq := harness.Seq(2); seq <= 4; seq += 2 {
		must(st.SaveSnapshot(ctx, harness.Snapshot{Session: "a", Seq: seq, State: []byte("state"), First: int(seq/2 - 1), Sealed: [][]byte{[]byte("sealed")}}))
	}
	must(st.RevokeRule(ctx, "rul_2"))
	mustAppend(t, st, commit("gone", 0, 2))
	must(st.SaveSnapshot(ctx, harness.Snapshot{Session: "gone", Seq: 1, State: []byte("state")}))
	must(st.Remove(ctx, "gone"))
	for _, f := range []harness.Filter{{}, {User: "ada", Statuses: []harness.Status{harness.Running}}, {Kind: harness.Chat, Limit: 1}, {Parent: "a"}, {Session: "a"}} {
		for _, err := range st.List(ctx, f) {
			must(err)
		}
	}
	for _, id := range []harness.SessionID{"a", "b"} {
		for _, err := range st.Read(ctx, id, 1) {
			must(err)
		}
		for _, err := range st.Messages(ctx, id, 0, 2) {
			must(err)
		}
		_, err := st.LoadSnapshot(ctx, id, 0)
		must(err)
	}
	for _, directory := range []string{"", "/d"} {
		for _, err := range st.Rules(ctx, directory) {
			must(err)
		}
	}
	_, err := st.Count(ctx)
	must(err)
	for e, err := range st.Follow(ctx, "b", 0) {
		if must(err); e.Seq == 6 {
			break
		}
	}
	st.OnMove(ctx, "a", 5, func() {})()
	must(st.Join(ctx, "n", time.Hour))
	must(st.Beat(ctx, "n"))
	for range st.Orphans(ctx) {
		t.Fatal("nobody has left anything")
	}
	for _, id := range []harness.SessionID{"a", "b", "c"} {
		l, err := st.Claim(ctx, "n", id)
		if must(err); id == "c" {
			must(st.Release(ctx, l))
		}
	}
	for _, key := range []string{"k", "open"} { // the second stays open
		ctx, cancel := context.WithCancel(ctx)
		sent := make(chan error, 1)
		go func() {
			_, err := st.Send(ctx, harness.Order{Session: "a", Key: key, Body: []byte("body")})
			sent <- err
		}()
		for o, err := range st.Receive(ctx, "n") {
			if must(err); key == "open" {
				cancel()
				<-sent
				break
			}
			must(st.Answer(ctx, o, []byte("answer")))
			must(<-sent)
			break
		}
		cancel()
	}
	must(st.Join(ctx, "m", time.Hour))
	must(st.Leave(ctx, "m"))
	for _, d := range []harness.Delivery{
		{Place: "p", At: harness.AnyVersion, Add: []harness.Parcel{{Name: "x", Content: []byte("content")}, {Name: "y", Session: "a", Content: []byte("content")}}},
		{Place: "p", At: harness.AnyVersion, Add: []harness.Parcel{{Name: "x", Content: []byte("other")}}, Remove: []string{"y"}},
		{Place: "q", At: harness.AnyVersion, Add: []harness.Parcel{{Name: "z", Session: "d", Content: []byte("of a session")}}},
	} {
		_, err := st.Deliver(ctx, d)
		must(err)
	}
	mustAppend(t, st, commit("d", 0, 1))
	must(st.Remove(ctx, "d"))
	_, err = st.Place(ctx, "p", 0)
	must(err)
	f, err := st.Fetch(ctx, "p", "x")
	must(err)
	_, err = f.Read(make([]byte, 10))
	must(err)
	release, err := st.Hold(ctx, "p")
	must(err)
	release()
}

// lived is what live leaves in every store: two sessions, a branch and rules.
func lived(t testing.TB, st harness.Store) {
	t.Helper()
	ruled := commit("a", 3, 2)
	ruled.Rules = []harness.Rule{{ID: "rul_1", Directory: "/d", Tool: "bash", Session: "a", Created: epoch}, {ID: "rul_2", Directory: "/d", Tool: "edit", Session: "a", Created: epoch}}
	branch := commit("b", 4, 2)
	branch.From = &harness.Branch{Session: "a", Seq: 4}
	branch.Summary.Parent = "a"
	done := commit("c", 0, 3)
	done.Summary.Status = harness.StatusCompleted
	mustAppend(t, st, commit("a", 0, 3), ruled, branch, done)
}

// mustHaveLived checks that a store has what lived left.
func mustHaveLived(t testing.TB, st *postgres.Store) {
	t.Helper()
	want := memory.New()
	lived(t, want)
	tell := func(st harness.Store) string {
		var b strings.Builder
		for sum, err := range st.List(t.Context(), harness.Filter{}) {
			fmt.Fprintf(&b, "%+v %v\n", sum, err)
			for e, err := range st.Read(t.Context(), sum.Session, 0) {
				fmt.Fprintf(&b, "%s %v\n", e.JSON(), err)
			}
		}
		return strings.ReplaceAll(b.String(), " +0000 UTC", "")
	}
	if g, w := tell(st), tell(want); g != w {
		t.Fatalf("got\n%s\nwant\n%s", g, w)
	}
	rules := ""
	for r, err := range st.Rules(t.Context(), "") {
		rules += fmt.Sprint(r.ID, err)
	}
	if rules != "rul_1<nil>" {
		t.Fatalf("rules %s", rules)
	}
	if s, err := st.LoadSnapshot(t.Context(), "a", 0); err != nil || s.Seq != 4 || string(s.State) != "state" {
		t.Fatalf("snapshot at %d, %v", s.Seq, err)
	}
	for m, err := range st.Messages(t.Context(), "b", 0, 2) {
		if err != nil || string(m) != "sealed" {
			t.Fatalf("message %q, %v", m, err)
		}
	}
}

// mustHaveFiled checks that a store has the files that live left, which came with
// version 4.
func mustHaveFiled(t testing.TB, st *postgres.Store) {
	t.Helper()
	var places []string
	for name, err := range st.Places(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, name)
	}
	if !slices.Equal(places, []string{"p"}) {
		t.Fatalf("places %q", places)
	}
	if p, err := st.Place(t.Context(), "p", 0); err != nil || len(p.Files) != 1 || p.Files[0].Name != "x" {
		t.Fatalf("files %+v, %v", p, err)
	}
	f, err := st.Fetch(t.Context(), "p", "x")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if text, err := io.ReadAll(f); err != nil || string(text) != "other" {
		t.Fatalf("x is %q, %v", text, err)
	}
}

// TestEveryVersionLeavesItsFixtures also writes those of a new one.
func TestEveryVersionLeavesItsFixtures(t *testing.T) {
	t.Parallel()
	now := latest(t)
	_, err := os.Stat(fixture(now, "sql"))
	if os.Getenv("UPDATE") != "" && errors.Is(err, fs.ErrNotExist) {
		server := postgrestest.StartAlone(t)
		url := server.URL(t)
		if _, _, err := postgres.Migrate(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		said := &transcript{}
		st := openTraced(t, url, said)
		until(t, func() bool { return strings.Contains(said.String(), "COMMIT") }, "what a start does by itself")
		live(t, st)
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		for kind, text := range map[string]string{"sql": server.Dump(t, url), "said": said.String()} {
			if err := errors.Join(os.MkdirAll(filepath.Dir(fixture(now, kind)), 0o755), os.WriteFile(fixture(now, kind), []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for v := 1; v <= now; v++ {
		readFixture(t, v, "sql")
		if v >= now-1 {
			readFixture(t, v, "said")
		}
	}
}

// TestEveryVersionIsBroughtUpToDate starts from what each earlier build left, and
// from nothing.
func TestEveryVersionIsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	server, now := postgrestest.Start(t), latest(t)
	for v := range now + 1 {
		t.Run(fmt.Sprint(v), func(t *testing.T) {
			t.Parallel()
			url := server.URL(t)
			if v > 0 {
				server.Restore(t, url, readFixture(t, v, "sql"))
			}
			from, to, err := postgres.Migrate(t.Context(), url)
			if err != nil || from != v || to != now {
				t.Fatalf("migrated from %d to %d, %v", from, to, err)
			}
			st := open(t, url)
			if v > 0 {
				mustHaveLived(t, st)
				if v >= 4 {
					mustHaveFiled(t, st)
				}
				mustAppend(t, st, commit("a", 5, 1), commit("b", 6, 1))
			}
			mustAppend(t, st, commit("new", 0, 2))
			if err := st.Join(t.Context(), "here", time.Hour); err != nil {
				t.Fatal(err)
			}
			if _, err := st.Claim(t.Context(), "here", "c"); err != nil {
				t.Fatal(err)
			}
			if err := st.Remove(t.Context(), "b"); err != nil && v > 0 {
				t.Fatal(err)
			}
			if n, err := read(t, st, "a"); v > 0 && (err != nil || n != 6) {
				t.Fatalf("read %d events, %v", n, err)
			}
		})
	}
}

// TestTheVersionBeforeGoesOnWhileThisOneMigrates does what a build of the version
// before did, word for word: first on its own schema, and after another node has
// brought that to this version, to the end. So it is for a node that is upgraded
// last.
func TestTheVersionBeforeGoesOnWhileThisOneMigrates(t *testing.T) {
	t.Parallel()
	server, now := postgrestest.Start(t), latest(t)
	said := parseTranscript(readFixture(t, now-1, "said"))
	if len(said) < 50 {
		t.Fatalf("only %d statements", len(said))
	}
	for _, at := range []int{0, len(said) / 4, len(said) / 2, len(said)} {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			url := server.URL(t)
			for i, file := range steps(t)[:now-1] {
				if i == 0 {
					server.Exec(t, url, "CREATE TABLE harness_schema(version int PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())")
				}
				server.Exec(t, url, file)
				server.Exec(t, url, "INSERT INTO harness_schema(version) VALUES($1)", i+1)
			}
			c, err := pgx.Connect(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close(context.WithoutCancel(t.Context()))
			for at > 0 && at < len(said) && !settled(said[:at]) { // a node may be slow, but not for ever
				at++
			}
			replay(t, c, said[:at])
			st := open(t, url) // the new node
			mustAppend(t, st, commit("z", 0, 2))
			replay(t, c, said[at:])
			mustAppend(t, st, commit("z", 2, 2), commit("a", 5, 1))
			if n, err := read(t, st, "b"); err != nil || n != 6 {
				t.Fatalf("read %d events, %v", n, err)
			}
		})
	}
}

// settled reports whether statements end with a transaction, and have left
// nothing that another node would clear away.
func settled(said []statement) bool {
	left := 0
	for _, s := range said {
		switch {
		case strings.HasPrefix(s.sql, "INSERT INTO leftovers"):
			left++
		case strings.HasPrefix(s.sql, "DELETE FROM leftovers"):
			left--
		}
	}
	return left == 0 && said[len(said)-1].tag == "COMMIT"
}

// steps are the migrations.
func steps(t testing.TB) (texts []string) {
	t.Helper()
	latest(t)
	files, _ := filepath.Glob("migrations/*.sql")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}
