package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"harness"
)

// gallery is a directory with sessions of every sort.
func gallery(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	s := newStage(t, dir)
	defer s.close()
	for _, n := range []struct{ id, user, prompt string }{
		{"ses_ada", "ada", "tools"}, {"ses_ask", "ada", "ask"}, {"ses_bob", "bob", "hello\nworld"}, {"ses_fail", "", "fail"},
	} {
		nextMillisecond()
		s.create(harness.NewSession{ID: harness.SessionID(n.id), User: n.user})
		s.turn(harness.SessionID(n.id), n.prompt)
	}
	nextMillisecond() // lists are in the order of milliseconds
	s.turn("ses_bob", "again")
	nextMillisecond()
	s.create(harness.NewSession{ID: "ses_branch", User: "eve", From: &harness.Branch{Session: "ses_bob", Seq: 4}})
	s.turn("ses_branch", "another way")
	return dir
}

// nextMillisecond returns when the clock shows another one.
func nextMillisecond() {
	for began := time.Now().UnixMilli(); time.Now().UnixMilli() == began; {
		runtime.Gosched()
	}
}

// ids are the sessions of a listing, in order.
func ids(t testing.TB, dir string, flags ...string) (found []string) {
	t.Helper()
	out := mustRun(t, append([]string{"sessions", "ls", "--json", "--data", dir}, flags...)...)
	for line := range strings.Lines(out) {
		var s harness.Summary
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		found = append(found, string(s.Session))
	}
	return found
}

func TestLsOfNothingSaysSoAndMakesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "none")
	if o := invoke(t, "sessions", "ls", "--data", dir); o.code != 0 || o.stdout != "" || o.stderr != "no sessions\n" {
		t.Errorf("%+v", o)
	}
	if o := invoke(t, "sessions", "ls", "--json", "--data", dir); o.code != 0 || o.stdout != "" || o.stderr != "" {
		t.Errorf("%+v", o)
	}
	for _, args := range [][]string{{"sessions", "show", "ses_a"}, {"sessions", "export", "ses_a"}, {"sessions", "rm", "ses_a"}, {"replay", "ses_a"}} {
		mustFail(t, 1, []string{"nothing is stored in " + dir}, append(args, "--data", dir)...)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the directory was made: %v", err)
	}
	mustFail(t, 1, []string{"nothing is stored in jsonl:" + dir}, "sessions", "show", "--store", "jsonl:"+dir, "ses_a")
}

func TestWhoLooksForThreadsOfRunIsToldWhereTheyAre(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".harness", "threads"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"ls"}, {"show", "ses_a"}} {
		cmd := invocation(t, append([]string{"sessions"}, append(args, "--data", filepath.Join(dir, "none"))...)...)
		cmd.Dir = dir
		if o := finish(t, cmd); !strings.Contains(o.stderr, "--store jsonl:.harness") {
			t.Errorf("sessions %v: %+v", args, o)
		}
	}
	cmd := invocation(t, "sessions", "ls", "--store", "jsonl:.harness")
	cmd.Dir = dir
	if o := finish(t, cmd); o.code != 0 || o.stderr != "no sessions\n" {
		t.Errorf("%+v", o)
	}
}

func TestLsListsAndFilters(t *testing.T) {
	t.Parallel()
	dir := gallery(t)
	table := mustRun(t, "sessions", "ls", "--data", dir)
	lines := strings.Split(strings.TrimSpace(table), "\n")
	if len(lines) != 6 || !strings.HasPrefix(lines[0], "SESSION") || !strings.HasPrefix(lines[1], "ses_branch") {
		t.Errorf("the table is\n%s", table)
	}
	for i, line := range lines {
		if at := strings.Index(lines[0], "STATUS"); len(line) <= at || line[at-1] != ' ' || line[at] == ' ' {
			t.Errorf("line %d is not aligned:\n%s", i, table)
		}
	}
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{nil, "ses_branch ses_bob ses_fail ses_ask ses_ada"},
		{[]string{"--user", "ada"}, "ses_ask ses_ada"},
		{[]string{"--user", "nobody"}, ""},
		{[]string{"--status", "awaiting_approval"}, "ses_ask"},
		{[]string{"--status", "idle", "--user", "bob"}, "ses_bob"},
		{[]string{"--status", "paused"}, ""},
		{[]string{"--limit", "2"}, "ses_branch ses_bob"},
	} {
		if got := strings.Join(ids(t, dir, c.flags...), " "); got != c.want {
			t.Errorf("ls %v: %s, want %s", c.flags, got, c.want)
		}
	}
	mustFail(t, 2, []string{`"asleep"`, "awaiting_approval"}, "sessions", "ls", "--data", dir, "--status", "asleep")
	mustFail(t, 2, []string{"negative"}, "sessions", "ls", "--data", dir, "--limit", "-1")
}

