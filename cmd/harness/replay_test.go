package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"harness"
)

// replaying runs `harness replay` in this process and returns what it prints.
func replaying(t testing.TB, args ...string) string {
	t.Helper()
	var out, errs strings.Builder
	p := &program{stdout: &out, stderr: &errs, getenv: func(string) string { return "" }}
	if code := p.main(t.Context(), append([]string{"replay"}, args...)); code != 0 {
		t.Fatalf("replay %v: %s", args, &errs)
	}
	return out.String()
}

// At every position of every log, from the store and from a file, replay
// prints what the events up to there add up to.
func TestReplayIsTheFoldAtEveryPosition(t *testing.T) {
	t.Parallel()
	dir := gallery(t)
	for _, id := range ids(t, dir) {
		path, _ := exported(t, dir, id)
		events, err := readAll(new(program), path)
		if err != nil {
			t.Fatal(err)
		}
		st := new(harness.State)
		for _, e := range events {
			st.Apply(e)
			at := strconv.FormatUint(uint64(e.Seq), 10)
			want := string(st.JSON()) + "\n"
			stored := st.Clone()
			stored.Session = harness.SessionID(id) // also where its last event is its parent's
			if got, want := replaying(t, "--json", "--data", dir, "--at", at, id), string(stored.JSON())+"\n"; got != want {
				t.Fatalf("%s at %s:\n%s\nwant\n%s", id, at, got, want)
			}
			if got := replaying(t, "--json", "--at", at, path); got != want {
				t.Fatalf("%s at %s, from a file:\n%s\nwant\n%s", id, at, got, want)
			}
		}
		whole := string(st.JSON()) + "\n"
		if got := mustRun(t, "replay", "--json", id, "--data", dir); got != whole {
			t.Errorf("%s at its end:\n%s\nwant\n%s", id, got, whole)
		}
		if got := mustRun(t, "sessions", "show", "--json", id, "--data", dir); got != whole {
			t.Errorf("show %s:\n%s\nwant\n%s", id, got, whole)
		}
		beyond := strconv.Itoa(len(events) + 1)
		ends := "the log ends at " + strconv.Itoa(len(events))
		mustFail(t, 1, []string{ends}, "replay", "--at", beyond, "--data", dir, id)
		mustFail(t, 1, []string{ends}, "replay", "--at", beyond, path)
	}
	mustFail(t, 2, []string{"--at"}, "replay", "--at", "-1", "--data", dir, "ses_ada")
}

func TestReplaySaysWhereAFileIsDamaged(t *testing.T) {
	t.Parallel()
	dir := gallery(t)
	path, text := exported(t, dir, "ses_bob")
	lines := strings.SplitAfter(text, "\n")
	lines[4] = strings.Replace(lines[4], `"seq":`, `"seq";`, 1)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	mustFail(t, 1, []string{"line 5", "damaged"}, "replay", path)
	if out := mustRun(t, "replay", "--at", "3", path); !strings.Contains(out, "at event 3") {
		t.Errorf("what is before the damage can be seen, but:\n%s", out)
	}
	mustFail(t, 1, []string{"no such session"}, "replay", "--data", dir, "ses_nobody")
	mustFail(t, 1, []string{"no such file"}, "replay", "--data", dir, "./missing.jsonl")
	mustFail(t, 1, []string{"is a directory"}, "replay", "--data", dir, filepath.Dir(path))
}
