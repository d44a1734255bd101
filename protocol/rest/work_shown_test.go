package rest_test

import (
	"slices"
	"testing"

	"harness"
	"harness/engine/script"
	"harness/store/memory"
)

// A detail has the artifacts newest first, and the latest checkpoints with all
// that S3 says of one.
func TestArtifactsAreListedNewestFirstAndCheckpointsWithTheirCursor(t *testing.T) {
	t.Parallel()
	s := serve(t, `emit artifact {"artifact_id":"art_1","artifact_type":"task_graph"}
emit artifact {"artifact_id":"art_2","artifact_type":"run_record"}
emit session_checkpoint {"session_id":"x","sequence":7,"checkpoint_type":"step","status":"completed","summary_text":"looked","resume_cursor":"step:x:7"}
emit artifact {"artifact_id":"art_3","artifact_type":"final_output"}`)
	id := s.starts(`{"prompt":"go"}`).SessionID
	s.becomes(id, harness.StatusCompleted)
	var d struct {
		Artifacts []struct {
			ArtifactID string `json:"artifact_id"`
		}
		Checkpoints []map[string]any
	}
	s.must(200, &d, "GET", "/sessions/"+id, "")
	var ids []string
	for _, a := range d.Artifacts {
		ids = append(ids, a.ArtifactID)
	}
	if want := []string{"art_3", "art_2", "art_1"}; !slices.Equal(ids, want) {
		t.Errorf("the artifacts are %q, want %q", ids, want)
	}
	found := false
	for _, c := range d.Checkpoints {
		if c["checkpoint_type"] == "step" {
			found = c["sequence"] == 7.0 && c["status"] == "completed" && c["summary_text"] == "looked" && c["resume_cursor"] == "step:x:7"
		}
	}
	if !found {
		t.Errorf("the checkpoints are %v", d.Checkpoints)
	}
}

// What an engine cannot tell, its sessions say from the first event on, and in
// every detail, and nothing of it comes: nobody is shown an empty column and
// told that nothing happened.
func TestBridgeSessionsDocumentReducedFidelityInsteadOfPretendingFullParity(t *testing.T) {
	t.Parallel()
	parsed, err := script.Parse("call read c1 => one\nthink hm\nsay done")
	if err != nil {
		t.Fatal(err)
	}
	reduced := harness.Abilities{Tools: true, Thinks: true}
	s := serveWith(t, memory.New(), script.New(parsed, &script.Options{Lacks: reduced}), nil)
	id := s.starts(`{"prompt":"go"}`).SessionID
	s.becomes(id, harness.StatusCompleted)
	var d struct {
		Lacks struct{ Events []string }
	}
	s.must(200, &d, "GET", "/sessions/"+id, "")
	for _, kind := range []string{"tool_call", "tool_result", "tool_outcome", "thinking"} {
		if !slices.Contains(d.Lacks.Events, kind) {
			t.Errorf("%s is not said to be lacking: %v", kind, d.Lacks.Events)
		}
	}
	var page struct {
		Events []struct {
			Type    string
			Payload struct {
				Lacks *struct{ Events []string }
			}
		}
	}
	s.must(200, &page, "GET", "/sessions/"+id+"/events", "")
	if first := page.Events[0]; first.Type != "session_state" || first.Payload.Lacks == nil {
		t.Errorf("the first event is %+v", first)
	}
	for _, e := range page.Events {
		if slices.Contains(d.Lacks.Events, e.Type) {
			t.Errorf("%s is said to be lacking, and came", e.Type)
		}
	}
}
