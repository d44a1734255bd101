package claude

import (
	"os"
	"strings"
	"testing"

	"harness"
)

func TestWhatCannotChangeLiveNeedsAnotherProcess(t *testing.T) {
	t.Parallel()
	from := harness.Config{Model: "a", Effort: harness.EffortLow}
	for _, c := range []struct {
		to   harness.Config
		want string
		live bool
	}{
		{from, `null`, true},
		{harness.Config{Model: "b", Effort: harness.EffortLow, PermissionMode: harness.AcceptEdits}, `[{"subtype":"set_model","model":"b"}]`, true},
		{harness.Config{Model: "a", Effort: harness.EffortMax}, `[{"subtype":"apply_flag_settings","settings":{"effortLevel":"max"}}]`, true},
		{harness.Config{Effort: harness.EffortLow}, `[{"subtype":"set_model"}]`, true},
		{harness.Config{Model: "a"}, `null`, false},
		{harness.Config{Model: "a", Effort: harness.EffortLow, MaxTurns: 3}, `null`, false},
		{harness.Config{Model: "a", Effort: harness.EffortLow, SystemPrompt: "x"}, `null`, false},
	} {
		requests, live := changes(from, c.to)
		if got := encode(t, requests); got != c.want || live != c.live {
			t.Errorf("%+v: %s, %t; want %s, %t", c.to, got, live, c.want, c.live)
		}
		if r, ok := changes(from, liveOnly(from, c.to)); !ok {
			t.Errorf("%+v: the live part is not live: %v", c.to, r)
		}
	}
}

func TestTheEnvironmentIsAList(t *testing.T) {
	t.Parallel()
	got := strings.Join(environ("/s"), "\n")
	for _, name := range []string{"PATH=", "HOME=/s", "CLAUDE_CONFIG_DIR=/s/config", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1"} {
		if !strings.Contains(got, name) {
			t.Errorf("%s is missing in\n%s", name, got)
		}
	}
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); strings.HasPrefix(name, "GO") && strings.Contains(got, name+"=") {
			t.Errorf("%s is inherited", name)
		}
	}
}
