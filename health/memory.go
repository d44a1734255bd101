package health

import (
	"encoding/json"

	"harness"
)

// recalled is what the agent remembered, and wants remembered.
type recalled struct {
	Proposals int64    `json:"proposals,omitempty"`
	Accepted  int64    `json:"accepted,omitempty"`
	Sources   []Source `json:"sources,omitempty"` // the latest
}

// Source is where something that the agent was told came from.
type Source struct {
	Source  string      `json:"source"`
	Lines   string      `json:"lines,omitempty"`
	EventID string      `json:"event_id"`
	Seq     harness.Seq `json:"seq"`
}

const maxSources = 12

func (m *recalled) retrieved(e harness.Event, p *harness.Retrieval) {
	for _, c := range p.Chunks[:min(len(p.Chunks), maxSources)] {
		m.Sources = remember(m.Sources, Source{short(c.Source), short(c.Lines), harness.EventID(e.Session, e.Seq), e.Seq}, maxSources)
	}
}

// memoryTool is the tool with which agents propose what to keep beyond the
// session.
const memoryTool = "memory"

// proposes reports whether a call wants something remembered or forgotten.
func proposes(p *harness.ToolCall) bool {
	if p.Name != memoryTool {
		return false
	}
	var in struct {
		Action string `json:"action"`
	}
	return json.Unmarshal(p.Arguments, &in) == nil && (in.Action == "remember" || in.Action == "forget")
}
