package codex_test

import (
	"fmt"
	"strings"
	"testing"

	"harness"
	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
)

// whole is an item from its beginning to its end.
func (s *server) whole(fields, atEnd string) {
	s.note("item/started", `,"item":{`+fields+`}`)
	s.note("item/completed", `,"item":{`+fields+atEnd+`}`)
}

// want asks for something and waits for the answer, which it says.
func (s *server) want(thread, method, fields string) {
	fmt.Printf(`{"id":"q","method":%q,"params":{"threadId":%q,"turnId":"u1",%s}}`+"\n", method, thread, fields)
	for {
		m, ok := s.read()
		if !ok {
			return
		}
		if string(m.ID) == `"q"` {
			s.note("item/completed", fmt.Sprintf(`,"item":{"type":"agentMessage","id":%q,"text":%q}`, method, " "+string(m.Result)))
			return
		}
		if m.ID != nil && m.Method != "" {
			s.reply(m, "{}")
		}
	}
}

// kinds tells of everything that the recordings do not have.
func (s *server) kinds() {
	s.whole(`"type":"mcpToolCall","id":"m","server":"tickets","tool":"find","arguments":{"n":7}`, `,"status":"completed","result":{"content":[{"type":"text","text":"open"}]}`)
	s.whole(`"type":"mcpToolCall","id":"m","server":"tickets","tool":"find","arguments":{"n":8}`, `,"status":"failed","error":{"message":"gone"}`)
	s.whole(`"type":"collabAgentToolCall","id":"a","tool":"spawnAgent","prompt":"look","receiverThreadIds":["other"]`, `,"status":"completed"`)
	s.whole(`"type":"contextCompaction","id":"k"`, "")
	s.whole(`"type":"imageView","id":"i","path":"a.png"`, "")
	s.note("turn/plan/updated", `,"plan":[{"step":"one","status":"completed"},{"step":"two","status":"inProgress"}]`)
	s.note("error", `,"error":{"message":"busy","codexErrorInfo":"serverOverloaded"},"willRetry":true`)
	s.note("model/rerouted", `,"fromModel":"a","toModel":"b","reason":"because"`)
	s.note("item/reasoning/summaryTextDelta", `,"itemId":"r","delta":"hm","summaryIndex":0`)
	s.note("item/reasoning/summaryPartAdded", `,"itemId":"r","summaryIndex":1`)
	s.whole(`"type":"reasoning","id":"r2"`, `,"summary":["whole"]`)
	s.want("th", "item/tool/requestUserInput", `"itemId":"x","questions":[{"id":"colour","question":"Which?","options":[{"label":"Red"},{"label":"Blue"}]}]`)
	s.want("th", "item/permissions/requestApproval", `"itemId":"y","permissions":{"network":true},"reason":"to look"`)
	s.want("th", "mcpServer/elicitation/request", `"itemId":"z","serverName":"tickets","message":"Sure?","mode":"form"`)
	s.want("other", "item/commandExecution/requestApproval", `"itemId":"c","command":"date","cwd":"."`)
	fmt.Println(`{"method":"item/agentMessage/delta","params":{"threadId":"other","turnId":"v","itemId":"o","delta":"of a subagent"}}`)
}

// everyKind of item is told, and every kind of question is asked.
func everyKind(t *testing.T, b *bridgetest.Bridge) {
	s := b.As(t, "fault", program.Options{}, "HARNESS_TEST_STORY="+"kinds")
	s.Say("go")
	s.Decide(harness.Allow, harness.Once, "Blue")
	s.Decide(harness.Allow, harness.Once, "")
	s.Decide(harness.Deny, harness.Once, "")
	s.Decide(harness.Allow, harness.Once, "")
	s.Ended(1)
	log := bridgetest.Tell(s.Events())
	for _, want := range []string{
		`tool_call m mcp__tickets__find {"n":7}`, `tool_result m "open" structured=true`, `tool_outcome m ok`,
		`tool_call m-2 mcp__tickets__find {"n":8}`, `tool_outcome m-2 error  "{\"message\":\"gone\"}"`,
		`tool_call a spawnAgent {"prompt":"look"}`, `subagent_event other running "look"`, "context_compacted", `tool_call i view_image {"path":"a.png"}`,
		"step_progress 0/2 completed one", "step_progress 1/2 in_progress two", "transport_diagnostic degraded api_retry", "transport_diagnostic degraded model_rerouted",
		`thinking hm\n\nwhole`, `"Which? Red | Blue"`, `{"answers":{"colour":{"answers":["Blue"]}}}`, `{"permissions":{"network":true},"scope":"turn"}`,
		`{"action":"decline","content":null}`, `tool_call c?"q" exec_command {"command":"date","cwd":"."}`, `{"decision":"accept"}`, "turn_end completed",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not say %s", want)
		}
	}
	if strings.Contains(log, "of a subagent") || t.Failed() {
		t.Errorf("the log is\n%s", log)
	}
}
