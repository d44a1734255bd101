package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"harness/engine/agenttest"
)

// openCode is OpenCode over ACP. Which model it asks is its own business, and its
// configuration says that it does so where it is told to: it has no network but
// the way out, and no key but its token for that.
var openCode = agentUnderTest{agenttest.OpenCode, func(p *bridgePlay, bin string) []string {
	config, err := json.Marshal(fields{
		"provider": fields{"scripted": fields{
			"npm": "@ai-sdk/openai-compatible", "name": "Scripted", "options": fields{"baseURL": "{env:OPENAI_BASE_URL}", "apiKey": "{env:OPENAI_API_KEY}"},
			"models": fields{"mock": fields{"name": "Mock", "tool_call": true, "limit": fields{"context": 200000, "output": 8000}}},
		}},
		"model": "scripted/mock", "small_model": "scripted/mock", "autoupdate": false, "share": "manual", "agent": fields{"title": fields{"disable": true}},
		"permission": fields{"bash": "ask", "edit": "ask", "webfetch": "deny"},
	})
	if err != nil {
		p.Fatal(err)
	}
	wrapper := p.wrapper(bin, []string{
		"OPENCODE_CONFIG_CONTENT=" + string(config), "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		"OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "npm_config_registry=http://127.0.0.1:9/", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost",
	}, "acp")
	return []string{
		"--engine", "acp:" + wrapper, "--sandbox-read", filepath.Dir(bin) + "," + wrapper,
		"--key", "openai=" + p.key(), "--model-url", "openai=" + p.models.URL,
	}
}}

// looksAround counts where the key is found, and lists networks. It is a file
// because OpenCode asks about the paths that it finds in a command line.
const looksAround = `cat /proc/*/environ /proc/*/cmdline 2>/dev/null | grep -a -c 'sk-test[-]0123456789' > key.txt
sed 1,2d /proc/net/dev | cut -d: -f1 | tr -d " " > nets.txt
`

// TestOpenCodeOverEveryProtocol is what the bridge must show, with the real
// agent and the real server.
func TestOpenCodeOverEveryProtocol(t *testing.T) {
	t.Parallel()
	openCode.playAll(t, []bridgeScene{anAgent("bash", "Authorization", "Bearer ")}, "text then permission then cancel")
}

// claudeAdapter is Claude Code behind claude-agent-acp.
var claudeAdapter = agentUnderTest{agenttest.ClaudeACP, func(p *bridgePlay, bin string) []string {
	claude := agenttest.Installed(p, agenttest.Claude)
	command := agenttest.Command(p, agenttest.ClaudeACP)
	wrapper := p.wrapper(command[0], []string{"CLAUDE_CODE_EXECUTABLE=" + claude, "CLAUDE_CODE_MAX_RETRIES=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}, command[1:]...)
	modules := bin[:strings.Index(bin, "/@agentclientprotocol/")]
	return []string{
		"--engine", "acp:" + wrapper, "--sandbox-read", strings.Join([]string{wrapper, claude, modules, command[0]}, ","),
		"--key", "anthropic=" + p.key(), "--model-url", "anthropic=" + p.models.URL,
	}
}}

// TestClaudeAgentACPOverEveryProtocol is the same with another agent.
func TestClaudeAgentACPOverEveryProtocol(t *testing.T) {
	t.Parallel()
	claudeAdapter.playAll(t, []bridgeScene{anAgent("Bash", "X-Api-Key", "")})
}

// gemini is Gemini CLI. It reads what the way out tells it of Google by itself.
var gemini = agentUnderTest{agenttest.Gemini, func(p *bridgePlay, bin string) []string {
	command := agenttest.Command(p, agenttest.Gemini)
	wrapper := p.wrapper(command[0], []string{"GEMINI_TELEMETRY_ENABLED=false"}, append(command[1:], "--acp", "-m", "gemini-2.5-pro")...)
	modules := bin[:strings.Index(bin, "/@google/")]
	return []string{
		"--engine", "acp:" + wrapper, "--sandbox-read", strings.Join([]string{wrapper, modules, command[0]}, ","),
		"--key", "google=" + p.key(), "--model-url", "google=" + p.models.URL,
	}
}}

// TestGeminiCLIOverEveryProtocol is the same with another one.
func TestGeminiCLIOverEveryProtocol(t *testing.T) {
	t.Parallel()
	gemini.playAll(t, []bridgeScene{anAgent("run_shell_command", "X-Goog-Api-Key", "")})
}

// TestGeminiCLIHearsThatItsBudgetIsSpent: it comes again for minutes after an
// error that could pass.
func TestGeminiCLIHearsThatItsBudgetIsSpent(t *testing.T) {
	t.Parallel()
	poor := agentUnderTest{gemini.program, func(p *bridgePlay, bin string) []string {
		return append(gemini.serve(p, bin), "--egress-tokens", "5")
	}}
	poor.playAll(t, []bridgeScene{{"a spent budget", "rest", "ws", "usage in=10 out=7\nsay Hello there.", func(p *bridgePlay) {
		p.say("hello")
		p.said("Hello there.")
		p.say("again")
		p.until("its end", func(v *known) bool { return strings.Contains(v.failed, "token budget of this run is used up") })
		if n := len(p.models.Requests()); n != 1 {
			p.Errorf("the model was asked %d times", n)
		}
	}}})
}

// anAgent is what any agent must have, whose shell and header with a key are
// named so. It is one session, since they take seconds to start.
func anAgent(shell, header, prefix string) bridgeScene {
	return bridgeScene{"text then permission then cancel", "rest", "ws", strings.ReplaceAll(`
when user "again"
  say Back.
when user "half"
  say Half
  pause
when user "look" and step 1 and tool SHELL
  call SHELL {"command":"sh look.sh; echo made > made.txt; cat made.txt","description":"look"}
when user "look"
  say It says so.
else
  say Hello there.`, "SHELL", shell), func(p *bridgePlay) {
		p.say("hello")
		p.said("Hello there.")
		p.over("ws", "rpc")
		if err := os.WriteFile(filepath.Join(p.dir, "look.sh"), []byte(looksAround), 0o600); err != nil {
			p.Fatal(err)
		}
		p.say("look")
		p.allow()
		p.said("It says so.")
		p.called("execute ok")
		p.holds("made.txt", "made\n")
		p.holds("key.txt", "0\n")   // the key is not there
		p.holds("nets.txt", "lo\n") // nor a network but the way out's
		if got := p.models.Requests()[0].Header.Get(header); got != prefix+modelKey {
			p.Errorf("the model was asked with %q", got)
		}
		p.over("rpc", "sse")
		p.say("half")
		p.until("the first half", func(v *known) bool { return strings.Contains(v.text, "Half") })
		p.hand.cancel()
		p.until("its end", func(v *known) bool { return !v.busy })
		p.say("again")
		p.said("Back.")
	}}
}
