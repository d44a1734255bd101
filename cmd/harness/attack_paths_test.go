package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// oddNames are session ids that are none, or none of ours.
var oddNames = []string{
	"../x", "..%2fx", `..\x`, "/abs", `C:\x`, "con", ".", "..", "", strings.Repeat("a", 10_000), "a\x00b", "\u00e9", "e\u0301", "A", "a",
	"%2e%2e", "a\nb", "ses_a/../../x", "ses_a%00", "~", "$HOME", "ses_\u202e", "-rf", "ses a", "...", ".ses_a",
}

// tree is every path below a directory.
func tree(t testing.TB, dir string) (all string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), "harness.db-") { // SQLite's own come and go
			return nil
		}
		all += path + "\n"
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestNamesThatAreNoneReachNoFile is attack 27.
func TestNamesThatAreNoneReachNoFile(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.session(t, "ada", "")
	around := filepath.Dir(h.dir)
	before := tree(t, around)
	s := h.speakAs(t, "owner")
	v, _ := h.viewAs(t, "owner", "?userId=ada")
	h.unchanged(t, func() {
		for _, name := range oddNames {
			for _, path := range []string{"/sessions/%s", "/sessions/%s/export", "/chat/sessions/%s", "/sessions/%s/state"} {
				got := h.oddly(t, ask{as: "owner", method: "GET", path: fmt.Sprintf(path, url.PathEscape(name))})
				if got.status < 300 || got.status >= 500 {
					if name != "" { // GET /sessions/ is no session's
						t.Errorf("GET "+path+": %d %s", name, got.status, got.body)
					}
				}
			}
			for method, c := range ofThread {
				if !strings.Contains(c.params, "{id}") {
					continue
				}
				a := h.declines(t, s, method, strings.ReplaceAll(c.params, `"{id}"`, jsonString(t, name)))
				switch a.Error.Code {
				case -32602, -32001, -32700:
				default:
					t.Errorf("%s %.40q: %s %+v", method, name, a.Result, a.Error)
				}
			}
			if f := h.denies(t, v, `"type":"resume","prompt":"attack","sessionId":%s`, jsonString(t, name)); f.Type != "error" {
				t.Errorf("resume to %.40q: %+v", name, f)
			}
			if name == "" { // says nothing, and is one's own
				continue
			}
			h.refused(t, "/ws?sessionId="+name, func() {
				if _, status := h.viewAs(t, "owner", "?sessionId="+url.QueryEscape(name)); status != 400 && status != 404 && status != 414 {
					t.Errorf("/ws?sessionId=%.40q: %d", name, status)
				}
			})
			h.refused(t, "/ws?userId="+name, func() {
				if _, status := h.viewAs(t, "ada", "?userId="+url.QueryEscape(name)); status != 400 && status != 404 && status != 414 {
					t.Errorf("/ws?userId=%.40q: %d", name, status)
				}
			})
		}
	})
	if after := tree(t, around); after != before {
		t.Errorf("files were\n%s and are\n%s", before, after)
	}
}

// oddly is send for a path that a client may clean before it asks, or a server
// before it looks: what is refused has its line, what leads elsewhere has none.
func (h *house) oddly(t testing.TB, q ask) (got reply) {
	t.Helper()
	before := h.audited(t)
	got = h.send(t, q)
	want := 0
	if got.status >= 400 {
		want = 1
	}
	if n := h.audited(t) - before; n != want {
		t.Errorf("%s %.100s: %d, and %d lines in the audit", q.method, q.path, got.status, n)
	}
	attacked.saw(t, []check{sawQuiet, sawLine}[want])
	return got
}

// jsonString is a name as JSON, every character of it.
func jsonString(t testing.TB, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSessionsWorkOnlyWhereTheyMay is attack 28.
func TestSessionsWorkOnlyWhereTheyMay(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"work/project", "work-not", "more"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(base, "work", "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"out": "/etc", "in": filepath.Join(base, "work", "project")} {
		if err := os.Symlink(to, filepath.Join(base, "work", name)); err != nil {
			t.Fatal(err)
		}
	}
	work := filepath.Join(base, "work")
	h := newHouse(t, "--cwd", work, "--root", filepath.Join(base, "more"))
	s := h.speakAs(t, "ada")
	h.unchanged(t, func() {
		for _, dir := range []string{
			"/", os.Getenv("HOME") + "/", "/etc", "..", "../..", ".", "project", work + "/../..", work + "/out", work + "/project/../../work-not", base + "/work-not",
			work + "/missing", file, h.dir, "/proc/self/cwd", work + "/" + strings.Repeat("x/", 2048), `C:\`, "~", "\u00e9",
		} {
			got := h.denied(t, ask{as: "ada", method: "POST", path: "/chat/sessions", body: fmt.Sprintf(`{"directory":%q}`, dir)})
			if got.status != 400 {
				t.Errorf("%.60q: %d %s", dir, got.status, got.body)
			}
			if a := h.declines(t, s, "thread.create", fmt.Sprintf(`{"directory":%q}`, dir)); a.Error.Code != -32602 {
				t.Errorf("thread.create %.60q: %s %+v", dir, a.Result, a.Error)
			}
		}
	})
	for dir, want := range map[string]string{work: work, work + "/project": work + "/project", work + "/in": work + "/project", base + "/more/": base + "/more", work + "/./project/..": work} {
		if got := h.must(t, ask{as: "ada", method: "POST", path: "/chat/sessions", body: fmt.Sprintf(`{"directory":%q}`, dir)})["directory"]; got != want {
			t.Errorf("%s: %v, want %s", dir, got, want)
		}
	}
	h.must(t, ask{as: "root", method: "POST", path: "/chat/sessions", body: fmt.Sprintf(`{"directory":%q}`, base)})
	if len(h.lines(t, "audit.log", `"detail":"directory"`)) == 0 {
		t.Error("the audit does not say what somebody tried")
	}
}
