package jsonl_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"harness"
)

// manyThreads fills a directory with so many threads that were closed in order.
// Their logs are not readable as logs: whoever reads one will notice.
func manyThreads(t testing.TB, dir string, n int) {
	t.Helper()
	garbage := bytes.Repeat([]byte("x"), 500)
	for i := range n {
		id := fmt.Sprintf("ses_%08d", i)
		if err := os.MkdirAll(filepath.Join(dir, "threads", id), 0o700); err != nil {
			t.Fatal(err)
		}
		status := harness.Idle
		if i%500 == 0 {
			status = harness.AwaitingApproval
		}
		meta, err := json.MarshalIndent(map[string]any{
			"threadId": id, "title": "number", "directory": "/somewhere", "created": i, "updated": i * 1000, "kind": "chat", "schema": 1,
			"status": status, "user": fmt.Sprintf("user %d", i%100), "messages": 3, "seq": 9, "size": len(garbage),
		}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		store(t, file(dir, harness.SessionID(id), "meta.json"), meta)
		store(t, file(dir, harness.SessionID(id), "events.jsonl"), garbage)
	}
}

func TestAListOfManyThreadsReadsNoLog(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".harness")
	threads := 2_000
	if os.Getenv("LONG") != "" {
		threads = 10_000
	}
	manyThreads(t, dir, threads)
	st := open(t, dir)
	n := 0
	for r, err := range st.List(t.Context(), harness.Filter{}) {
		n++
		if want := fmt.Sprintf("ses_%08d", threads-n); err != nil || string(r.Session) != want || r.Seq != 9 || r.Title != "number" {
			t.Fatalf("row %d: %+v, %v", n, r, err)
		}
	}
	if n != threads {
		t.Fatalf("%d rows", n)
	}
	if _, err := fold(t, st, "ses_00000001"); harness.AsError(err) != harness.ErrCorrupt {
		t.Fatalf("the logs can be read: %v", err)
	}
}
