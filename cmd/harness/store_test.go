package main

import (
	"path/filepath"
	"strings"
	"testing"

	"harness/store/postgres/postgrestest"
)

// TestAStoreIsCopiedThereAndBack copies what a real server made, with branches
// and rules, from SQLite into PostgreSQL, on into files, and back, and compares.
func TestAStoreIsCopiedThereAndBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, "--data", dir, "--engine", "script")
	var last string
	for range 3 {
		last = p.make(t, "")
		f := p.follow(last)
		p.post(t, "/chat/sessions/"+last+"/turns", []byte(`{"prompt":"hello"}`))
		f.until("the end", kind("turn_end"))
	}
	branch := p.post(t, "/chat/sessions/"+last+"/branch", []byte(`{}`))
	if !strings.Contains(string(branch), "session_id") {
		t.Fatalf("a branch: %s", branch)
	}
	if code := p.stop(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	url := schema(t)
	copied := func(from, to string, want ...string) {
		t.Helper()
		o := invoke(t, "store", "copy", from, "--store", to, "--data", dir)
		for _, text := range append(want, "4 sessions", "both were read and are the same") {
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
