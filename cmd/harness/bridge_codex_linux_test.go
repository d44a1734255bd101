package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"harness/engine/agenttest"
)

// codexCLI is Codex.
var codexCLI = agentUnderTest{agenttest.Codex, func(p *bridgePlay, bin string) []string {
	return []string{
		"--engine", "codex:" + bin, "--sandbox-read", filepath.Dir(filepath.Dir(bin)),
		"--model", "openai", "--key", "openai=" + p.key(), "--model-url", "openai=" + p.models.URL,
	}
}}

// TestCodexOverEveryProtocol is what the bridge must show, with the real program
// and the real server.
func TestCodexOverEveryProtocol(t *testing.T) {
	t.Parallel()
	codexCLI.playAll(t, codexScenes, "text and usage", "accept", "interrupt", "steer")
}

var codexScenes = []bridgeScene{
	{"text and usage", "ws", "rpc", "think A greeting.\nsay Hello there.\nusage in=10 out=7", func(p *bridgePlay) {
		p.say("hello")
		if v := p.said("Hello there."); v.used != 7 {
			p.Errorf("it used %v tokens", v.used)
		}
	}},
	{"usage", "rpc", "sse", "say Hello there.\nusage in=10 out=7", func(p *bridgePlay) {
		p.say("hello")
		if v := p.said("Hello there."); v.used != 7 {
			p.Errorf("it used %v tokens", v.used)
		}
	}},
	{"accept", "rpc", "ws", `
when step 1
  call exec_command {"cmd":"echo made > made.txt; cat made.txt","yield_time_ms":5000}
else
  say It says so.`, func(p *bridgePlay) {
		p.say("what does it say?")
		p.allow()
		p.said("It says so.")
		p.called("exec_command ok")
		p.holds("made.txt", "made\n")
	}},
	{"decline", "ws", "sse", `
when user "Sunday"
  say Then not.
when step 1
  call exec_command {"cmd":"touch no.txt","yield_time_ms":5000}
else
  say Why not?`, func(p *bridgePlay) {
		p.say("touch")
		p.hand.answer(p.asked(), "deny", "once", "not on a Sunday")
		p.said("Then not.")
		p.called("exec_command denied")
		p.told("not on a Sunday")
		if _, err := os.Stat(filepath.Join(p.dir, "no.txt")); err == nil {
			p.Error("it ran")
		}
	}},
	{"interrupt", "rest", "rpc", `
when user "again"
  say Back.
else
  say Half
  pause`, interrupts},
	{"steer", "rpc", "sse", `
when user "banana"
  say I heard you.
else
  call exec_command {"cmd":"while [ ! -e heard ]; do sleep 0.05; done; echo slept","yield_time_ms":20000}`, func(p *bridgePlay) {
		p.say("go")
		p.allow()
		p.hand.steer("say banana")
		if err := os.WriteFile(filepath.Join(p.dir, "heard"), nil, 0o600); err != nil {
			p.Fatal(err)
		}
		p.said("I heard you.")
		p.told("slept")
	}},
	{"resume", "ws", "rpc", `
when user "two"
  say The second.
else
  say The first.`, func(p *bridgePlay) {
		p.say("one")
		p.said("The first.")
		p.server.kill()
		p.start(agenttest.Installed(p, agenttest.Codex))
		p.say("two")
		p.said("The second.")
		p.told("The first.")
	}},
	{"fork", "rpc", "ws", `
when user "three"
  say The third.
when user "two"
  say The second.
else
  say The first.`, forks},
}

// interrupts stops a turn, and goes on with the session.
func interrupts(p *bridgePlay) {
	p.say("go")
	p.until("the first half", func(v *known) bool { return strings.Contains(v.text, "Half") })
	p.hand.cancel()
	p.until("its end", func(v *known) bool { return !v.busy })
	p.say("again")
	p.said("Back.")
}

// forks branches off after the first turn, and goes on there.
func forks(p *bridgePlay) {
	p.say("one")
	at := p.said("The first.").seq
	p.say("two")
	p.said("The second.")
	p.id = p.hand.fork(at)
	p.eye = p.server.eye(p.T, p.bridgeScene.see, p.id)
	p.say("three")
	p.said("The third.")
	p.told("The first.", "The second.")
}
