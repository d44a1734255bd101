package transcript_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"harness/archive/transcript"
)

// TestAHostileTranscriptCostsWhatItsSizeSays: a transcript may be written to
// make its reader work. What would cost the square of its size is bounded, or
// costs no more than once; with LONG=1 the square would take minutes.
func TestAHostileTranscriptCostsWhatItsSizeSays(t *testing.T) {
	t.Parallel()
	many, deep := 3000, 1000
	if os.Getenv("LONG") != "" {
		many, deep = 200_000, 4000
	}
	repeat := func(line func(i int) string) string {
		var b strings.Builder
		for i := range many {
			b.WriteString(line(i))
		}
		return b.String()
	}
	prompt := wrote("event_msg", `{"type":"user_message","message":"one"}`)
	for name, c := range map[string]struct {
		reader, text, want string
	}{
		"a message of many words": {"codex", meta + prompt + repeat(func(int) string {
			return wrote("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x"}]}`)
		}), "turn_end"},
		"calls that never end": {"codex", meta + prompt + repeat(func(i int) string {
			return wrote("response_item", fmt.Sprintf(`{"type":"function_call","name":"shell","call_id":"c%d","arguments":"{}"}`, i))
		}) + repeat(func(i int) string {
			return wrote("response_item", fmt.Sprintf(`{"type":"function_call_output","call_id":"c%d","output":"x"}`, many-i))
		}), fmt.Sprintf("lost %d call among too many", many-transcript.MaxOpen)},
		"kinds of every name": {"codex", meta + prompt + repeat(func(i int) string {
			return wrote("response_item", fmt.Sprintf(`{"type":"k%d"}`, i))
		}), fmt.Sprintf("lost %d other", many-transcript.MaxKinds)},
		"a kind of a long name": {"codex", meta + prompt + wrote("response_item", `{"type":"`+strings.Repeat("k", 1<<20)+`"}`), "lost 1 other"},
		"a turn of many messages": {"claude", spoken("user", "1", "", "", `"one"`) + repeat(func(i int) string {
			id := fmt.Sprint(i + 2)
			return strings.Replace(spoken("assistant", id, fmt.Sprint(i+1), "", `"x"`), `"stop_reason"`, `"usage":{"output_tokens":1},"stop_reason"`, 1)
		}), fmt.Sprintf(`"output_tokens":%d`, many)},
		"results inside results": {"claude", spoken("user", "1", "", "", `"one"`) + spoken("assistant", "2", "1", "", `[{"type":"tool_use","id":"c","name":"Bash","input":{}}]`) +
			spoken("user", "3", "2", "", strings.Repeat(`[{"type":"tool_result","tool_use_id":"c","content":`, deep)+`"`+strings.Repeat("x", deep<<10)+`"`+strings.Repeat("}]", deep)), "lost 1 tool_result of a tool"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			s, err := readers[c.reader](strings.NewReader(c.text), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := tell(s); !strings.Contains(got, c.want) {
				t.Errorf("it does not say %s; it ends with %s", c.want, got[max(0, len(got)-500):])
			}
			if len(s.Lost) > transcript.MaxKinds+1 {
				t.Errorf("%d kinds are lost", len(s.Lost))
			}
		})
	}
}
