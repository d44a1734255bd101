//go:build unix

package modeltest_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"harness/engine/agenttest"
	"harness/model/modeltest"
)

// TestTheRealCodexTakesItForAModel plays a turn with a tool call.
func TestTheRealCodexTakesItForAModel(t *testing.T) {
	t.Parallel()
	bin := agenttest.Installed(t, agenttest.Codex)
	s := modeltest.Serve(t, `
when step 1
  think A command will tell.
  say I will look.
  call exec_command {"cmd":"echo codex-$((40+2))","yield_time_ms":5000}
when result codex-42
  say "It printed codex-42, ü✓."
`)
	dir := t.TempDir()
	for _, sub := range []string{"home", "work", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	config := fmt.Sprintf(`model = "mock-model"
approval_policy = "never"
sandbox_mode = "danger-full-access"
chatgpt_base_url = "http://127.0.0.1:9/backend-api/"
model_provider = "scripted"

[model_providers.scripted]
name = "scripted"
base_url = "%s/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[features]
plugins = false
apps = false
`, s.URL)
	if err := os.WriteFile(filepath.Join(dir, "home", "config.toml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "exec", "--skip-git-repo-check", "--json", "what does it print?")
	cmd.Dir = filepath.Join(dir, "work")
	// Its TMPDIR must not be above its home: it refuses to work so.
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + filepath.Join(dir, "home"), "CODEX_HOME=" + filepath.Join(dir, "home"), "TMPDIR=" + filepath.Join(dir, "tmp")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err != nil || !strings.Contains(out.String(), "It printed codex-42, ü✓.") {
		t.Fatalf("codex: %v\n%s\n%s", err, &out, &errs)
	}
	asked := s.Requests()
	if len(asked) != 2 || asked[1].Step != 2 || len(asked[1].Results) != 1 {
		t.Errorf("asked %d times, last %+v", len(asked), asked[len(asked)-1])
	}
	if !bytes.Contains(asked[1].Body, []byte(`"encrypted_content":"c2lnbmF0dXJl`)) {
		t.Error("the thought did not come back with its signature")
	}
}
