package runner

import (
	"encoding/json"
	"fmt"
	"slices"

	"harness"
)

// frameOf is a fact of an engine as an event of its run.
func frameOf(p harness.Payload) (Frame, error) {
	switch p := p.(type) {
	case *harness.Token:
		return Frame{Type: Delta, Text: p.Text, ItemID: p.ItemID}, nil
	case *harness.Thinking:
		return Frame{Type: Reasoning, Text: p.Text, ItemID: p.ItemID}, nil
	case *harness.ToolCall:
		return Frame{Type: ToolStart, ToolName: p.Name, ToolUseID: p.ToolCallID, Input: p.Arguments, ItemID: p.ItemID, MessageID: p.MessageID}, nil
	case *harness.ToolLog:
		return Frame{Type: ToolOutput, ToolUseID: p.ToolCallID, Stream: p.Stream, Text: p.Text}, nil
	case *harness.ToolOutcome:
		return Frame{
			Type: ToolDone, ToolUseID: p.ToolCallID, ToolName: p.ToolName, Status: p.Status, ElapsedMS: p.ElapsedMS, Output: p.Result,
			Error: p.Error, Reason: p.Reason, ArtifactID: p.ArtifactID,
		}, nil
	case *harness.Usage:
		u := Usage(*p)
		return Frame{Type: UsageSoFar, Usage: &u}, nil
	}
	raw, err := encode(p)
	if err != nil {
		return Frame{}, fmt.Errorf("encode %s: %w: %w", p.Type(), err, harness.ErrInvalid)
	}
	return Frame{Type: Other, Name: p.Type(), Payload: raw}, nil
}

// maxPiece is how much of an artifact's content one event carries.
const maxPiece = 1 << 20

// pieces are the events that carry an artifact's content. They come just before
// the one that tells of it.
func pieces(p harness.Payload) (all []Frame) {
	a, ok := p.(*harness.Artifact)
	if !ok {
		return nil
	}
	for piece := range slices.Chunk(a.Content, maxPiece) {
		all = append(all, Frame{Type: Content, ArtifactID: a.ArtifactID, Content: piece})
	}
	return all
}

// Fact is what an event says for the log, or nil if it says nothing there:
// beginnings, questions and ends are not facts, and neither is what this build
// does not know.
func (f *Frame) Fact() harness.Payload {
	switch f.Type {
	case Delta:
		return &harness.Token{ItemID: f.ItemID, Text: f.Text}
	case Reasoning:
		return &harness.Thinking{ItemID: f.ItemID, Text: f.Text}
	case ToolStart:
		return &harness.ToolCall{Name: f.ToolName, Arguments: f.Input, ToolCallID: f.ToolUseID, ItemID: f.ItemID, MessageID: f.MessageID}
	case ToolOutput:
		return &harness.ToolLog{ToolCallID: f.ToolUseID, Stream: f.Stream, Text: f.Text}
	case ToolDone:
		return &harness.ToolOutcome{
			ToolCallID: f.ToolUseID, ToolName: f.ToolName, OutcomeType: harness.OutcomeType(f.Status), Status: f.Status, ElapsedMS: f.ElapsedMS,
			Result: f.Output, Error: f.Error, Reason: f.Reason, ArtifactID: f.ArtifactID,
		}
	case UsageSoFar:
		if f.Usage == nil {
			return &harness.Usage{}
		}
		return new(harness.Usage(*f.Usage))
	case Other:
		return decodeFact(f.Name, f.Payload)
	case Started, Asked, TaskAsked, TaskDropped, Checkpoint, Content, Completed, Failed, Cancelled:
	}
	return nil
}

// decodeFact reads a payload as the struct that this build has for it.
func decodeFact(name harness.Type, raw json.RawMessage) harness.Payload {
	if info, ok := harness.Lookup(name); ok {
		if p := info.New(); json.Unmarshal(raw, p) == nil {
			return p
		}
	}
	return &harness.Unknown{Name: name, Raw: raw}
}

// closes reports whether a fact may still come when the run was told to end: it
// says how something that was under way has ended, or the run itself.
func closes(p harness.Payload) bool {
	switch p.(type) {
	case *harness.ToolOutcome, *harness.ToolResult, *harness.Usage, *harness.HookEvent, *harness.Antahkarana:
		return true
	}
	return false
}
