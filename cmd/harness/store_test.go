package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"harness/store/postgres/postgrestest"
)

// TestAStoreIsCopiedThereAndBack copies what a real server made, with a branch and
// with a rule that has outlived its session, from SQLite into PostgreSQL, on into
// files, and back, and compares. A server on each copy knows the same rules, and
// the same schedules and webhooks.
func TestAStoreIsCopiedThereAndBack(t *testing.T) {
	t.Parallel()
	dir, cwd := t.TempDir(), t.TempDir()
	file := filepath.Join(t.TempDir(), "play.script")
	if err := os.WriteFile(file, []byte("when ask\nask bash {\"command\":\"x\"} access=execute => ran\nelse\necho\nend"), 0o600); err != nil {
		t.Fatal(err)
	}
	serve := func(store, data string) *process {
		return start(t, "--data", data, "--store", store, "--engine", "script:"+file, "--root", cwd)
	}
	turn := func(p *process, prompt string) (id string, asked bool) {
		t.Helper()
		id = p.make(t, cwd)
		f := p.follow(id)
		p.post(t, "/chat/sessions/"+id+"/turns", []byte(`{"prompt":"`+prompt+`"}`))
		switch e := f.until("the end, or a question", func(e event) bool { return e.Type == "turn_end" || e.Type == "approval_required" }); e.Type {
		case "approval_required":
			p.post(t, "/approvals/"+e.id("request_id"), []byte(`{"decision":"allow","scope":"always"}`))
			f.until("the end", kind("turn_end"))
			asked = true
		}
		return id, asked
	}
	p := serve("sqlite", dir)
	gone, asked := turn(p, "ask")
	if !asked {
		t.Fatal("nothing was asked, so there is no rule")
	}
	var last string
	for range 3 {
		last, _ = turn(p, "hello")
	}
	branch := p.post(t, "/chat/sessions/"+last+"/branch", []byte(`{}`))
	if !strings.Contains(string(branch), "session_id") {
		t.Fatalf("a branch: %s", branch)
	}
	p.post(t, "/schedules", []byte(`{"name":"yearly","when":"0 0 1 1 *","prompt":"hello"}`))
	p.post(t, "/webhooks", []byte(`{"name":"mine","url":"https://example.com/x"}`))
	kept := func(p *process) (all string) {
		t.Helper()
		for path, want := range map[string]string{"/rules": "rul_", "/schedules": "yearly", "/webhooks": "mine"} {
			code, body := p.get(path, nil)
			if code != http.StatusOK || strings.Count(body, want) == 0 {
				t.Errorf("%s: %d %s", path, code, body)
			}
		}
		_, rules := p.get("/rules", nil)
		return rules
	}
	rules := kept(p)
	if code := p.stop(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	if o := invoke(t, "sessions", "rm", "--data", dir, gone); o.code != 0 {
		t.Fatalf("exit code %d\n%s", o.code, o.stderr)
	}
	url := schema(t)
	copied := func(from, to string, want ...string) {
		t.Helper()
		o := invoke(t, "store", "copy", from, "--store", to, "--data", dir)
		for _, text := range append(want, "4 sessions", "1 rules", "both were read and are the same") {
			if o.code != 0 || !strings.Contains(o.stdout, text) {
				t.Fatalf("copy %s to %s: exit code %d, without %q\n%s%s", from, to, o.code, text, o.stdout, o.stderr)
			}
		}
	}
	files, back := "jsonl:"+filepath.Join(t.TempDir(), ".harness"), "sqlite:"+filepath.Join(t.TempDir(), "back.db")
	copied("sqlite", url)
	copied("sqlite", url, "(0 new)")
	copied(url, files)
	copied(files, back)
	copied(back, url, "(0 new)")
	for _, store := range []string{"sqlite", url, files, back} {
		if o := invoke(t, "store", "check", "--store", store, "--data", dir); o.code != 0 || !strings.Contains(o.stdout, "4 sessions") || !strings.Contains(o.stdout, "0 damaged") {
			t.Errorf("check %s: exit code %d\n%s%s", store, o.code, o.stdout, o.stderr)
		}
	}
	for store, data := range map[string]string{url: t.TempDir(), files: dir, back: dir} {
		p := serve(store, data)
		if got := kept(p); got != rules {
			t.Errorf("the rules on %s are\n%s\nwant\n%s", store, got, rules)
		}
		if _, asked := turn(p, "ask"); asked {
			t.Errorf("asked on %s though a rule stands", store)
		}
		p.stop()
	}
}

// TestACheckFindsWhatIsDamaged changes a log and a row behind a store's back.
func TestACheckFindsWhatIsDamaged(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	url := server.URL(t)
	p := startNodes(t, url, "echo", 1)[0]
	var ids []string
	for range 2 {
		ids = append(ids, p.make(t, ""))
		f := p.follow(ids[len(ids)-1])
		p.post(t, "/chat/sessions/"+ids[len(ids)-1]+"/turns", []byte(`{"prompt":"hello"}`))
		f.until("the end", kind("turn_end"))
	}
	p.stop()
	server.Exec(t, url, "UPDATE commits SET data = set_byte(data, 5, 1) WHERE session = (SELECT n FROM sessions WHERE id = $1) AND seq = 1", ids[0])
	o := invoke(t, "store", "check", "--store", url)
	if o.code != 1 || !strings.Contains(o.stdout, ids[0]+":") || strings.Contains(o.stdout, ids[1]) || !strings.Contains(o.stdout, "2 sessions") || !strings.Contains(o.stdout, "1 damaged") {
		t.Errorf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
}

func TestMigrateSaysWhichVersionItWas(t *testing.T) {
	t.Parallel()
	url := schema(t)
	for _, want := range []string{"was of version 0 and is of version", "is of version"} {
		if o := invoke(t, "store", "migrate", "--store", url); o.code != 0 || !strings.Contains(o.stdout, want) {
			t.Errorf("exit code %d, without %q\n%s%s", o.code, want, o.stdout, o.stderr)
		}
	}
	if o := invoke(t, "store", "migrate", "--store", "sqlite:"+filepath.Join(t.TempDir(), "x.db")); o.code != 0 {
		t.Errorf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
}
