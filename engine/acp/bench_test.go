package acp_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"harness/engine/enginetest"
	"harness/engine/internal/bridgetest"
	"harness/engine/internal/program"
)

// BenchmarkBridge is the real agent alone and behind the engine.
func BenchmarkBridge(b *testing.B) {
	session := ""
	bridge.Measure(b, bridgetest.Raw{
		Greet: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}` + "\n" +
			`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/tmp","mcpServers":[]}}`,
		Hear: func(line []byte) (text, say string, over bool) {
			var m struct {
				ID     int
				Params struct {
					Update struct {
						SessionUpdate string
						Content       json.RawMessage
					}
				}
				Result struct{ SessionID string }
			}
			_ = json.Unmarshal(line, &m)
			if m.ID == 2 {
				session = m.Result.SessionID
			}
			if over = m.ID == 3; over || m.ID == 2 {
				say = fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"go"}]}}`, session)
			}
			if m.Params.Update.SessionUpdate == "agent_message_chunk" {
				var c struct{ Text string }
				_ = json.Unmarshal(m.Params.Update.Content, &c)
				text = c.Text
			}
			return text, say, over
		},
	})
}

// BenchmarkDelta is a piece of text of an agent that says it at once: what is
// left is ours, its hand-off through a pipe included.
func BenchmarkDelta(b *testing.B) {
	e, _ := bridge.Place(b, []string{bridgetest.Self(b)}, program.Options{Env: []string{"HARNESS_TEST_ROLE=fault", "HARNESS_TEST_STORY=clock"}})
	var all []time.Duration
	for b.Loop() {
		h := &bridgetest.Timed{Host: enginetest.NewHost("ses_1")}
		if err := e.Run(b.Context(), h.Begin("go"), h); err != nil {
			b.Fatal(err)
		}
		all = append(all, h.All...)
	}
	b.ReportMetric(bridgetest.Median(all), "ms/delta")
}
