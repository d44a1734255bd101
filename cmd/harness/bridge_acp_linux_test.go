package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"harness/engine/agenttest"
)

// openCode is OpenCode over ACP. Its model is its own business: what it needs for
// that comes with it.
var openCode = agentUnderTest{agenttest.OpenCode, func(p *bridgePlay, bin string) []string {
	config, err := json.Marshal(fields{
		"provider": fields{"scripted": fields{
			"npm": "@ai-sdk/openai-compatible", "name": "Scripted", "options": fields{"baseURL": p.models.URL + "/v1", "apiKey": "x"},
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
	return []string{"--engine", "acp:" + wrapper, "--sandbox-network", "--sandbox-read", filepath.Dir(bin) + "," + wrapper}
}}

// TestOpenCodeOverEveryProtocol is what the bridge must show, with the real
// agent and the real server.
func TestOpenCodeOverEveryProtocol(t *testing.T) {
	t.Parallel()
	openCode.playAll(t, []bridgeScene{ // one session: it takes seconds to start
		{"text then permission then cancel", "rest", "ws", `
when user "again"
  say Back.
when user "half"
  say Half
  pause
when user "look" and step 1 and tool bash
  call bash {"command":"echo made > made.txt; cat made.txt","description":"look"}
when user "look"
  say It says so.
else
  say Hello there.`, func(p *bridgePlay) {
			p.say("hello")
			p.said("Hello there.")
			p.over("ws", "rpc")
			p.say("look")
			p.allow()
			p.said("It says so.")
			p.called("execute ok")
			p.holds("made.txt", "made\n")
			p.over("rpc", "sse")
			p.say("half")
			p.until("the first half", func(v *known) bool { return strings.Contains(v.text, "Half") })
			p.hand.cancel()
			p.until("its end", func(v *known) bool { return !v.busy })
			p.say("again")
			p.said("Back.")
		}},
	}, "text then permission then cancel")
}
