package modeltest

import (
	"encoding/json"
	"net/http"
)

// Format is a protocol of model servers.
type Format string

const (
	Messages  Format = "messages"  // Anthropic
	Responses Format = "responses" // OpenAI
	Chat      Format = "chat"      // OpenAI, and whoever follows
	Generate  Format = "generate"  // Google
	Other     Format = "other"     // counting tokens, listing models, anything unknown
)

// Request is what a client sent, as it came and as rules see it.
type Request struct {
	N      int // from 1, of those that ask for an answer; 0 for others
	Format Format
	Method string
	Path   string // with the query
	Header http.Header
	Body   []byte

	Model   string
	Stream  bool
	System  string
	Tools   []string
	Turn    int      // how often the user has spoken
	Step    int      // from 1: how often the model was asked since then
	Said    []string // the user's last texts, and what was said beside results since
	Results []string // results that came with this request

	usage bool // Chat: wants usage at the end
}

// entry is a message, or a part of one, in any format.
type entry struct {
	who  string // user, assistant, result, system
	text string
}

// block is the fields that contents of any format may have.
type block struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Text    string          `json:"text"`
	Content json.RawMessage `json:"content"`
	Output  json.RawMessage `json:"output"`
}

// read fills in what rules see. It takes what it can and is never an error:
// what a client sent wrongly is for a test to find in Body.
func (r *Request) read() {
	var b struct {
		Model         string
		Stream        bool
		System        json.RawMessage
		Instructions  string
		Messages      []block
		Input         json.RawMessage
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
		Tools []struct {
			Name     string
			Function struct{ Name string }
			Declared []struct{ Name string } `json:"functionDeclarations"`
		}
		Contents    []content
		Instruction content `json:"systemInstruction"`
	}
	_ = json.Unmarshal(r.Body, &b)
	r.usage = b.StreamOptions.IncludeUsage
	if r.Format != Generate { // whose address says so
		r.Model, r.Stream = b.Model, b.Stream
	}
	for _, t := range b.Tools {
		for _, d := range t.Declared {
			r.Tools = append(r.Tools, d.Name)
		}
		if name := t.Name + t.Function.Name; name != "" || t.Declared == nil {
			r.Tools = append(r.Tools, name)
		}
	}
	var said []entry
	switch r.Format {
	case Messages:
		r.System = flat(b.System)
		for _, m := range b.Messages {
			said = append(said, readMessage(m)...)
		}
	case Chat:
		for _, m := range b.Messages {
			said = append(said, readMessage(m)...)
		}
	case Responses:
		r.System = b.Instructions
		var items []block
		if json.Unmarshal(b.Input, &items) != nil {
			items = []block{{Role: "user", Content: b.Input}}
		}
		for _, m := range items {
			said = append(said, readMessage(m)...)
		}
	case Generate:
		for _, e := range b.Instruction.entries() {
			r.System += e.text
		}
		for _, c := range b.Contents {
			said = append(said, c.entries()...)
		}
	case Other:
	}
	r.place(said)
}

// readMessage is a message of any format, or an item of Responses.
func readMessage(m block) []entry {
	switch m.Type {
	case "function_call_output", "custom_tool_call_output":
		return []entry{{"result", flat(m.Output)}}
	case "function_call", "custom_tool_call", "reasoning", "local_shell_call":
		return []entry{{"assistant", ""}}
	}
	switch m.Role {
	case "tool":
		return []entry{{"result", flat(m.Content)}}
	case "assistant":
		return []entry{{"assistant", flat(m.Content)}}
	case "user":
	default:
		return []entry{{"system", flat(m.Content)}}
	}
	var parts []block
	if json.Unmarshal(m.Content, &parts) != nil {
		return []entry{{"user", flat(m.Content)}}
	}
	var all []entry
	for _, p := range parts {
		switch {
		case p.Type == "tool_result":
			all = append(all, entry{"result", flat(p.Content)})
		case p.Text != "":
			all = append(all, entry{"user", p.Text})
		}
	}
	if len(all) == 0 {
		all = append(all, entry{"user", ""}) // an image, say
	}
	return all
}

// flat is the text of a content: a string, or the texts of its blocks.
func flat(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []block
	_ = json.Unmarshal(raw, &parts)
	for _, p := range parts {
		s += p.Text
	}
	return s
}

// place counts turns and steps. What the user said in one go is one turn; what
// was said together with results is part of the turn that asked for them.
func (r *Request) place(said []entry) {
	var run, last []string // user texts: since the model spoke; of the turn's beginning
	var results []string
	asked := false
	begin := func() {
		if !asked && len(run) > 0 {
			r.Turn, r.Step, last = r.Turn+1, 1, run
		}
	}
	inRun := false // of the assistant
	for _, e := range said {
		switch e.who {
		case "system":
			r.System += e.text
		case "assistant":
			if !inRun {
				begin()
				r.Step++
				run, results, asked, inRun = nil, nil, false, true
			}
		case "user":
			run, inRun = append(run, e.text), false
		case "result":
			results, asked, inRun = append(results, e.text), true, false
		}
	}
	begin()
	r.Results = results
	r.Said = last
	if asked {
		r.Said = append(last[:len(last):len(last)], run...)
	}
	r.Step = max(r.Step, 1)
}
