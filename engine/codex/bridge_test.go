package codex_test

import (
	"testing"

	"harness/engine/agenttest"
	"harness/engine/codex"
	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
)

// shell is the program's.
var shell = bridgetest.Shell{Tool: "exec_command", Input: `{"cmd":%s,"yield_time_ms":20000}`}

var bridge = bridgetest.Bridge{
	Name:    "codex",
	Program: "Codex 0.166.0",
	Package: agenttest.Codex,
	Open: func(command []string, base program.Options) bridgetest.Engine {
		return codex.New(codex.Options{Program: command, Base: base})
	},
	Behind: func(url string) (args, env []string) {
		return []string{
			"-c", `model="mock-model"`, "-c", `chatgpt_base_url="http://127.0.0.1:9/backend-api/"`, "-c", `model_provider="scripted"`,
			"-c", `model_providers.scripted={name="scripted",base_url="` + url + `/v1",wire_api="responses",request_max_retries=0,stream_max_retries=0}`,
		}, nil
	},
	Shell:   shell,
	Notice:  "codex's own sandbox is off",
	Dialect: bridgetest.JSONRPC(scrub),
	Scenes:  scenes,
	Kinds:   everyKind,
	Always:  []string{"text", "patch", "restart"}, // others are played over the protocols, all with what was recorded
	InCI:    []string{"session", "compact", "max_turns"},
}

// TestScenesWithTheStandIn plays every scene with what the program said when it
// was recorded.
func TestScenesWithTheStandIn(t *testing.T) {
	t.Parallel()
	bridge.PlayRecorded(t)
}

// scrub cuts what the program says down to what somebody may want to read.
func scrub(m map[string]any) bool {
	switch m["method"] {
	case "remoteControl/status/changed", "account/rateLimits/updated", "thread/readState/changed", "thread/settings/updated", "warning", "mcpServer/startupStatus/updated":
		return false
	}
	for _, in := range []string{"params", "result"} {
		p, ok := m[in].(map[string]any)
		if !ok {
			continue
		}
		delete(p, "userAgent")
		if th, ok := p["thread"].(map[string]any); ok {
			p["thread"] = map[string]any{"id": th["id"], "status": th["status"]}
			for _, name := range []string{"instructionSources", "permissionProfile", "activePermissionProfile", "runtimeWorkspaceRoots", "sandbox", "reasoningEffort", "serviceTier", "multiAgentMode"} {
				delete(p, name)
			}
		}
	}
	return true
}
