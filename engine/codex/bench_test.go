package codex_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"harness/engine/internal/bridgetest"
)

// BenchmarkBridge is the real program alone and behind the engine.
func BenchmarkBridge(b *testing.B) {
	thread := ""
	bridge.Measure(b, bridgetest.Raw{
		Args: []string{"-c", "features.plugins=false", "-c", "features.apps=false", "app-server"},
		Greet: `{"id":1,"method":"initialize","params":{"clientInfo":{"name":"bench","version":"0"}}}` + "\n" + `{"method":"initialized"}` + "\n" +
			`{"id":2,"method":"thread/start","params":{}}`,
		Hear: func(line []byte) (text, say string, over bool) {
			var m struct {
				ID     int
				Method string
				Params struct{ Delta string }
				Result struct{ Thread struct{ ID string } }
			}
			_ = json.Unmarshal(line, &m)
			if m.ID == 2 {
				thread = m.Result.Thread.ID
			}
			if over = m.Method == "turn/completed"; over || m.ID == 2 {
				say = fmt.Sprintf(`{"id":3,"method":"turn/start","params":{"threadId":%q,"input":[{"type":"text","text":"go"}]}}`, thread)
			}
			if m.Method == "item/agentMessage/delta" {
				text = m.Params.Delta
			}
			return text, say, over
		},
	})
}

// BenchmarkWarmTurn is a turn of a program that answers at once.
func BenchmarkWarmTurn(b *testing.B) { bridge.MeasureWarm(b) }
