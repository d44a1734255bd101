package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// S3's first criterion: what the real server lists is what the reducer of the
// web console has a case for, no more and no less.
func TestStreamEventsMatchesTheFrontendHandledEventSet(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../console/src/data/kinds.ts")
	if err != nil {
		t.Fatal(err)
	}
	var handled []string
	for _, m := range regexp.MustCompile(`(?m)^  (\w+): \{ lane: `).FindAllStringSubmatch(string(source), -1) {
		handled = append(handled, m[1])
	}
	p := played(t, t.TempDir(), "echo")
	status, body := p.get("/stream-events", nil)
	var inventory struct{ Events []struct{ Type string } }
	if err := json.Unmarshal([]byte(body), &inventory); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s: %v", status, body, err)
	}
	var served []string
	for _, e := range inventory.Events {
		served = append(served, e.Type)
	}
	slices.Sort(handled)
	slices.Sort(served)
	if len(served) < 30 || !slices.Equal(handled, served) {
		t.Errorf("the console handles %q,\nthe server lists %q", handled, served)
	}
}

// S3's criterion, with the native engine, a model that plans, and nothing that
// is planted.
func TestNativeBackgroundAgenticRunsEmitSessionStateSessionCheckpointAndStepProgress(t *testing.T) {
	t.Parallel()
	s := startNative(t, `
when step 1
  call plan {"steps":[{"id":"a","title":"Look","status":"in_progress"}]}
when step 2
  call plan {"steps":[{"id":"a","title":"Look","status":"completed"}]}
else
  say Done.
`)
	id := s.starts(t, `{"prompt":"work","permission_mode":"full_auto"}`)
	stream := s.open(t, "/sessions/"+id+"/events/stream?after=0&until=terminal")
	defer stream.Close()
	n, steps := map[string]int{}, []string(nil)
	for lines := bufio.NewScanner(stream); lines.Scan(); { // it ends with the session
		e, ok := streamedEvent(t, lines.Text())
		if !ok {
			continue
		}
		if n[e.Type]++; e.Type == "step_progress" {
			steps = append(steps, e.id("step_id")+" "+e.id("status"))
		}
	}
	if n["session_state"] == 0 || n["session_checkpoint"] == 0 || strings.Join(steps, ", ") != "task in_progress, a in_progress, a completed" || n["turn_end"] != 1 {
		t.Errorf("the stream has %v, steps %q", n, steps)
	}
	if w := s.becomes(t, id, "completed"); w.Attempts != 1 {
		t.Errorf("it is %+v", w)
	}
}