func TestShowPrintsTheConversation(t *testing.T) {
	t.Parallel()
	dir := gallery(t)
	for id, words := range map[string][]string{
		"ses_ada":    {"ses_ada  idle", "\nuser\n  tools\n", "\nassistant\n  one\n  two\n", "▸ read", "[complete]"},
		"ses_ask":    {"awaiting_approval", "? bash: Run it (apr_"},
		"ses_fail":   {"error: it broke"},
		"ses_branch": {"branch of ses_bob at event 4", "hello", "another way"},
	} {
		text := mustRun(t, "sessions", "show", id, "--data", dir) // flags may follow
		for _, w := range words {
			if !strings.Contains(text, w) {
				t.Errorf("%q is missing from\n%s", w, text)
			}
		}
	}
	if text := mustRun(t, "sessions", "show", "--data", dir, "ses_branch"); strings.Contains(text, "again") {
		t.Errorf("the branch has what its parent did later:\n%s", text)
	}
	var st harness.State
	if err := json.Unmarshal([]byte(mustRun(t, "sessions", "show", "--json", "--data", dir, "ses_ask")), &st); err != nil || len(st.Pending) != 1 {
		t.Errorf("--json: %v, %+v", err, st)
	}
}

func TestIdsWithTricksAreRefused(t *testing.T) {
	t.Parallel()
	dir := gallery(t)
	for _, id := range []string{"../x", "/etc/passwd", "..", ".hidden", "a b", "x\x1b[2J", "", strings.Repeat("x", 129)} {
		for _, verb := range []string{"show", "export", "rm"} {
			text := mustFail(t, 1, []string{"harness sessions " + verb, "session id"}, "sessions", verb, "--data", dir, "--", id)
			if strings.Contains(text, "\x1b") {
				t.Errorf("%s %q: the terminal is steered by %q", verb, id, text)
			}
		}
	}
	for _, verb := range []string{"show", "export", "rm"} {
		mustFail(t, 1, []string{"ses_nobody: no such session"}, "sessions", verb, "--data", dir, "ses_nobody")
	}
	mustFail(t, 2, []string{"missing"}, "sessions", "show", "--data", dir)
	mustFail(t, 2, []string{`"b"`}, "sessions", "show", "--data", dir, "a", "b")
}

func TestRmDeletesForGood(t *testing.T) {
	t.Parallel()
	dir := gallery(t)
	mustFail(t, 1, []string{"ses_bob"}, "sessions", "rm", "--data", dir, "ses_bob") // it has a branch
	mustFail(t, 1, []string{"character"}, "sessions", "rm", "--data", dir, "ses_ada", "../x")
	if n := len(ids(t, dir)); n != 5 {
		t.Fatalf("%d sessions are left", n)
	}
	if out := mustRun(t, "sessions", "rm", "--data", dir, "ses_ada", "ses_branch", "ses_bob"); strings.Count(out, " deleted\n") != 3 {
		t.Errorf("rm says\n%s", out)
	}
	if got := strings.Join(ids(t, dir), " "); got != "ses_fail ses_ask" {
		t.Errorf("left are %s", got)
	}
	mustFail(t, 1, []string{"no such session"}, "sessions", "show", "--data", dir, "ses_ada")
}

func TestWhatIsLookedAtBesideAServer(t *testing.T) {
	t.Parallel()
	dir := gallery(t)
	file := filepath.Join(t.TempDir(), "a.jsonl")
	mustRun(t, "sessions", "export", "--data", dir, "--out", file, "ses_ada")
	p := start(t, playing(t, dir)...)
	v := p.view("?userId=zoe")
	acked(t, v.submit("hello"))
	v.see("the answer", saying("hello"))
	id := v.now.SessionID
	if got := ids(t, dir); len(got) != 6 || got[0] != id {
		t.Errorf("ls: %v", got)
	}
	if text := mustRun(t, "sessions", "show", "--data", dir, id); !strings.Contains(text, "You said: hello") {
		t.Errorf("show:\n%s", text)
	}
	if text := mustRun(t, "sessions", "export", "--data", dir, id); !strings.Contains(text, `"archive":1`) {
		t.Errorf("export:\n%s", text)
	}
	mustFail(t, 1, []string{"another process uses this data", "Stop the other server"}, "sessions", "import", file, "--data", dir)
	mustFail(t, 1, []string{"ses_nobody: no such session"}, "sessions", "rm", "ses_nobody", "--data", dir)
	if text := mustRun(t, "sessions", "rm", "ses_ada", "--data", dir); text != "ses_ada deleted\n" || slices.Contains(ids(t, dir), "ses_ada") {
		t.Errorf("rm says %q, and %v are left", text, ids(t, dir))
	}
	acked(t, v.submit("more"))
}

// What agents and users write cannot steer the terminal of whoever looks.
func TestNothingStoredSteersTheTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newStage(t, dir)
	const evil = "\x1b]0;owned\x07\x1b[2J\u009b31m\rfirst\x7f\u202egnp.exe"
	s.create(harness.NewSession{ID: "ses_evil", User: evil, Title: "title " + evil})
	s.turn("ses_evil", evil+"\nsecond line\ttab")
	s.close()
	for _, args := range [][]string{{"sessions", "ls"}, {"sessions", "show", "ses_evil"}, {"replay", "ses_evil"}} {
		out := mustRun(t, append(args, "--data", dir)...)
		for _, r := range out {
			if steers(r) && r != '\n' && r != '\t' {
				t.Errorf("%v prints %q", args, r)
			}
		}
		if !strings.Contains(out, "owned") {
			t.Errorf("%v does not show the text:\n%s", args, out)
		}
	}
}
