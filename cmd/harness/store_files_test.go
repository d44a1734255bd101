package main

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"harness/store/postgres/postgrestest"
)

// isolatedGarden is one whose session works by itself, in a directory of its own.
func isolatedGarden(t *testing.T) (g *garden, data string) {
	t.Helper()
	g = newGarden(t, 1, "--tasks", filepath.Join(t.TempDir(), "tasks"))
	var about struct {
		SessionID string `json:"session_id"`
		Directory string `json:"directory"`
	}
	g.must(http.StatusCreated, &about, "/chat/sessions", `{"permission_mode":"full_auto","isolated":true}`)
	g.session = about.SessionID
	g.must(http.StatusOK, &about, "/chat/sessions/"+g.session, "")
	g.dir = about.Directory
	return g, g.args[slices.Index(g.args, "--data")+1]
}

// kept is what a garden shows that is of no log.
func (g *garden) kept(token string) (artifacts map[string]string) {
	g.t.Helper()
	for path, want := range map[string]string{"/schedules": "yearly", "/webhooks": "mine"} {
		if code, body := g.get(path, nil); code != http.StatusOK || strings.Count(body, want) != 1 {
			g.t.Errorf("%s: %d %s", path, code, body)
		}
	}
	eventually(g.t, "the token is known", func() bool {
		_, body, _ := g.status("GET", "/whoami", "", http.Header{"Authorization": {"Bearer " + token}})
		return strings.Contains(body, `"user":"ada"`)
	})
	var log struct {
		Events []struct {
			Type    string `json:"type"`
			Payload struct {
				URI string `json:"uri"`
			} `json:"payload"`
		} `json:"events"`
	}
	g.must(http.StatusOK, &log, "/sessions/"+g.session+"/events?limit=1000", "")
	artifacts = map[string]string{}
	for _, e := range log.Events {
		if e.Type != "artifact" {
			continue
		}
		code, content := g.get(e.Payload.URI, nil)
		if artifacts[e.Payload.URI] = content; code != http.StatusOK {
			g.t.Errorf("%s: %d %s", e.Payload.URI, code, content)
		}
	}
	return artifacts
}

// TestWhatIsOfNoLogIsCopiedThereAndBack copies a server's artifacts, snapshots,
// schedule, webhook and token from its data directory into PostgreSQL, and after
// a turn there out into another data directory. A server in each place serves
// them, and takes files back to what they were in the one before.
func TestWhatIsOfNoLogIsCopiedThereAndBack(t *testing.T) {
	t.Parallel()
	url, last := schema(t), filepath.Join(t.TempDir(), "new")
	g, data := isolatedGarden(t)
	token := strings.TrimSpace(mustRun(t, "token", "add", "--data", data, "--user", "ada", "laptop"))
	g.post(t, "/schedules", []byte(`{"name":"yearly","when":"0 0 1 1 *","prompt":"hello"}`))
	g.post(t, "/webhooks", []byte(`{"name":"mine","url":"https://example.com/x"}`))
	one := g.turn(1, func() { g.write("f000", "second") })
	two := g.turn(2, func() { g.write("f000", "third") })
	before := g.kept(token)
	if len(before) == 0 {
		t.Fatal("no artifacts")
	}
	copied := func(want ...string) {
		t.Helper()
		said := mustRun(t, append([]string{"store", "copy"}, want[:len(want)-1]...)...)
		for _, text := range []string{want[len(want)-1], "1 schedules, 1 webhooks, 1 tokens", "not copied: logins", "both were read and are the same"} {
			if !strings.Contains(said, text) {
				t.Fatalf("%v: without %q\n%s", want, text, said)
			}
		}
	}
	onto := func(store, data string) {
		t.Helper()
		args := slices.Clone(g.args)
		args[slices.Index(args, "--data")+1] = data
		g.process = start(t, append(args, "--store", store, "--drain", "1s")...)
	}
	ended := func() {
		t.Helper()
		if code := g.stop(); code != 0 {
			t.Fatalf("exit code %d\n%s", code, g.errors())
		}
	}
	ended()
	copied("sqlite", "--data", data, "--store", url, "4 snapshots")
	copied("sqlite", "--data", data, "--store", url, "(0 files new)")

	onto(url, t.TempDir())
	if got := g.kept(token); !maps.Equal(got, before) {
		t.Errorf("the artifacts are %v, want %v", got, before)
	}
	if r := g.rewind(two, ""); len(r.FilesChanged) != 1 {
		t.Errorf("to the second turn: %+v", r)
	}
	g.holds(0, map[string]string{"f000": "second"})
	three := g.turn(3, func() { g.write("f000", "fourth"); g.write("new", "fourth") })
	mine := g.session
	var made struct {
		SessionID string `json:"session_id"`
	}
	g.must(http.StatusCreated, &made, "/chat/sessions", `{"isolated":true}`)
	g.session = made.SessionID
	more := g.kept(token)
	if len(more) == 0 {
		t.Error("no artifact of the second session")
	}
	ended()
	copied(url, "--data", last, "3 sessions")
	copied(url, "--data", last, "(0 files new)")

	onto("sqlite", last)
	if got := g.kept(token); !maps.Equal(got, more) {
		t.Errorf("the artifacts are %v, want %v", got, more)
	}
	if g.session = mine; !maps.Equal(g.kept(token), before) {
		t.Error("the artifacts of the first session are others")
	}
	g.rewind(three, "")
	g.holds(0, map[string]string{"f000": "second"})
	g.rewind(one, "")
	g.holds(1, nil)
	ended()
	for _, at := range [][]string{{"--store", url}, {"--data", last}} {
		if said := mustRun(t, append([]string{"store", "check"}, at...)...); strings.Count(said, "0 damaged") != 2 {
			t.Errorf("check %v:\n%s", at, said)
		}
	}
	if o := invoke(t, "store", "copy", url, "--store", "sqlite:"+filepath.Join(t.TempDir(), "x.db")); o.code == 0 || !strings.Contains(o.stderr, "--data") {
		t.Errorf("a copy without a place for files: exit code %d\n%s", o.code, o.stderr)
	}
}

