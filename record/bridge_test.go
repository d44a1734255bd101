package record_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"harness"
	"harness/artifact"
	"harness/kernel"
	"harness/record"
	"harness/store/memory"
	"harness/workspace/task"
)

// S3's bridge engine limits, in its words: what bridges can reliably expose, and
// what they do not claim.
var (
	reliably = []harness.Type{
		"session_state", "session_checkpoint", "policy_decision", "sandbox_notice", "approval_required", "approval_applied", "completed", "error",
		"artifact", // "bridge engines expose state, checkpoints, approvals, final output, and typed artifacts"
	}
	unclaimed = []harness.Type{"tool_call", "tool_result", "tool_outcome", "context_warning", "context_compacted", "step_progress"}
	// conversation is what turns are made of, whatever runs them.
	conversation = []harness.Type{"user_message", "turn_start", "token", "response", "turn_end"}
)

// bridge is an agent that only talks: it says something, keeps its place, and
// ends as its prompt wants.
type bridge struct{}

func (bridge) Abilities() harness.Abilities {
	return harness.Abilities{Resume: true, Tells: []harness.Type{"completed"}}
}

func (bridge) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	if t.Ref == "" {
		if err := h.Checkpoint(ctx, "here"); err != nil {
			return err
		}
		if err := h.Emit(ctx, &harness.Response{Text: "I look."}); err != nil {
			return err
		}
		<-ctx.Done() // it is over its budget
		return context.Cause(ctx)
	}
	if err := h.Emit(ctx, &harness.Token{Text: "All done."}); err != nil {
		return err
	}
	if harness.PlainText(t.Parts) == "fail" {
		return errors.New("no luck")
	}
	return h.Emit(ctx, &harness.Completed{Result: "done"})
}

// tasks are workspaces of sessions.
type tasks struct{ rooms *task.Tasks }

func (t tasks) Create(ctx context.Context, id harness.SessionID, source string) (string, *harness.Artifact, error) {
	made, err := t.rooms.Create(ctx, string(id), source)
	return made.Directory, harness.NewArtifact(id, harness.ArtifactWorkspace, "a copy", []byte(made.Source)), err
}

func (t tasks) Remove(ctx context.Context, id harness.SessionID) error {
	return t.rooms.Remove(ctx, string(id))
}

// A session of a bridge exposes exactly S3's reduced set: each kind of it, and
// no other; and it says so from its first event on.
func TestABridgeExposesExactlyS3sReducedSet(t *testing.T) {
	t.Parallel()
	shelf, err := artifact.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	rooms, err := task.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	k := kernel.New(memory.New(), map[string]harness.Engine{"bridge": record.Engine(bridge{}, nil)},
		&kernel.Options{Engine: "bridge", Directory: t.TempDir(), Shelf: shelf, Tasks: tasks{rooms}})
	t.Cleanup(func() { k.Close() })
	seen := map[harness.Type]bool{}
	artifacts := map[string]bool{}
	for _, prompt := range []string{"work", "fail"} {
		id, err := k.Create(t.Context(), harness.NewSession{
			Kind: harness.Background, Prompt: harness.TextPart(prompt), Config: harness.ConfigPatch{Health: &harness.HealthPolicy{EventsWithoutEvidence: new(int64(1))}},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range k.Watch(t.Context(), id, 0) {
			if err != nil {
				t.Fatal(err)
			}
			st, err := k.At(t.Context(), id, 0)
			if err != nil {
				t.Fatal(err)
			}
			if len(st.Pending) > 0 {
				_, err = k.Do(t.Context(), id, harness.Answer{Approval: st.Pending[0].ID, Decision: harness.Decision{Verdict: harness.Allow, Scope: harness.Once}})
			}
			if err != nil && !errors.Is(err, harness.ErrDecided) && !errors.Is(err, harness.ErrNoApproval) {
				t.Fatal(err)
			}
			if st.Status.Terminal() {
				break
			}
		}
		for e, err := range k.Read(t.Context(), id, 0) {
			if err != nil {
				t.Fatal(err)
			}
			seen[e.Type()] = true
			switch p := e.Payload.(type) {
			case *harness.Artifact:
				artifacts[p.ArtifactType] = true
			case *harness.SessionState:
				if e.Seq == 1 {
					lacks(t, p.Lacks)
				}
			}
		}
	}
	want := slices.Concat(reliably, conversation)
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, want) {
		t.Errorf("it exposes\n%q, want\n%q", got, want)
	}
	if got, want := slices.Sorted(maps.Keys(artifacts)), []string{"final_output", "run_record", "task_graph", "workspace"}; !slices.Equal(got, want) {
		t.Errorf("its artifacts are %q, want %q", got, want)
	}
}

// lacks has all that S3 says a bridge does not claim, and nothing that it says
// a bridge exposes.
func lacks(t *testing.T, l *harness.Lacks) {
	t.Helper()
	if l == nil {
		t.Fatal("the first event does not say what is lacking")
	}
	for _, kind := range unclaimed {
		if !slices.Contains(l.Events, kind) {
			t.Errorf("%s is not said to be lacking", kind)
		}
	}
	for _, kind := range slices.Concat(reliably, conversation) {
		if slices.Contains(l.Events, kind) {
			t.Errorf("%s is said to be lacking, and comes", kind)
		}
	}
}

// prepared is an engine that looks what there is when it begins.
type prepared struct {
	bridge
	found map[string]bool
}

func (p prepared) Run(ctx context.Context, _ harness.Turn, h harness.Host) error {
	if err := h.Checkpoint(ctx, "begun"); err != nil { // what was told before is durable
		return err
	}
	for e, err := range h.History(ctx, 0) {
		if a, ok := e.Payload.(*harness.Artifact); ok && err == nil {
			p.found[a.ArtifactType] = true
		}
	}
	return h.Emit(ctx, &harness.Completed{Result: "done"})
}

// Before a write-capable session does anything, what it is to do and where are
// there as typed artifacts.
func TestWriteCapableSessionsPrepareATaskGraphAndTaskWorkspaceAndPersistBothAsTypedArtifacts(t *testing.T) {
	t.Parallel()
	shelf, err := artifact.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	rooms, err := task.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	e := prepared{found: map[string]bool{}}
	k := kernel.New(memory.New(), map[string]harness.Engine{"e": record.Engine(e, nil)},
		&kernel.Options{Engine: "e", Directory: t.TempDir(), Shelf: shelf, Tasks: tasks{rooms}})
	t.Cleanup(func() { k.Close() })
	id, err := k.Create(t.Context(), harness.NewSession{Kind: harness.Background, Prompt: harness.TextPart("mend it")})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range k.Watch(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		st, err := k.At(t.Context(), id, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !st.Status.Terminal() {
			continue
		}
		for _, a := range st.Trail().Artifacts {
			content, err := shelf.Open(t.Context(), a.Payload.ArtifactID)
			if err != nil {
				t.Errorf("%s is not kept: %v", a.Payload.ArtifactType, err)
				continue
			}
			content.Close()
		}
		break
	}
	if !e.found["task_graph"] || !e.found["workspace"] {
		t.Errorf("when it began there were %v", e.found)
	}
}
