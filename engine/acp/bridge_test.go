package acp_test

import (
	"encoding/json"
	"testing"

	"harness/engine/acp"
	"harness/engine/agenttest"
	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
)

// shell is the program's.
var shell = bridgetest.Shell{Tool: "bash", Input: `{"command":%s,"description":"work"}`}

var bridge = bridgetest.Bridge{
	Name:    "acp",
	Program: "OpenCode 1.18.33",
	Package: agenttest.OpenCode,
	Args:    []string{"acp"},
	Open: func(command []string, base program.Options) bridgetest.Engine {
		return acp.New(acp.Options{Command: command, Base: base})
	},
	Behind:  scripted,
	Shell:   shell,
	Start:   8000,
	Notice:  "bounded by this alone",
	Dialect: bridgetest.JSONRPC(scrub),
	Scenes:  scenes,
	Kinds:   everyKind,
}

// TestScenesWithTheStandIn plays every scene with what the agent said when it
// was recorded.
func TestScenesWithTheStandIn(t *testing.T) {
	t.Parallel()
	bridge.PlayRecorded(t)
}

// scrub cuts what the agent says down to what somebody may want to read.
func scrub(m map[string]any) bool {
	p, _ := m["params"].(map[string]any)
	u, _ := p["update"].(map[string]any)
	return u["sessionUpdate"] != "available_commands_update"
}

// scripted makes a server at url the agent's model; nobody else is called.
func scripted(url string) (args, env []string) {
	type m = map[string]any
	config, err := json.Marshal(m{
		"provider": m{"scripted": m{
			"npm": "@ai-sdk/openai-compatible", "name": "Scripted", "options": m{"baseURL": url + "/v1", "apiKey": "x"},
			"models": m{
				"mock":  m{"name": "Mock", "tool_call": true, "reasoning": true, "limit": m{"context": 200000, "output": 8000}},
				"other": m{"name": "Other", "tool_call": true, "limit": m{"context": 200000, "output": 8000}},
			},
		}},
		"model": "scripted/mock", "small_model": "scripted/mock", "autoupdate": false, "share": "manual", "agent": m{"title": m{"disable": true}},
		"permission": m{"bash": "ask", "edit": "ask", "webfetch": "deny"},
	})
	if err != nil {
		panic("what was written here is no JSON: " + err.Error())
	}
	return nil, []string{
		"OPENCODE_CONFIG_CONTENT=" + string(config), "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "npm_config_registry=http://127.0.0.1:9/", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost",
	}
}
