package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"harness"
	"harness/archive"
	"harness/store/sqlite"
)

// exported writes a session of dir into a file and returns its path and text.
func exported(t testing.TB, dir, id string) (path, text string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), id+".jsonl")
	if out := mustRun(t, "sessions", "export", "--data", dir, "--out", path, id); out != "" {
		t.Errorf("export to a file prints %q", out)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, string(b)
}

func TestAnExportedSessionCanBeImportedElsewhere(t *testing.T) {
	t.Parallel()
	dir := gallery(t)
	for _, id := range []string{"ses_ada", "ses_ask", "ses_bob", "ses_fail", "ses_branch"} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			path, text := exported(t, dir, id)
			if out := mustRun(t, "sessions", "export", "--data", dir, id); out != text {
				t.Error("standard output is not what is in the file")
			}
			elsewhere := filepath.Join(t.TempDir(), "new")
			if out := mustRun(t, "sessions", "import", "--data", elsewhere, path); !strings.HasPrefix(out, id+": ") || strings.Contains(out, " 0 new") {
				t.Errorf("import says %q", out)
			}
			if out := mustRun(t, "sessions", "import", "--data", elsewhere, path); !strings.Contains(out, " 0 new") {
				t.Errorf("import again says %q", out)
			}
			if _, again := exported(t, elsewhere, id); again != text {
				t.Errorf("exported again it differs\n%s\n%s", again, text)
			}
			for _, verb := range []string{"show", "ls"} {
				args := []string{"sessions", verb, "--data"}
				if verb == "show" {
					args = []string{"sessions", verb, "--json", id, "--data"}
				}
				here, there := mustRun(t, append(args, dir)...), mustRun(t, append(args, elsewhere)...)
				if verb == "show" && here != there {
					t.Errorf("it shows as\n%s\nwas\n%s", there, here)
				}
				if verb == "ls" && !strings.Contains(there, id) {
					t.Errorf("ls:\n%s", there)
				}
			}
			p := start(t, playing(t, elsewhere)...)
			v := p.view("?sessionId=" + id)
			if pending(v.now) {
				acked(t, v.do(`"type":"approve","toolCallId":%q`, v.now.PendingApprovals[0].ToolCallID))
				v.see("the end of the turn", saying(" done"))
			}
			acked(t, v.do(`"type":"resume","sessionId":%q,"prompt":"go on"`, id))
			v.see("the answer", saying("You said: go on"))
		})
	}
}

// A branch brings its parent's history along; the parent's own file adds the
// rest of it, in either order.
func TestABranchAndItsParentCanBeImportedInAnyOrder(t *testing.T) {
	t.Parallel()
	dir := gallery(t)
	parent, parentText := exported(t, dir, "ses_bob")
	branch, branchText := exported(t, dir, "ses_branch")
	for _, order := range [][]string{{parent, branch}, {branch, parent}} {
		elsewhere := t.TempDir()
		for _, path := range append(order, order...) {
			mustRun(t, "sessions", "import", "--data", elsewhere, path)
		}
		for id, want := range map[string]string{"ses_bob": parentText, "ses_branch": branchText} {
			if _, got := exported(t, elsewhere, id); got != want {
				t.Errorf("%v: %s differs", order, id)
			}
		}
		mustFail(t, 1, nil, "sessions", "rm", "--data", elsewhere, "ses_bob")
	}
}

func TestADamagedFileIsRefusedAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	dir := gallery(t)
	_, whole := exported(t, dir, "ses_ada")
	lines := strings.SplitAfter(strings.TrimSuffix(whole, "\n"), "\n")
	for name, c := range map[string]struct{ text, word string }{
		"empty":         {"", "without its seal"},
		"cut":           {whole[:len(whole)/2], "line"},
		"without seal":  {strings.Join(lines[:len(lines)-1], ""), "without its seal"},
		"changed":       {strings.Replace(whole, "one", "two", 1), "checksum"},
		"another id":    {strings.ReplaceAll(whole, "ses_ada", "ses_eve"), "checksum"},
		"a line less":   {strings.Join(append(lines[:2:2], lines[3:]...), ""), "line 3"},
		"not JSON":      {lines[0] + "{oops}\n" + strings.Join(lines[1:], ""), "line 2"},
		"something":     {"hello\n", "line 1"},
		"only the seal": {lines[len(lines)-1], "events"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "damaged.jsonl")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			elsewhere := filepath.Join(t.TempDir(), "new")
			t.Log(mustFail(t, 1, []string{"damaged.jsonl", c.word}, "sessions", "import", "--data", elsewhere, file))
			if _, err := os.Stat(elsewhere); !os.IsNotExist(err) {
				t.Errorf("something was written: %v", err)
			}
			mustFail(t, 1, []string{c.word}, "replay", file)
		})
	}
	mustFail(t, 1, []string{"missing.jsonl", "no such file"}, "sessions", "import", "--data", dir, "missing.jsonl")
}

func TestAnImportThatWasInterruptedCanBeRepeated(t *testing.T) {
	t.Parallel()
	dir := gallery(t)
	path, text := exported(t, dir, "ses_branch")
	events, err := readAll(new(program), path)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n < len(events); n++ {
		elsewhere := t.TempDir()
		st, err := sqlite.Open(t.Context(), database(elsewhere), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Import(t.Context(), st, events[:n]); err != nil {
			t.Fatal(err)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		p := &program{stdout: new(strings.Builder), stderr: new(strings.Builder), getenv: func(string) string { return "" }}
		if code := p.main(t.Context(), []string{"sessions", "import", "--data", elsewhere, path}); code != 0 {
			t.Fatalf("after %d events: %s", n, p.stderr)
		}
		out := new(strings.Builder)
		p.stdout = out
		if code := p.main(t.Context(), []string{"sessions", "export", "--data", elsewhere, "ses_branch"}); code != 0 || out.String() != text {
			t.Fatalf("after %d events: the export differs: %s", n, p.stderr)
		}
	}
}

func TestAnImportNeverChangesAnotherLog(t *testing.T) {
	t.Parallel()
	dir, other := gallery(t), gallery(t)
	path, _ := exported(t, dir, "ses_ada")
	_, before := exported(t, other, "ses_ada")
	mustFail(t, 1, []string{"ses_ada", "another", "already exists"}, "sessions", "import", "--data", other, path)
	if _, after := exported(t, other, "ses_ada"); after != before {
		t.Error("the log was changed")
	}
	s := newStage(t, dir)
	s.turn(harness.SessionID("ses_ada"), "more")
	s.close()
	mustFail(t, 1, []string{"goes on"}, "sessions", "import", "--data", dir, path)
	mustFail(t, 1, []string{"file exists"}, "sessions", "export", "--data", dir, "--out", path, "ses_ada") // never overwritten
}
