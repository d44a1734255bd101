package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"harness/engine/agenttest"
)

// claudeCode is Claude Code with one retry of its own.
var claudeCode = agentUnderTest{agenttest.Claude, func(p *bridgePlay, bin string) []string {
	wrapper := p.wrapper(bin, []string{"CLAUDE_CODE_MAX_RETRIES=1"})
	return []string{
		"--engine", "claude:" + wrapper, "--sandbox-read", bin + "," + wrapper,
		"--model", "anthropic", "--key", "anthropic=" + p.key(), "--model-url", "anthropic=" + p.models.URL,
	}
}}

// TestClaudeCodeOverEveryProtocol is what the bridge must show, with the real
// program and the real server.
func TestClaudeCodeOverEveryProtocol(t *testing.T) {
	t.Parallel()
	claudeCode.playAll(t, claudeScenes, "tool allow", "resume after kill -9 of the server", "question")
}

var claudeScenes = []bridgeScene{
	{"text", "ws", "sse", "think A greeting.\nsay Hello there.", func(p *bridgePlay) {
		p.say("hello")
		p.said("Hello there.")
	}},
	{"tool allow", "rest", "rpc", `
when step 1
  say I will look.
  call Bash {"command":"echo made > made.txt; cat made.txt"}
else
  say It says so.`, func(p *bridgePlay) {
		p.say("what does it say?")
		p.allow()
		p.said("It says so.")
		p.called("Bash ok")
		p.holds("made.txt", "made\n")
	}},
	{"tool deny", "ws", "rpc", `
when step 1
  call Write {"file_path":"$WORK/no.txt","content":"x"}
else
  say Then not.`, func(p *bridgePlay) {
		p.say("write")
		p.hand.answer(p.asked(), "deny", "once", "not on a Sunday")
		p.said("Then not.")
		p.called("Write denied")
		p.told("not on a Sunday")
		p.holds("no.txt", "")
	}},
	{"always", "rpc", "sse", `
when step 1
  call Bash {"command":"echo one"}
when step 2
  call Bash {"command":"echo one"}
else
  say Both.`, func(p *bridgePlay) {
		p.say("both")
		p.hand.answer(p.asked(), "allow", "always", "")
		if v := p.said("Both."); v.asked != 1 {
			p.Errorf("it was asked %d times", v.asked)
		}
		p.called("Bash ok", "Bash ok")
	}},
	{"interrupt", "rpc", "ws", `
when user "again"
  say Back.
else
  say Half
  pause`, interrupts},
	{"steer", "ws", "sse", `
when step 1
  call Bash {"command":"while [ ! -e heard ]; do sleep 0.05; done; echo slept"}
else
  say I heard you.`, func(p *bridgePlay) {
		p.say("go")
		p.allow()
		p.hand.steer("say banana")
		if err := os.WriteFile(filepath.Join(p.dir, "heard"), nil, 0o600); err != nil {
			p.Fatal(err)
		}
		p.said("I heard you.")
		p.told("say banana")
		p.told("slept")
	}},
	{"queue", "rest", "ws", `
when user "second"
  say Two.
when step 1
  call Bash {"command":"echo one"}
else
  say One.`, func(p *bridgePlay) {
		p.say("first")
		q := p.asked()
		p.say("second")
		p.hand.answer(q, "allow", "once", "")
		if v := p.said("Two."); !strings.Contains(v.text, "One.") {
			p.Errorf("it said %q", v.text)
		}
	}},
	{"resume after kill -9", "rpc", "ws", resumed, func(p *bridgePlay) {
		p.say("go")
		p.allow()
		p.until("half of the answer", func(v *known) bool { return strings.Contains(v.text, "Half") })
		notedDown(p)
		if err := syscall.Kill(p.process(), syscall.SIGKILL); err != nil {
			p.Fatal(err)
		}
		p.until("the failure", func(v *known) bool { return !v.busy && v.failed != "" })
		p.say("again")
		p.until("the answer", func(v *known) bool { return !v.busy && strings.Contains(v.text, "Back.") })
		p.told("echo one")
	}},
	{"resume after kill -9 of the server", "rest", "ws", resumed, func(p *bridgePlay) {
		p.say("go")
		p.allow()
		p.until("half of the answer", func(v *known) bool { return strings.Contains(v.text, "Half") })
		notedDown(p)
		p.server.kill()
		p.start(agenttest.Installed(p, agenttest.Claude))
		p.until("the failure", func(v *known) bool { return !v.busy && v.failed != "" })
		p.say("again")
		p.until("the answer", func(v *known) bool { return !v.busy && strings.Contains(v.text, "Back.") })
		p.told("echo one")
	}},
	{"fork", "rest", "rpc", `
when user "three"
  say The third.
when user "two"
  say The second.
else
  say The first.`, forks},
	{"rewind", "rpc", "sse", writes, rewinds},
	{"rewind", "rest", "ws", writes, rewinds},
	{"model mode and effort", "rpc", "ws", `
when user "edit" and step 1
  call Write {"file_path":"$WORK/a.txt","content":"a"}
else
  say Done.`, func(p *bridgePlay) {
		p.say("one")
		p.said("Done.")
		p.hand.configure("acceptEdits", "claude-haiku-4-5", "low")
		p.say("edit")
		p.until("the edit", func(v *known) bool { return !v.busy && len(v.calls) > 0 }) // and nobody was asked
		p.told(`"model":"claude-haiku-4-5"`)
		p.holds("a.txt", "a")
		p.hand.configure("acceptEdits", "claude-opus-5-5", "low") // which knows efforts
		n := len(p.models.Requests())
		p.say("three")
		p.until("the third turn", func(v *known) bool { return !v.busy && len(p.models.Requests()) > n })
		p.told(`"effort":"low"`)
	}},
	{"subagent", "ws", "sse", `
when user "inner" and step 1
  say inner text
  call Bash {"command":"echo inner"}
when user "inner"
  say inner done
when step 1
  call Task {"description":"sub work","prompt":"inner work","subagent_type":"general-purpose"}
else
  say All done.`, func(p *bridgePlay) {
		p.say("delegate")
		p.allow()
		if v := p.said("All done."); v.agents == 0 {
			p.Error("nobody was told of the subagent")
		}
	}},
	{"question", "rpc", "sse", `
when step 1
  call AskUserQuestion {"questions":[{"question":"Which colour?","header":"Colour","multiSelect":false,"options":[{"label":"Red","description":"r"},{"label":"Blue","description":"b"}]}]}
else
  say Good.`, func(p *bridgePlay) {
		p.say("paint")
		p.hand.answer(p.asked(), "allow", "once", "Blue")
		p.said("Good.")
		p.told("Blue")
	}},
	{"error 400", "ws", "rpc", "status 400 No such thing.", fails("400")},
	{"error 429", "rest", "ws", "status 429 Slow down.", fails("429")},
	{"error 500", "rpc", "sse", "status 500 Oops.", fails("500")},
	{"error 529", "ws", "sse", "status 529 Overloaded.", fails("529")},
}

