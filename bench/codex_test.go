package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"harness/engine/agenttest"
)

// codexBinary is the native codex.
func codexBinary(tb testing.TB) string {
	tb.Helper()
	return agenttest.Installed(tb, agenttest.Codex)
}

// codexHome makes a home whose only model is the one at url, and which calls
// nobody else.
func codexHome(tb testing.TB, url string) string {
	tb.Helper()
	dir := tb.TempDir()
	for _, sub := range []string{"home", "work", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	config := fmt.Sprintf(`model = "mock-model"
approval_policy = "never"
sandbox_mode = "read-only"
chatgpt_base_url = "http://127.0.0.1:9/backend-api/"
model_provider = "mock_provider"

[model_providers.mock_provider]
name = "scripted"
base_url = "%s/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[features]
plugins = false
apps = false
`, url)
	if err := os.WriteFile(filepath.Join(dir, "home", "config.toml"), []byte(config), 0o644); err != nil {
		tb.Fatal(err)
	}
	return dir
}

// startCodex starts the app-server and returns when it has answered
// initialize. Its TMPDIR is not above its home: it refuses to work so.
func startCodex(tb testing.TB, bin, dir string) *agent {
	tb.Helper()
	a := startAgent(tb, filepath.Join(dir, "work"), []string{
		"CODEX_HOME=" + filepath.Join(dir, "home"), "TMPDIR=" + filepath.Join(dir, "tmp"),
	}, bin, "app-server")
	a.send(`{"id":1,"method":"initialize","params":{"clientInfo":{"name":"bench","version":"0"}}}`)
	a.until(`"id":1,`)
	return a
}

// codexThread makes a thread in which one turn has been.
func codexThread(a *agent) (id string) {
	a.tb.Helper()
	a.send(`{"method":"initialized"}`)
	a.send(`{"id":2,"method":"thread/start","params":{}}`)
	var made struct {
		Result struct{ Thread struct{ ID string } }
	}
	if err := json.Unmarshal(a.until(`"id":2,`), &made); err != nil || made.Result.Thread.ID == "" {
		a.tb.Fatalf("thread/start: %v", err)
	}
	a.send(codexTurn(made.Result.Thread.ID, "hello"))
	a.until(`"turn/completed"`)
	return made.Result.Thread.ID
}

func codexTurn(thread, prompt string) string {
	return fmt.Sprintf(`{"id":3,"method":"turn/start","params":{"threadId":%q,"input":[{"type":"text","text":%q}]}}`, thread, prompt)
}
