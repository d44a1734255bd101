package acp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"harness/engine/internal/bridgetest"
)

// agent is one that does what its prompts say.
type agent struct {
	in   *bufio.Reader
	dir  string
	next int
}

type message struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Dir    string `json:"cwd"`
		Prompt []struct{ Text string }
	}
	Result json.RawMessage
	Error  json.RawMessage
}

func (a *agent) read() message {
	b, err := a.in.ReadBytes('\n')
	if err != nil {
		os.Exit(0)
	}
	var m message
	_ = json.Unmarshal(b, &m)
	return m
}

func (a *agent) reply(m message, result string) {
	fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
}

func (a *agent) update(kind, fields string) {
	fmt.Printf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":%q%s}}}`+"\n", kind, fields)
}

func (a *agent) say(text string) {
	a.update("agent_message_chunk", fmt.Sprintf(`,"content":{"type":"text","text":%q}`, text))
}

// ask sends a request and returns the answer; false if the turn was cancelled.
func (a *agent) ask(method, params string) (message, bool) {
	a.next++
	id := strconv.Itoa(a.next)
	fmt.Printf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{"sessionId":"s",%s}}`+"\n", id, method, params)
	stopped := false
	for {
		m := a.read()
		switch {
		case m.Method == "session/cancel":
			stopped = true
		case string(m.ID) == id && m.Method == "":
			return m, !stopped && !strings.Contains(string(m.Result), `"cancelled"`)
		}
	}
}

// stopped waits for the turn to be cancelled.
func (a *agent) stopped() {
	for a.read().Method != "session/cancel" {
	}
}

// asked makes a call if it may; false if the turn was cancelled.
func (a *agent) asked(id, command string, do func()) bool {
	call := fmt.Sprintf(`"toolCallId":%q,"title":%q,"kind":"execute","status":"pending","rawInput":{"command":%q}`, id, command, command)
	m, ok := a.ask("session/request_permission", `"toolCall":{`+call+`},"options":[{"optionId":"y","kind":"allow_once"},{"optionId":"n","kind":"reject_once"}]`)
	if !ok {
		return false
	}
	status := "failed"
	if strings.Contains(string(m.Result), `"y"`) {
		do()
		status = "completed"
	}
	a.update("tool_call_update", fmt.Sprintf(`,"toolCallId":%q,"status":%q`, id, status))
	return true
}

// perform is the agent; how is what is special about it.
func perform(how string) int {
	a := &agent{in: bufio.NewReader(os.Stdin)}
	for {
		m := a.read()
		switch m.Method {
		case "initialize":
			can := `{"loadSession":true}`
			if how == "forgetful" {
				can = "{}"
			}
			a.reply(m, `{"protocolVersion":1,"agentCapabilities":`+can+`}`)
		case "session/new", "session/load":
			a.dir = m.Params.Dir
			if m.Method == "session/load" {
				a.say("what was said before")
			}
			a.reply(m, `{"sessionId":"s","modes":{"currentModeId":"ask","availableModes":[{"id":"ask"},{"id":"plan"}]}}`)
		case "session/prompt":
			if code := a.turn(m, how); code >= 0 {
				return code
			}
		default:
			if m.ID != nil && m.Method != "" {
				a.reply(m, "{}")
			}
		}
	}
}

// turn does what a prompt says, or what is wrong with the agent. It returns the
// exit code, or -1 to go on.
func (a *agent) turn(m message, how string) int {
	text := m.Params.Prompt[0].Text
	if strings.HasSuffix(text, "wrong") {
		a.say("Half")
		if code, all := bridgetest.Fault(how).Commit(a.in, os.Stdout, os.Stderr); all {
			return code
		}
		switch how {
		case "exit1":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no more"}}`+"\n", m.ID)
			return 1
		case "stray":
			a.update("tool_call", `,"toolCallId":"t","title":"x","kind":"execute","status":"completed"`)
		case "unknown":
			a.update("brand_new", "")
			a.update("brand_new", "")
			fmt.Println(`{"jsonrpc":"2.0","method":"_brand/new","params":{}}`)
			a.ask("_brand/request", `"x":1`)
		}
	}
	if how == "clock" {
		t := time.NewTicker(time.Millisecond)
		defer t.Stop()
		for range 200 {
			<-t.C
			a.say(strconv.FormatInt(time.Now().UnixNano(), 10) + " ")
		}
	}
	if how == "busy" { // with processes of its own, and ones of ours, that try to stay
		stay := exec.Command("sh", "-c", `trap "" TERM INT HUP; setsid sleep 300 & while :; do sleep 0.1; done`)
		if err := stay.Start(); err != nil {
			return 70
		}
		a.update("tool_call", `,"toolCallId":"t","title":"x","kind":"execute","status":"in_progress"`)
		text = `run trap "" TERM; setsid sleep 300 & sleep 30`
	}
	if !a.obey(text) {
		a.reply(m, `{"stopReason":"cancelled"}`)
		return -1
	}
	if text == "fail" {
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no"}}`+"\n", m.ID)
		return -1
	}
	a.reply(m, `{"stopReason":"end_turn"}`)
	return -1
}

