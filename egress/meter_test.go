package egress_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"harness/egress"
)

// inParts gives a text to a meter, cut by the bytes of cuts.
func inParts(m egress.Meter, text []byte, cuts []byte) {
	for i := 0; len(text) > 0; i++ {
		n := len(text)
		if len(cuts) > 0 {
			n = min(n, 1+int(cuts[i%len(cuts)]))
		}
		_, _ = m.Write(text[:n])
		text = text[n:]
	}
}

func TestTheMeterReadsWhatProvidersSay(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		events bool
		text   string
		want   egress.Usage
	}{
		"Messages, whole": {false, `{"model":"a","content":[{"type":"tool_use","input":{"usage":{"input_tokens":9}}}],"usage":{"input_tokens":1,"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":4,"cache_creation":{"input_tokens":7}}}`,
			egress.Usage{Model: "a", Input: 1, CacheWrite: 2, CacheRead: 3, Output: 4}},
		"Messages, streamed": {true, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"a\",\"usage\":{\"input_tokens\":1,\"cache_read_input_tokens\":3,\"output_tokens\":1}}}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":40}}\n\n",
			egress.Usage{Model: "a", Input: 1, CacheRead: 3, Output: 40}},
		"Responses, streamed": {true, "data: {\"response\":{\"model\":\"b\",\"usage\":null}}\n\ndata: {\"response\":{\"output\":[{\"usage\":{\"input_tokens\":999}}],\"usage\":{\"input_tokens\":10,\"input_tokens_details\":{\"cached_tokens\":4},\"output_tokens\":5}}}\n\n",
			egress.Usage{Model: "b", Input: 6, CacheRead: 4, Output: 5}},
		"Chat, streamed": {true, "data: {\"model\":\"c\",\"usage\":null}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5,\"prompt_tokens_details\":{\"cached_tokens\":10}}}\n\ndata: [DONE]\n\n",
			egress.Usage{Model: "c", Input: 0, CacheRead: 10, Output: 5}},
		"Gemini, whole": {false, `{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5,"cachedContentTokenCount":4,"thoughtsTokenCount":3,"toolUsePromptTokenCount":2,"totalTokenCount":20},"modelVersion":"d"}`,
			egress.Usage{Model: "d", Input: 8, CacheRead: 4, Output: 8}},
		"Gemini, streamed": {true, "data: {\"candidates\":[{\"content\":{}}],\"usageMetadata\":{\"promptTokenCount\":10,\"candidatesTokenCount\":1,\"totalTokenCount\":11},\"modelVersion\":\"d\"}\r\n\r\ndata: {\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":10,\"candidatesTokenCount\":15,\"totalTokenCount\":25}}\r\n\r\n",
			egress.Usage{Model: "d", Input: 10, Output: 15}},
		"Gemini, as a list": {false, `[{"candidates":[{"content":{}}],"usageMetadata":{"promptTokenCount":10,"totalTokenCount":10}},{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"totalTokenCount":25}}]`,
			egress.Usage{Model: "asked", Input: 10, Output: 15}},
		"Gemini, all thoughts": {false, `{"candidates":[{"finishReason":"MAX_TOKENS"}],"usageMetadata":{"promptTokenCount":10,"thoughtsTokenCount":990,"totalTokenCount":1000}}`,
			egress.Usage{Model: "asked", Input: 10, Output: 990}},
		"Gemini, broken off": {true, "data: {\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":10,\"totalTokenCount\":22}}\r\n\r\ndata: {\"candidates\":[{\"index\":1,\"content\":{\"parts\":[{\"text\":\"" + strings.Repeat("x", 1000) + "\"}]}}]}\r\n\r\n",
			egress.Usage{Model: "asked", Input: 10, Output: 20, Estimated: true}},
		"Gemini with its prompt only": {false, `{"candidates":[{"finishReason":"STOP","content":{"parts":[{"text":"` + strings.Repeat("x", 1000) + `"}]}}],"usageMetadata":{"promptTokenCount":10}}`,
			egress.Usage{Model: "asked", Input: 10, Output: 20, Estimated: true}},
		"Gemini without usage": {false, `{"candidates":[{"finishReason":"STOP"}]}`, egress.Usage{Model: "asked", Input: 10, Output: 10, Estimated: true}},
		"carriage returns": {true, "data: {\"usage\":\r\ndata: {\"output_tokens\":5,\r\ndata: \"input_tokens\":2}}\r\n\r\n",
			egress.Usage{Model: "asked", Input: 2, Output: 5}},
		"nothing at its end": {true, "data:{\"usage\":{\"output_tokens\":5,\"input_tokens\":2}}", egress.Usage{Model: "asked", Input: 2, Output: 5}},
		"text that looks like it": {false, `{"text":"\"usage\":{\"output_tokens\":77}","usage.output_tokens":77,"usage":{"output_tokens":5,"input_tokens":2}}`,
			egress.Usage{Model: "asked", Input: 2, Output: 5}},
		"nonsense":             {false, `{"usage":{"output_tokens":-5,"input_tokens":1e3,"prompt_tokens":99999999999999999999}}`, egress.Usage{Model: "asked", Input: 10, Output: 20, Estimated: true}},
		"nothing":              {false, ``, egress.Usage{Model: "asked", Input: 10, Estimated: true}},
		"no more than said":    {false, strings.Repeat("x", 1000), egress.Usage{Model: "asked", Input: 10, Output: 20, Estimated: true}},
		"events without usage": {true, strings.Repeat("data: {}\n\n", 7), egress.Usage{Model: "asked", Input: 10, Output: 7, Estimated: true}},
	} {
		for _, cuts := range [][]byte{nil, {0}, {1, 6, 0, 30}} {
			m := egress.NewMeter(tc.events)
			inParts(m, []byte(tc.text), cuts)
			if !strings.Contains(name, "broken off") {
				m.Came()
			}
			if got := m.End("asked", 40, 20); got != tc.want {
				t.Errorf("%s, cut at %v: %+v, want %+v", name, cuts, got, tc.want)
			}
		}
	}
}