// TestACheckFindsAFileThatIsDamaged changes an artifact behind a store's back: in
// PostgreSQL, also so that its row's checksum is right, and in a data directory.
func TestACheckFindsAFileThatIsDamaged(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	url := server.URL(t)
	g, data := isolatedGarden(t)
	g.turn(1, func() { g.write("f000", "second") })
	g.stop()
	mustRun(t, "store", "copy", "sqlite", "--data", data, "--store", url)
	finds := func(what string, args ...string) {
		t.Helper()
		o := invoke(t, append([]string{"store", "check"}, args...)...)
		if o.code != 1 || !strings.Contains(o.stdout, what+g.session) || !strings.Contains(o.stdout, ", 1 damaged") || !strings.Contains(o.stdout, "events, 0 damaged") {
			t.Errorf("check %v: exit code %d\n%s%s", args, o.code, o.stdout, o.stderr)
		}
	}
	one := `digest = (SELECT digest FROM files WHERE place LIKE 'artifacts/%' ORDER BY name LIMIT 1)`
	server.Exec(t, url, "UPDATE pieces SET data = set_byte(data, 7, 1) WHERE "+one)
	finds(" of artifacts/", "--store", url)
	server.Exec(t, url, "DELETE FROM pieces WHERE "+one)
	finds(" of artifacts/", "--store", url)
	all, err := filepath.Glob(filepath.Join(data, "artifacts", g.session, "*"))
	if err != nil || len(all) == 0 {
		t.Fatalf("%v, %v", all, err)
	}
	if err := os.WriteFile(all[0], []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	finds(" of artifacts/", "--data", data)
}

// TestACopyFailsUntilARewindIsAtItsEnd copies all the rest, and says what is to be
// done.
func TestACopyFailsUntilARewindIsAtItsEnd(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	mustRun(t, "store", "migrate", "--data", from)
	tree := filepath.Join(from, "snapshots", "0123456789abcdef0123")
	for name, text := range map[string]string{"journal": `{"session":"ses_1"}`, "marks/ses_1/m1": "{}"} {
		at := filepath.Join(tree, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"store", "copy", "sqlite", "--from-data", from, "--data", to}
	if o := invoke(t, args...); o.code == 0 || !strings.Contains(o.stdout, "1 snapshots") || !strings.Contains(o.stderr, "a rewind by session ses_1 is not at its end") {
		t.Errorf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	if err := os.Remove(filepath.Join(tree, "journal")); err != nil {
		t.Fatal(err)
	}
	if said := mustRun(t, args...); !strings.Contains(said, "(0 files new)") {
		t.Error(said)
	}
}
