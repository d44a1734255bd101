package claude_test

import (
	"encoding/json"
	"testing"

	"harness/engine/internal/bridgetest"
)

// BenchmarkBridge is the real program alone and behind the engine.
func BenchmarkBridge(b *testing.B) {
	const prompt = `{"type":"user","message":{"role":"user","content":"go"}}`
	bridge.Measure(b, bridgetest.Raw{
		Args: []string{"-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose", "--include-partial-messages",
			"--permission-prompt-tool", "stdio", "--setting-sources", "", "--strict-mcp-config", "--model", "claude-opus-5-5"},
		Env:   []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"},
		Greet: prompt,
		Hear: func(line []byte) (text, say string, over bool) {
			var m struct {
				Type  string
				Event struct{ Delta struct{ Text string } }
			}
			_ = json.Unmarshal(line, &m)
			return m.Event.Delta.Text, map[bool]string{true: prompt}[m.Type == "result"], m.Type == "result"
		},
	})
}

// BenchmarkWarmTurn is a turn of a program that answers at once.
func BenchmarkWarmTurn(b *testing.B) { bridge.MeasureWarm(b) }
