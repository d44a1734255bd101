package claude_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"harness"
	"harness/engine/agenttest"
	"harness/engine/claude"
	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
)

// shell is the program's.
var shell = bridgetest.Shell{Tool: "Bash", Input: `{"command":%s}`}

var bridge = bridgetest.Bridge{
	Name:    "claude",
	Program: "Claude Code 2.1.325",
	Package: agenttest.Claude,
	Open: func(command []string, base program.Options) bridgetest.Engine {
		return claude.New(claude.Options{Program: command, Base: base})
	},
	Behind: func(url string) (args, env []string) {
		return nil, []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=dummy", "CLAUDE_CODE_MAX_RETRIES=1"}
	},
	Config:  harness.ConfigPatch{Model: new("claude-opus-5-5")},
	Shell:   shell,
	Notice:  "claude's own sandbox is off",
	Dialect: bridgetest.Dialect{Kind: kind, Flags: []string{"--session-id", "--resume"}, Learn: learn, Now: now, Scrub: scrub},
	Scenes:  scenes,
	Always:  []string{"text", "restart", "steer_text"}, // others are played over the protocols, all with what was recorded
	InCI:    []string{"interrupt_early", "always_suggested", "edit_always", "edit_rules", "plan", "compact", "max_turns", "agent", "parallel"},
}

// TestScenesWithTheStandIn plays every scene with what the program said when it
// was recorded.
func TestScenesWithTheStandIn(t *testing.T) {
	t.Parallel()
	bridge.PlayRecorded(t)
}

// kind tells messages to the program apart: by what they are, not when they come.
func kind(b []byte) string {
	var m struct {
		Type     string
		Request  struct{ Subtype string }
		Message  struct{ Content any }
		Response struct {
			RequestID string `json:"request_id"`
		}
	}
	_ = json.Unmarshal(b, &m)
	return fmt.Sprint(m.Type, m.Request.Subtype, m.Response.RequestID, m.Message.Content)
}

// learn notes the identifiers of messages and requests.
func learn(names map[string]string, was, is map[string]any) {
	for _, id := range []string{"uuid", "request_id"} {
		a, aok := was[id].(string)
		b, bok := is[id].(string)
		if aok && bok && id == "uuid" {
			names[a] = b
		}
		if aok && bok && a != b && id == "request_id" {
			names[strconv.Quote(a)] = strconv.Quote(b)
		}
		delete(was, id)
		delete(is, id)
	}
}

// now is a recorded line with today's identifiers.
func now(names map[string]string, line []byte) []byte {
	s := string(line)
	for was, is := range names {
		s = strings.ReplaceAll(s, was, is)
	}
	return []byte(s)
}

// trimmed are fields of messages that are long and that nobody reads.
var trimmed = []string{
	"slash_commands", "agents", "skills", "plugins", "mcp_servers", "output_style", "capabilities", "messaging_socket_path", "memory_paths", "analytics_disabled",
	"claude_code_version", "fast_mode_state", "apiKeySource", "product_feedback_disabled", "terminal_slash_commands", "fast_mode_disabled_reason", "per_turn_effort_active", "additional_directories", "original_cwd", "output_file", "tool_result_meta",
}

// scrub cuts what the program says about itself down to what the engine reads.
func scrub(m map[string]any) bool {
	for _, name := range trimmed {
		delete(m, name)
	}
	if e, ok := m["event"].(map[string]any); ok {
		if d, ok := e["delta"].(map[string]any); ok && d["partial_json"] != nil {
			d["partial_json"] = "" // the whole comes after the pieces
		}
	}
	if r, ok := m["response"].(map[string]any); ok {
		if inner, ok := r["response"].(map[string]any); ok && inner["commands"] != nil {
			r["response"] = map[string]any{}
		}
		delete(r, "pending_permission_requests")
	}
	return true
}