// reference reads a whole answer with encoding/json.
func reference(text []byte) (u egress.Usage, final, ok bool) {
	type usage struct {
		Input  *int64 `json:"input_tokens"`
		Output *int64 `json:"output_tokens"`
	}
	var top map[string]json.RawMessage
	var counts map[string]json.RawMessage
	if json.Unmarshal(text, &top) != nil || json.Unmarshal(top["usage"], &counts) != nil {
		return u, false, false
	}
	var v usage
	for name, to := range map[string]**int64{"input_tokens": &v.Input, "output_tokens": &v.Output} {
		if raw, there := counts[name]; there && json.Unmarshal(raw, to) != nil {
			return u, false, false
		}
	}
	if v.Input != nil {
		u.Input = *v.Input
	}
	if v.Output != nil {
		u.Output = *v.Output
	}
	return u, v.Output != nil, true
}

// FuzzMeter: however an answer is cut, the meter finds the same, does not touch
// a byte, and agrees with encoding/json about what is plain.
func FuzzMeter(f *testing.F) {
	for _, s := range []string{
		`{"usage":{"input_tokens":12,"output_tokens":3}}`, `[{"usage":{"output_tokens":3}}]`, `{"a":[[{}],"x\"}"],"usage":{"output_tokens":3}}`,
		"data: {\"usage\":{\"output_tokens\":3}}\n\n", "data: {\"message\":{\"usage\":{\"input_tokens\":3}}}\r\n\r\n: x\n\n", "{", "]]]]}}}}", `"\`, "data",
	} {
		f.Add([]byte(s), []byte{0}, false)
		f.Add([]byte(s), []byte{3, 0, 9}, true)
	}
	f.Fuzz(func(t *testing.T, text, cuts []byte, events bool) {
		before := string(text)
		whole, parts := egress.NewMeter(events), egress.NewMeter(events)
		inParts(whole, text, nil)
		inParts(parts, text, cuts)
		a, b := whole.End("m", 4, 1000), parts.End("m", 4, 1000)
		if a != b {
			t.Errorf("whole %+v, in parts %+v", a, b)
		}
		if string(text) != before {
			t.Error("the text was changed")
		}
		if a.Input < 0 || a.Output < 0 || a.CacheRead < 0 || a.CacheWrite < 0 || a.Total() < 0 {
			t.Errorf("negative: %+v", a)
		}
		if want, final, ok := reference(text); ok && !events && plain(text) && (final == a.Estimated || final && (a.Input != want.Input || a.Output != want.Output)) {
			t.Errorf("%+v, encoding/json says %+v, %v", a, want, final)
		}
	})
}

// plain reports whether a text has nothing that the reference reads otherwise: a
// key twice, other names for the counts, numbers out of bounds, escapes.
func plain(text []byte) bool {
	s := string(text)
	for _, word := range []string{`"usage"`, `"input_tokens"`, `"output_tokens"`} {
		if strings.Count(s, word) > 1 {
			return false
		}
	}
	for _, word := range []string{`\`, `prompt_`, `completion_`, `cache`, `message`, `response`, `-`, "null"} {
		if strings.Contains(s, word) {
			return false
		}
	}
	var n int64
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return r < '0' || r > '9' }) {
		if _, err := fmt.Sscan(w, &n); err != nil || n > 1<<39 {
			return false
		}
	}
	return true
}

func TestABodyIsReadInOneWay(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"model":"a"}`: `"a"`,
		` { "x" : [ {"model":"b"} , "}" ] , "model" : "a" } `: `"a"`,
		`{"model":{"a":[1,{"b":2}]},"n":3}`:                   `{"a":[1,{"b":2}]}`,
		`{"n":-1.5e3,"model":true}`:                           `true`,
		`{"a":"\\\"","model":"\"{"}`:                          `"\"{"`,
		`{}`:                                                  ``,
		`{"model":"a","model":"b"}`:                           `refused`,
		`{"model":"a","mODel":"b"}`:                           `refused`,
		`{"mo\u0064el":"a"}`:                                  `"a"`,
		`{"model":"a"} x`:                                     `refused`,
		`"model"`:                                             `refused`,
		``:                                                    `refused`,
	} {
		found, ok := egress.Fields([]byte(text), "model")
		got := string(found["model"])
		if !ok {
			got = "refused"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// FuzzFields: what is found is what encoding/json finds, in valid objects.
func FuzzFields(f *testing.F) {
	for _, s := range []string{`{"model":"a","n":1}`, `{"a":[{"model":1}],"model":[]}`, `{"model":1,"model":2}`, `[1]`, `{"m\u006fdel":1.0e5 }`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		found, ok := egress.Fields(text, "model", "n")
		var want map[string]json.RawMessage
		err := json.Unmarshal(text, &want)
		if ok && err != nil {
			t.Fatalf("%q is no object: %v", text, err)
		}
		if !ok {
			return
		}
		for _, name := range []string{"model", "n"} {
			if string(found[name]) != string(want[name]) {
				t.Errorf("%q: %s is %q, want %q", text, name, found[name], want[name])
			}
		}
	})
}
