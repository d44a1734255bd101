package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"harness/health"
)

// Recorded sessions are judged alike on every run, byte for byte: from files,
// from a folder of them, and from the store; and as they were judged live.
func TestHealthOfRecordingsIsTheSameOnEveryRun(t *testing.T) {
	t.Parallel()
	dir := gallery(t)
	shelf := t.TempDir()
	var stored, files []string
	for _, id := range slices.Sorted(slices.Values(ids(t, dir))) { // as a folder is read
		_, text := exported(t, dir, id)
		path := filepath.Join(shelf, id+".jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		stored, files = append(stored, id), append(files, path)
	}
	for _, mode := range [][]string{{"--health"}, {"--health", "--changes"}} {
		first := replaying(t, append(append([]string{"--data", dir}, mode...), stored...)...)
		if again := replaying(t, append(append([]string{"--data", dir}, mode...), stored...)...); again != first {
			t.Errorf("the second run says\n%s\nthe first\n%s", again, first)
		}
		if got := replaying(t, append(mode, files...)...); got != first {
			t.Errorf("the files say\n%s\nthe store\n%s", got, first)
		}
		for range 2 {
			if got := replaying(t, append(mode, shelf)...); got != first {
				t.Errorf("the folder says\n%s\nthe store\n%s", got, first)
			}
		}
	}
	st := replaying(t, "--health", "--data", dir, "ses_ask")
	var s health.Snapshot
	if err := json.Unmarshal([]byte(st), &s); err != nil || s.SessionID != "ses_ask" || s.Hint.Action != "approve" || s.Version != health.Version {
		t.Errorf("%s: %v", st, err)
	}
	if live := mustRun(t, "replay", "--health", "--data", dir, "ses_ask"); live != st {
		t.Errorf("another process says\n%s\nthis one\n%s", live, st)
	}
}

func TestHealthOfAThreadsLog(t *testing.T) {
	t.Parallel()
	dir := gallery(t)
	_, text := exported(t, dir, "ses_bob")
	lines := strings.SplitAfter(text, "\n")
	log := filepath.Join(t.TempDir(), "events.jsonl")
	whole := strings.Join(lines[:len(lines)-2], "") // without the seal
	if err := os.WriteFile(log, []byte(whole+`{"seq":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := replaying(t, "--health", log), replaying(t, "--health", "--data", dir, "ses_bob"); got != want {
		t.Errorf("the log says\n%s\nthe store\n%s", got, want)
	}
	mustFail(t, 1, []string{"no such"}, "replay", "--health", "--data", dir, "ses_nobody")
	mustFail(t, 2, []string{"unexpected argument"}, "replay", "--data", dir, "ses_bob", "ses_ada")
	mustFail(t, 1, []string{"the log ends"}, "replay", "--health", "--at", "999", log)
}