// obey does what a prompt says; false if the turn was cancelled.
func (a *agent) obey(text string) bool {
	switch verb, rest, _ := strings.Cut(text, " "); verb {
	case "fail":
	case "long":
		a.say("working")
		a.stopped()
		return false
	case "think":
		a.update("agent_thought_chunk", `,"content":{"type":"text","text":"hm"}`)
		a.say("done")
	case "tool":
		a.update("tool_call", `,"toolCallId":"t","title":"a.txt","kind":"read","status":"pending"`)
		a.update("tool_call_update", `,"toolCallId":"t","status":"completed","content":[{"type":"content","content":{"type":"text","text":"x"}}]`)
		a.say("done")
	case "ask":
		ok := a.asked("c", "touch ran", func() { _ = os.WriteFile("ran", nil, 0o600) })
		a.say("done")
		return ok
	case "resume", "The": // the second is how an attempt is gone on with
		home, _ := os.UserHomeDir()
		for i := range 3 {
			done := filepath.Join(home, "done-"+strconv.Itoa(i))
			if _, err := os.Stat(done); err == nil {
				continue
			}
			if !a.asked("r"+strconv.Itoa(i)+strconv.Itoa(os.Getpid()), fmt.Sprintf("echo %d", i), func() { _ = os.WriteFile(done, nil, 0o600) }) {
				return false
			}
		}
	case "kinds": // everything that the recordings do not have
		a.update("plan", `,"entries":[{"content":"one","status":"completed"},{"content":"two","status":"in_progress"}]`)
		a.update("tool_call", `,"toolCallId":"k","title":"make","kind":"execute","status":"in_progress"`)
		a.update("tool_call_update", `,"toolCallId":"k","content":[{"type":"content","content":{"type":"text","text":"half"}}]`)
		a.update("tool_call_update", `,"toolCallId":"k","status":"completed"`)
		a.update("compaction_update", `,"status":"completed"`)
		a.update("notice", `,"severity":"warning","title":"Slow","description":"today"`)
		a.update("usage_update", `,"used":10,"size":100,"cost":{"amount":0.5,"currency":"USD"}`)
	case "flood": // a file is asked for, and a lot is said before anything is read
		fmt.Printf(`{"jsonrpc":"2.0","id":"f","method":"fs/read_text_file","params":{"sessionId":"s","path":%q}}`+"\n", a.dir+"/"+rest)
		for range 200 {
			a.say(strings.Repeat("x", 4<<10))
		}
		for {
			if m := a.read(); string(m.ID) == `"f"` {
				a.say(fmt.Sprintf("read %d", len(m.Result)))
				return true
			}
		}
	case "do": // a method, a space, and its parameters
		method, params, _ := strings.Cut(rest, " ")
		m, ok := a.ask(method, strings.ReplaceAll(params, "$WORK", a.dir))
		a.say(string(m.Result) + string(m.Error))
		return ok
	case "run": // a command in a terminal, to its end
		m, ok := a.ask("terminal/create", fmt.Sprintf(`"command":%q,"cwd":%q,"env":[{"name":"WORD","value":"hi"}]`, rest, a.dir))
		if !ok || m.Error != nil {
			a.say(string(m.Error))
			return ok
		}
		var made struct {
			ID string `json:"terminalId"`
		}
		_ = json.Unmarshal(m.Result, &made)
		id := fmt.Sprintf(`"terminalId":%q`, made.ID)
		if rest != "sleep 300" {
			m, ok = a.ask("terminal/wait_for_exit", id)
			a.say(string(m.Result))
		}
		if ok {
			m, ok = a.ask("terminal/output", id)
			a.say(string(m.Result))
		}
		return ok
	case "edit": // a file, that somebody allowed
		call := `"toolCallId":"e","title":"edit","kind":"edit","status":"pending","locations":[{"path":"` + a.dir + `/` + rest + `"}]`
		m, ok := a.ask("session/request_permission", `"toolCall":{`+call+`},"options":[{"optionId":"y","kind":"allow_once"},{"optionId":"n","kind":"reject_once"}]`)
		if ok && strings.Contains(string(m.Result), `"y"`) {
			m, ok = a.ask("fs/write_text_file", fmt.Sprintf(`"path":%q,"content":"new"`, a.dir+"/"+rest))
			a.update("tool_call_update", `,"toolCallId":"e","status":"completed"`)
			a.say(string(m.Result) + string(m.Error))
		}
		return ok
	case "peek", "widen", "term", "spend":
		return a.push(verb, rest)
	default:
		a.say("hello")
	}
	return true
}