// resumed stops in the middle of its second answer.
const resumed = `
when user "again"
  say Back.
when step 1
  say Working.
  call Bash {"command":"echo one"}
else
  say Half
  pause`

// notedDown waits until the program has written down what it did: it does so when
// it has time.
func notedDown(p *bridgePlay) {
	p.Helper()
	until(p, "the program's own record", func() bool {
		all, err := filepath.Glob(filepath.Join(p.data, "agents/claude", p.id, "config/projects/*/*.jsonl"))
		if err != nil || len(all) == 0 {
			return false
		}
		b, err := os.ReadFile(all[0])
		return err == nil && strings.Contains(string(b), "echo one") && strings.Contains(string(b), "tool_result")
	})
}

// writes makes a file.
const writes = `
when step 1
  call Write {"file_path":"$WORK/a.txt","content":"a"}
else
  say Written.`

// rewinds takes a file back, at first only to see what that would do.
func rewinds(p *bridgePlay) {
	p.say("write")
	p.allow()
	first := p.said("Written.").first
	p.holds("a.txt", "a")
	p.hand.rewind(first, true)
	p.until("what it would do", func(v *known) bool { return v.rewound == "dry a.txt" })
	p.holds("a.txt", "a")
	p.hand.rewind(first, false)
	p.until("what it did", func(v *known) bool { return v.rewound == "a.txt" })
	p.holds("a.txt", "")
}

// fails says why, and the session takes another prompt.
func fails(status string) func(*bridgePlay) {
	return func(p *bridgePlay) {
		p.say("go")
		v := p.until("the failure", func(v *known) bool { return !v.busy && v.failed != "" })
		if !strings.Contains(v.failed, status) {
			p.Errorf("it failed with %q", v.failed)
		}
		n, at := len(p.models.Requests()), v.seq
		p.say("go on")
		p.until("another try", func(v *known) bool { return v.seq > at && !v.busy && v.failed != "" && len(p.models.Requests()) > n })
	}
}
