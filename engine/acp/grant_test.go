package acp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"harness"
	"harness/engine/internal/program"
)

// push tries to have more than was allowed; false if the turn was cancelled.
func (a *agent) push(verb, rest string) bool {
	const options = `"options":[{"optionId":"y","kind":"allow_once"},{"optionId":"n","kind":"reject_once"}]`
	switch verb {
	case "peek": // at a file, after a call about it was told that nobody was asked about
		a.update("tool_call", fmt.Sprintf(`,"toolCallId":"p","title":"peek","kind":"read","status":"in_progress","locations":[{"path":%q}]`, a.dir+"/"+rest))
		m, ok := a.ask("fs/read_text_file", fmt.Sprintf(`"path":%q`, a.dir+"/"+rest))
		a.say(string(m.Result) + string(m.Error))
		return ok
	case "widen": // an edit that was allowed
		call := `"toolCallId":"w","title":"edit","kind":"edit","status":"pending","locations":[{"path":"` + a.dir + `/allowed.txt"}]`
		if _, ok := a.ask("session/request_permission", `"toolCall":{`+call+`},`+options); !ok {
			return false
		}
		a.update("tool_call_update", fmt.Sprintf(`,"toolCallId":"w","status":"in_progress","locations":[{"path":%q}]`, a.dir+"/"+rest))
		m, ok := a.ask("fs/write_text_file", fmt.Sprintf(`"path":%q,"content":"new"`, a.dir+"/"+rest))
		a.say(string(m.Result) + string(m.Error))
		return ok
	case "term": // a command line that is asked about, and what is run in its name
		line, run, _ := strings.Cut(rest, " | ")
		call := fmt.Sprintf(`"toolCallId":"c","title":"run","kind":"execute","status":"pending","rawInput":{"command":%q}`, line)
		if _, ok := a.ask("session/request_permission", `"toolCall":{`+call+`},`+options); !ok {
			return false
		}
		m, ok := a.ask("terminal/create", strings.ReplaceAll(run, "$WORK", a.dir))
		var made struct {
			ID string `json:"terminalId"`
		}
		if ok && json.Unmarshal(m.Result, &made) == nil {
			a.update("tool_call_update", fmt.Sprintf(`,"toolCallId":"c","status":"in_progress","content":[{"type":"terminal","terminalId":%q}]`, made.ID))
			_, ok = a.ask("terminal/wait_for_exit", fmt.Sprintf(`"terminalId":%q`, made.ID))
		}
		a.update("tool_call_update", `,"toolCallId":"c","status":"completed"`)
		return ok
	case "spend": // so much, in all
		a.update("usage_update", `,"used":10,"size":100,"cost":{"amount":`+rest+`,"currency":"USD"}`)
		a.say("done")
	}
	return true
}

// decisions are those about a call.
func decisions(events []harness.Event, call harness.CallID) (n int) {
	for _, e := range events {
		if d, ok := e.Payload.(*harness.PolicyDecision); ok && d.ToolCallID == call {
			n++
		}
	}
	return n
}

// TestACallThatNobodyAllowedCoversNothing so that a file is not read past policy.
func TestACallThatNobodyAllowedCoversNothing(t *testing.T) {
	t.Parallel()
	s := faulty(t, "", program.Options{})
	if err := os.WriteFile(filepath.Join(s.Dir, "a.env"), []byte("KEY=1"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Ask("peek a.env")
	has(s, "tool_call fs/read_text_file?1 fs/read_text_file", "KEY=1")
	if n := decisions(s.Events(), "fs/read_text_file?1"); n != 1 {
		t.Errorf("%d decisions about the file:\n%s", n, log(s))
	}
}

// TestWhatAnAgentAddsToAnAllowedCallIsNotAllowed with it.
func TestWhatAnAgentAddsToAnAllowedCallIsNotAllowed(t *testing.T) {
	t.Parallel()
	s := faulty(t, "", program.Options{})
	s.Say("widen other.txt")
	s.Decide(harness.Allow, harness.Once, "")
	s.Decide(harness.Deny, harness.Once, "not that one")
	s.Ended(1)
	has(s, "not allowed: not that one")
	if _, err := os.Stat(filepath.Join(s.Dir, "other.txt")); err == nil {
		t.Error("it was written")
	}
}

// TestAnAllowedCommandRunsOnceAskedAndIsLogged with what it printed in our
// terminal; another one, or the same elsewhere, is asked about.
func TestAnAllowedCommandRunsOnceAskedAndIsLogged(t *testing.T) {
	t.Parallel()
	s := faulty(t, "", program.Options{})
	if err := os.Mkdir(filepath.Join(s.Dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	turn := 0
	for _, run := range []string{`"command":"echo","args":["hi","there"],"cwd":"$WORK"`, `"command":"echo hi there"`} {
		turn++
		s.Say("term echo hi there | " + run)
		s.Decide(harness.Allow, harness.Once, "")
		s.Ended(turn)
		if n := strings.Count(log(s), `tool_result c "hi there\n"`); n != turn {
			t.Errorf("%s: the log does not say what it printed:\n%s", run, log(s))
		}
	}
	for _, run := range []string{
		`"command":"echo","args":["hi there"]`, `"command":"echo hi","args":["there"]`, `"command":"echo hi there","cwd":"$WORK/sub"`,
		`"command":"echo hi there","env":[{"name":"PATH","value":"."}]`,
	} {
		turn++
		s.Say("term echo hi there | " + run)
		s.Decide(harness.Allow, harness.Once, "")
		s.Decide(harness.Deny, harness.Once, "another")
		s.Ended(turn)
	}
	if n := strings.Count(log(s), "denied another"); n != 4 {
		t.Errorf("%d of 4 were asked about:\n%s", n, log(s))
	}
}

// TestWhatAConversationCostIsCountedOnce although each process tells the sum of
// all, unless it counts anew.
func TestWhatAConversationCostIsCountedOnce(t *testing.T) {
	t.Parallel()
	s := faulty(t, "", program.Options{Idle: -1})
	var told []float64
	for _, sum := range []string{"1", "2", "3", "0.5"} {
		s.Ask("spend " + sum)
	}
	for _, e := range s.Events() {
		if u, ok := e.Payload.(*harness.Usage); ok && u.CostUSD != nil {
			told = append(told, *u.CostUSD)
		}
	}
	if got := fmt.Sprint(told); got != "[1 1 1 0.5]" {
		t.Errorf("the turns cost %s", got)
	}
}
