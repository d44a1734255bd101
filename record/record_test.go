package record_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/artifact"
	"harness/engine/enginetest"
	"harness/engine/script"
	"harness/kernel"
	"harness/record"
	"harness/store/memory"
	"harness/workspace"
)

// worker is a script that also changes a file, as an agent would.
type worker struct {
	harness.Engine
	file string
}

func (w worker) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	if w.file != "" {
		if err := os.WriteFile(w.file, []byte("new\n"), 0o600); err != nil {
			return err
		}
	}
	return w.Engine.Run(ctx, t, h)
}

// Abilities lack asking: files are kept before it begins.
func (w worker) Abilities() harness.Abilities {
	a := w.Engine.Abilities()
	a.Approve = false
	return a
}

type made struct {
	t     testing.TB
	k     *kernel.Kernel
	id    harness.SessionID
	shelf *artifact.Shelf
	found map[string]string // by type
	order []string
}

func run(t testing.TB, kind harness.Kind, src string, opts *kernel.Options) *made {
	t.Helper()
	parsed, err := script.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	trees := workspace.NewTrees(t.TempDir(), nil)
	m := &made{t: t, found: map[string]string{}}
	if m.shelf, err = artifact.Open(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	opts.Engine, opts.Directory, opts.Files = "e", dir, trees.Of
	if opts.Shelf == nil {
		opts.Shelf = m.shelf
	}
	e := record.Engine(worker{script.New(parsed, nil), filepath.Join(dir, "file")}, &record.Options{Diff: trees.Diff})
	m.k = kernel.New(memory.New(), map[string]harness.Engine{"e": e}, opts)
	t.Cleanup(func() { m.k.Close() })
	n := harness.NewSession{Kind: kind}
	if kind == harness.Background {
		n.Prompt, n.MaxRetries = harness.TextPart("go"), new(1)
	}
	m.id, err = m.k.Create(t.Context(), n)
	if err == nil && kind != harness.Background {
		_, err = m.k.Do(t.Context(), m.id, harness.Submit{Parts: harness.TextPart("go")})
	}
	if err != nil {
		t.Fatal(err)
	}
	for up, err := range m.k.Watch(t.Context(), m.id, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if hangs := strings.Contains(src, "hang"); hangs && slices.ContainsFunc(up.Events, func(e harness.Event) bool { return e.Type() == "usage" }) {
			if _, err := m.k.Do(t.Context(), m.id, harness.Cancel{}); err != nil {
				t.Fatal(err)
			}
		}
		if slices.ContainsFunc(up.Events, func(e harness.Event) bool { _, ok := e.Payload.(*harness.TurnEnd); return ok }) || up.State != nil && up.State.Turns > 0 && up.State.Turn == nil {
			break
		}
	}
	st, err := m.k.At(t.Context(), m.id, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range st.Trail().Artifacts {
		m.order = append(m.order, a.Payload.ArtifactType)
		if a.Payload.URI != "" {
			m.found[a.Payload.ArtifactType] = m.content(a.Payload.ArtifactID)
		}
	}
	return m
}

func (m *made) content(id string) string {
	m.t.Helper()
	f, err := m.shelf.Open(m.t.Context(), id)
	if err != nil {
		m.t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		m.t.Fatal(err)
	}
	return string(b)
}

func TestABackgroundSessionLeavesItsArtifacts(t *testing.T) {
	t.Parallel()
	m := run(t, harness.Background, "say \"I look. \"\ncall bash {\"command\":\"ls\"} => ok\nsay \"All \"\nsay done.\nusage 10 5 0.5\n", &kernel.Options{})
	if want := []string{"task_graph", "workspace", "final_output", "diff", "run_record"}; !slices.Equal(m.order, want) {
		t.Fatalf("%q, want %q", m.order, want)
	}
	if got := m.found["final_output"]; got != "All done." {
		t.Errorf("final output %q", got)
	}
	if got := m.found["diff"]; got != "diff --git a/file b/file\n--- /dev/null\n+++ b/file\n@@ -0,0 +1 @@\n+new\n" {
		t.Errorf("diff %q", got)
	}
	var r struct {
		Status    string
		Attempt   int
		ToolCalls map[string]int `json:"tool_calls"`
		Input     int64          `json:"input_tokens"`
	}
	if err := json.Unmarshal([]byte(m.found["run_record"]), &r); err != nil || r.Status != "completed" || r.Attempt != 1 || r.ToolCalls["bash"] != 1 || r.Input != 10 {
		t.Errorf("%+v %v", r, err)
	}
	if !strings.Contains(m.found["workspace"], `"directory"`) {
		t.Error(m.found["workspace"])
	}
	if got := m.found["task_graph"]; !strings.Contains(got, `"title": "go"`) {
		t.Errorf("task graph %q", got)
	}
	// They go with their session.
	st, err := m.k.At(t.Context(), m.id, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.k.Remove(t.Context(), m.id); err != nil {
		t.Fatal(err)
	}
	for _, a := range st.Trail().Artifacts {
		if _, err := m.shelf.Open(t.Context(), a.Payload.ArtifactID); !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("%s is left: %v", a.Payload.ArtifactType, err)
		}
	}
}

func TestAFailedRunLeavesARecordAndNoOutput(t *testing.T) {
	t.Parallel()
	m := run(t, harness.Background, "say hello\nfail no luck\n", &kernel.Options{})
	if want := []string{"task_graph", "workspace", "run_record"}; !slices.Equal(m.order, want) || !strings.Contains(m.found["run_record"], `"status": "error"`) {
		t.Errorf("%q: %s", m.order, m.found["run_record"])
	}
}

// However a run ends, it leaves a record that says how; what was said before a
// cancel is no output.
func TestACancelledRunLeavesARecord(t *testing.T) {
	t.Parallel()
	m := run(t, harness.Background, "step 1/1 look running\nsay hello\nusage 10 5 0.5\nhang\n", &kernel.Options{})
	if want := []string{"task_graph", "workspace", "task_graph", "run_record"}; !slices.Equal(m.order, want) {
		t.Fatalf("%q, want %q", m.order, want)
	}
	var r struct {
		Status string
		Input  int64 `json:"input_tokens"`
	}
	if err := json.Unmarshal([]byte(m.found["run_record"]), &r); err != nil || r.Status != "cancelled" || r.Input != 10 {
		t.Errorf("%+v %v", r, err)
	}
}

// A turn that is only held is not over: its record is of when it is.
func TestATurnThatGoesOnLaterLeavesNoRecordYet(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{harness.ErrHeld, harness.ErrShutdown} {
		parsed, err := script.Parse("hang")
		if err != nil {
			t.Fatal(err)
		}
		h := enginetest.NewHost("ses_1")
		turn := h.Begin("go")
		turn.Kind, turn.Directory = harness.Background, "/w"
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		if err := record.Engine(script.New(parsed, nil), nil).Run(ctx, turn, h); !errors.Is(err, cause) {
			t.Errorf("ended with %v", err)
		}
		for _, e := range h.Events() {
			if a, ok := e.Payload.(*harness.Artifact); ok && a.ArtifactType == harness.ArtifactRunRecord {
				t.Errorf("%v leaves a record", cause)
			}
		}
	}
}

// A retry has the graph that there is; one that a crash kept from being told of
// is made up for.
func TestARetryHasOneTaskGraph(t *testing.T) {
	t.Parallel()
	m := run(t, harness.Background, "retry again\nsay done\n", &kernel.Options{Backoff: time.Millisecond})
	if want := []string{"task_graph", "run_record", "workspace", "final_output", "diff", "run_record"}; !slices.Equal(m.order, want) {
		t.Errorf("%q, want %q", m.order, want)
	}
	parsed, err := script.Parse("say hi")
	if err != nil {
		t.Fatal(err)
	}
	h := enginetest.NewHost("ses_1")
	turn := h.Begin("go")
	turn.Kind, turn.Directory, turn.Attempt = harness.Background, "/w", 2
	if err := record.Engine(script.New(parsed, nil), nil).Run(t.Context(), turn, h); err != nil {
		t.Error(err)
	}
	graphs := 0
	for _, e := range h.Events() {
		if a, ok := e.Payload.(*harness.Artifact); ok && a.ArtifactType == harness.ArtifactTaskGraph {
			graphs++
		}
	}
	if graphs != 1 {
		t.Errorf("%d graphs", graphs)
	}
}

// The steps that an engine tells of are its session's task graph, unless it keeps
// one itself.
func TestStepsBecomeATaskGraph(t *testing.T) {
	t.Parallel()
	const steps = "step 1/2 look running\nstep 1/2 look completed\nstep 2/2 mend running\nfail no luck\n"
	m := run(t, harness.Background, steps, &kernel.Options{})
	var g struct {
		Steps []struct{ Title, Status string }
	}
	if err := json.Unmarshal([]byte(m.found["task_graph"]), &g); err != nil || len(g.Steps) != 2 || g.Steps[0].Status != "completed" || g.Steps[1].Title != "mend" || g.Steps[1].Status != "running" {
		t.Errorf("%+v %v; %q", g, err, m.order)
	}
	m = run(t, harness.Background, `emit artifact {"artifact_id":"art_own","artifact_type":"task_graph"}`+"\n"+steps, &kernel.Options{})
	if want := []string{"task_graph", "workspace", "task_graph", "run_record"}; !slices.Equal(m.order, want) {
		t.Errorf("%q, want %q", m.order, want)
	}
}

func TestAChatLeavesNone(t *testing.T) {
	t.Parallel()
	if m := run(t, harness.Chat, "say hello\n", &kernel.Options{}); len(m.order) > 0 {
		t.Errorf("%q", m.order)
	}
}

// What holds for an engine holds for one that is recorded.
func TestARecordedEngineIsAnEngine(t *testing.T) {
	t.Parallel()
	parsed, err := script.Parse("say hi")
	if err != nil {
		t.Fatal(err)
	}
	e := record.Engine(script.New(parsed, nil), nil)
	h := enginetest.NewHost("ses_1")
	turn := h.Begin("go")
	turn.Kind = harness.Background
	if err := e.Run(t.Context(), turn, h); err != nil {
		t.Error(err)
	}
	if _, ok := e.(harness.Survivor); ok {
		t.Error("it claims a power that it does not have")
	}
}
