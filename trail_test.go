package harness_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"harness"
)

// What a state remembers for people stays small, whatever happens: its snapshot
// has a bound.
func TestWhatAStateRemembersIsBounded(t *testing.T) {
	t.Parallel()
	st := new(harness.State)
	long := strings.Repeat("long \\ text ", 1000)
	add := func(p harness.Payload) {
		st.Apply(harness.NewEvent("ses_1", st.Seq+1, time.UnixMilli(int64(st.Seq)), "trn_1", p))
	}
	for i := range 3 * harness.MaxPoints {
		id := fmt.Sprint(i, "_", strings.Repeat("x", 100))
		add(&harness.UserMessage{ItemID: "itm_1", Parts: harness.TextPart(long)})
		add(&harness.TurnStart{TurnID: "trn_1", ItemID: harness.ItemID(id)})
		add(&harness.ApprovalRequired{RequestID: harness.ApprovalID(id), Description: long})
		add(&harness.ApprovalApplied{RequestID: harness.ApprovalID(id)})
		add(&harness.ContextCompacted{Summary: long})
		add(&harness.SessionCheckpoint{CheckpointType: long, Status: long, SummaryText: long, ResumeCursor: &long})
		add(&harness.SubagentEvent{AgentID: id, Status: long, Task: long, Summary: long, ParentSessionID: harness.SessionID(long)})
		add(&harness.SubagentEvent{AgentID: long})
		add(&harness.Artifact{ArtifactID: id, ArtifactType: long, Title: long, URI: long, SHA256: long, Metadata: json.RawMessage(`"` + strings.Repeat("x", 400) + `"`)})
		add(&harness.Artifact{ArtifactID: long})
		add(&harness.TurnEnd{TurnID: "trn_1", Status: harness.TurnCompleted})
		st.Seal(st.Sealable())
		st.Keys, st.Decided = nil, nil
	}
	trail := st.Trail()
	if len(trail.Points) != harness.MaxPoints || len(trail.Checkpoints) != harness.MaxCheckpoints || len(trail.Subagents) != harness.MaxSubagents || len(trail.Artifacts) != harness.MaxArtifacts {
		t.Errorf("%d points, %d checkpoints, %d agents, %d artifacts", len(trail.Points), len(trail.Checkpoints), len(trail.Subagents), len(trail.Artifacts))
	}
	if n := len(harness.EncodeState(st)); n > 150<<10 {
		t.Errorf("the state has %d bytes", n)
	}
	for i, p := range trail.Points[1:] {
		if p.Seq <= trail.Points[i].Seq || len(p.Label) > harness.MaxLabel || p.Label == "" {
			t.Fatalf("point %d is %+v behind %+v", i+1, p, trail.Points[i])
		}
	}
}

// An ordinary session's head is small, because everybody who connects to it
// pays for decoding it.
func TestTheHeadOfAnOrdinarySessionIsSmall(t *testing.T) {
	t.Parallel()
	st := new(harness.State)
	for i := range 1000 {
		turn := harness.TurnID(harness.MintID(harness.TurnPrefix, time.UnixMilli(int64(i)), [10]byte{}))
		for _, p := range []harness.Payload{
			&harness.UserMessage{ItemID: "itm_1", Parts: harness.TextPart("Please run the tests and tell me what fails, and why it does.")},
			&harness.TurnStart{TurnID: turn, ItemID: "itm_2"},
			&harness.TurnEnd{TurnID: turn, Status: harness.TurnCompleted},
		} {
			st.Apply(harness.NewEvent("ses_06gxw23j40pa652sxc8k28v4pr", st.Seq+1, time.UnixMilli(int64(i)), turn, p))
		}
		st.Seal(st.Sealable())
	}
	if n := len(harness.EncodeState(st)); n > 8<<10 {
		t.Errorf("the head has %d bytes", n)
	}
}

// A head that an earlier build saved has no trail, and is read.
func TestAHeadWithoutATrailIsRead(t *testing.T) {
	t.Parallel()
	st, err := harness.DecodeState([]byte(`{"session_id":"ses_1","seq":7,"created":"2026-01-02T03:04:05Z","updated":"2026-01-02T03:04:05Z","status":"idle","from":{"Session":"ses_0","Seq":3},"config":{}}`))
	if err != nil || st.Seq != 7 || len(st.Trail().Points) != 0 || *st.From != (harness.Branch{Session: "ses_0", Seq: 3}) {
		t.Fatalf("%+v, %v", st, err)
	}
	if row := st.Summary(); row.Parent != "ses_0" || row.Branched != "ses_0.3" || row.Cursor != "" {
		t.Errorf("its row is %+v", row)
	}
	st.Apply(harness.NewEvent("ses_1", 8, time.UnixMilli(0), "", &harness.ContextCompacted{Summary: "less"}))
	again, err := harness.DecodeState(harness.EncodeState(st))
	if err != nil || len(again.Trail().Points) != 1 || again.Trail().Points[0].Label != "less" {
		t.Errorf("after a point the trail is %+v, %v", again.Trail(), err)
	}
	if same, err := harness.DecodeState(harness.EncodeState(again.Clone())); err != nil || string(same.JSON()) != string(st.JSON()) {
		t.Errorf("it becomes %s, %v", same.JSON(), err)
	}
}
