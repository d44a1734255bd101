package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// buildHarness builds the program as make does, and leaves it to be read from
// disk: in the page cache a linker leaves pieces of another size, of which more
// is mapped at once than of a program that was installed.
func buildHarness(tb testing.TB) string {
	tb.Helper()
	bin := filepath.Join(tb.TempDir(), "harness")
	build := exec.Command("go", "build", "-trimpath", "-o", bin, "./cmd/harness")
	build.Dir, build.Env = "..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		tb.Fatalf("go build: %v\n%s", err, out)
	}
	forget(tb, bin)
	return bin
}

// startStdio starts harness stdio with its threads in dir and returns when it
// has answered initialize.
func startStdio(tb testing.TB, bin, dir string, args ...string) *agent {
	tb.Helper()
	a := startAgent(tb, dir, nil, bin, append([]string{"stdio", "--store", "jsonl:" + filepath.Join(dir, ".harness")}, args...)...)
	a.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
	a.until(`"id":1,`)
	return a
}

// stdioThread makes a thread in which one turn has been.
func stdioThread(a *agent) (id string) {
	a.tb.Helper()
	a.send(`{"jsonrpc":"2.0","id":2,"method":"thread.create","params":{}}`)
	var made struct {
		Result struct{ Thread struct{ ThreadID string } }
	}
	if err := json.Unmarshal(a.until(`"id":2,`), &made); err != nil || made.Result.Thread.ThreadID == "" {
		a.tb.Fatalf("thread.create: %v", err)
	}
	a.send(stdioTurn(made.Result.Thread.ThreadID, "hello"))
	a.until(`"turn.completed"`)
	return made.Result.Thread.ThreadID
}

func stdioTurn(thread, prompt string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"turn.start","params":{"threadId":%q,"input":[{"type":"text","text":%q}]}}`, thread, prompt)
}
