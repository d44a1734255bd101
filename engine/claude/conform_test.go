package claude_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"harness/engine/enginetest"
)

// obedient is a program that does what the suite's prompts say.
type obedient struct {
	in      chan map[string]any
	session string
	uuids   []string
	stopped bool
	serial  int
}

func conform() int {
	p := &obedient{in: make(chan map[string]any), session: "s"}
	for i, a := range os.Args {
		if a == "--session-id" || a == "--resume" {
			p.session = os.Args[i+1]
		}
	}
	go func() {
		defer close(p.in)
		r := bufio.NewReader(os.Stdin)
		for {
			b, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			var m map[string]any
			_ = json.Unmarshal(b, &m)
			p.in <- m
		}
	}()
	for m := range p.in {
		if m["type"] == "user" {
			p.turn(m)
		}
	}
	return 0
}

func (p *obedient) print(m map[string]any) {
	m["session_id"] = p.session
	b, _ := json.Marshal(m)
	os.Stdout.Write(append(b, '\n'))
}

func (p *obedient) event(e map[string]any) {
	p.print(map[string]any{"type": "stream_event", "event": e})
}

func (p *obedient) say(kind, text string) {
	p.event(map[string]any{"type": "content_block_start"})
	p.event(map[string]any{"type": "content_block_delta", "delta": map[string]any{"type": kind + "_delta", kind: text}})
	p.print(map[string]any{"type": "assistant", "message": map[string]any{"id": "m", "model": "x", "content": []any{map[string]any{"type": kind, kind: text}}}})
}

// wait returns the next message of a kind, or nil if the turn was stopped.
func (p *obedient) wait(kind string) map[string]any {
	for m := range p.in {
		r, _ := m["request"].(map[string]any)
		if m["type"] == "control_request" && r["subtype"] == "interrupt" {
			p.stopped = true
			return nil
		}
		if m["type"] == kind {
			return m
		}
	}
	os.Exit(0)
	return nil
}

func (p *obedient) call(id, tool, input string) {
	p.print(map[string]any{"type": "assistant", "message": map[string]any{"id": "m", "model": "x", "content": []any{
		map[string]any{"type": "tool_use", "id": id, "name": tool, "input": json.RawMessage(input)}}}})
}

func (p *obedient) result(id, text string, failed bool) {
	p.print(map[string]any{"type": "user", "message": map[string]any{"content": []any{
		map[string]any{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed}}}})
}

// asked makes a call if it may.
func (p *obedient) asked(id, input string, do func()) {
	p.call(id, "Bash", input)
	p.print(map[string]any{"type": "control_request", "request_id": "q" + id, "request": map[string]any{
		"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": id, "input": json.RawMessage(input)}})
	m := p.wait("control_response")
	if m == nil {
		return
	}
	b, _ := json.Marshal(m)
	if strings.Contains(string(b), `"behavior":"allow"`) {
		do()
		p.result(id, "done", false)
		return
	}
	p.result(id, "no", true)
}

func (p *obedient) turn(m map[string]any) {
	p.uuids, p.stopped = []string{m["uuid"].(string)}, false
	p.print(map[string]any{"type": "system", "subtype": "init", "model": "x", "tools": []string{"Bash"}})
	p.event(map[string]any{"type": "message_start", "message": map[string]any{"id": "m", "model": "x"}})
	end := map[string]any{"type": "result", "subtype": "success", "terminal_reason": "completed", "is_error": false}
	switch text := m["message"].(map[string]any)["content"].(string); {
	case text == "fail", text == "retry":
		end["is_error"], end["terminal_reason"], end["result"] = true, "api_error", "API Error"
		end["api_error_status"] = map[string]int{"fail": 400, "retry": 529}[text]
	case text == "long":
		p.say("text", "working")
		p.wait("nothing")
	case text == "think":
		p.say("thinking", "hm")
		p.say("text", "done")
	case text == "tool":
		p.call("t1", "Read", `{"file_path":"a"}`)
		p.result("t1", "text", false)
		p.say("text", "done")
	case text == "ask":
		p.asked("t1", `{"command":"touch ran"}`, func() { _ = os.WriteFile("ran", nil, 0o600) })
		p.say("text", "done")
	case text == "steer":
		p.say("text", "waiting")
		if w := p.wait("user"); w != nil {
			p.uuids = append(p.uuids, w["uuid"].(string))
		}
	case os.Getenv("HARNESS_TEST_STORY") == "twice":
		p.asked("toolu_"+strconv.Itoa(os.Getpid()), `{"command":"rm x"}`, func() {})
		if text != "twice" {
			p.asked("toolu_again", `{"command":"rm x"}`, func() {})
		}
	case text == "resume", strings.Contains(text, "Go on from where it stopped"):
		for i := range 3 {
			done := filepath.Join(".harness", "claude", p.session+"-"+strconv.Itoa(i))
			if _, err := os.Stat(done); err == nil || p.stopped {
				continue
			}
			p.serial++
			p.asked(fmt.Sprintf("r%d-%d", os.Getpid(), p.serial), fmt.Sprintf(`{"command":"echo %d"}`, i), func() {
				_ = os.WriteFile(done, nil, 0o600)
			})
		}
	default:
		p.say("text", "hello")
	}
	if p.stopped {
		end["is_error"], end["terminal_reason"] = true, "aborted_streaming"
	}
	end["user_message_uuids"] = p.uuids
	p.print(end)
}

func TestEngineKeepsThePromisesOfEngines(t *testing.T) {
	t.Parallel()
	bridge.Promises(t, enginetest.Situations{
		Say: "say", Fail: "fail", Long: "long", Retry: "retry", Think: "think", Tool: "tool", Ask: "ask", Steer: "steer", Resume: "resume",
	})
}

// suiteModel is a model that brings the real program into the situations.
const suiteModel = `
when user "inner fail"
  status 400 No.
when user "inner retry"
  status 529 Overloaded.
when user "inner long"
  say working
  pause
when user "inner think"
  think hm
  say done
when user "inner tool" and step 1
  call Read {"file_path":"/proc/sys/kernel/ostype"}
when user "inner ask" and step 1
  call Bash {"command":"touch ran"}
when user "a word"
  say heard
when user "inner steer"
  say waiting
  slow 5ms
  say for a word that somebody may say to me while I go on talking about this and that
when user "Go on" and step 1
  call Bash {"command":"echo one"}
when user "Go on" and step 2
  call Bash {"command":"echo two"}
when user "inner resume" and step 1
  call Bash {"command":"echo one"}
when user "inner resume" and step 2
  call Bash {"command":"echo two"}
else
  say hello
`
