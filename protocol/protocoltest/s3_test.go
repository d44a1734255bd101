package protocoltest_test

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"harness"
	"harness/engine/script"
	"harness/kernel"
	"harness/store/memory"
)

// S3's payload examples, verbatim, come out of the stream: of the story
// s3-examples, in a session of S3's name. Fields that we add are not in the
// examples, and an approval's id is ours.
func TestS3sPayloadExamplesComeOutOfTheStream(t *testing.T) {
	t.Parallel()
	var examples []struct {
		Type    harness.Type
		Payload map[string]any
	}
	data, err := os.ReadFile("testdata/s3/examples.json")
	if err != nil || json.Unmarshal(data, &examples) != nil || len(examples) != 10 {
		t.Fatal(err, len(examples))
	}
	log := playS3(t)
	for _, x := range examples {
		found := false
		for _, e := range log {
			got := map[string]any{}
			for name, value := range payload(t, e) {
				if _, ok := x.Payload[name]; ok {
					got[name] = value
				}
			}
			if id, ok := got["request_id"].(string); ok {
				if at, seq, err := harness.ApprovalID(id).Place(); err == nil && at == "serve_demo" && seq > 0 {
					got["request_id"] = "apr_123"
				}
			}
			found = found || e.Type() == x.Type && reflect.DeepEqual(got, x.Payload)
		}
		if !found {
			t.Errorf("nothing of the stream is %s %v", x.Type, x.Payload)
		}
	}
}

// playS3 plays the story's engine and returns the log.
func playS3(t *testing.T) (log []harness.Event) {
	t.Helper()
	story, err := txtar.ParseFile("testdata/s3-examples.txtar")
	if err != nil {
		t.Fatal(err)
	}
	sc, err := script.Parse(string(story.Files[0].Data))
	if err != nil {
		t.Fatal(err)
	}
	k := kernel.New(memory.New(), map[string]harness.Engine{"script": script.New(sc, nil)}, &kernel.Options{Engine: "script", IdleAfter: time.Minute})
	defer k.Close()
	id, err := k.Create(t.Context(), harness.NewSession{ID: "serve_demo"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Do(t.Context(), id, harness.Submit{Parts: harness.TextPart("demo"), Source: harness.FromTurn}); err != nil {
		t.Fatal(err)
	}
	st := new(harness.State)
	for up, err := range k.Watch(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if up.State != nil {
			st = up.State
		}
		for _, e := range up.Events {
			st.Apply(e)
			if p, ok := e.Payload.(*harness.ApprovalRequired); ok {
				if _, err := k.Do(t.Context(), id, harness.Answer{Approval: p.RequestID, Decision: harness.Decision{Verdict: harness.Allow}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if len(st.Pending) == 1 && len(up.Events) == 0 { // asked before the watch began
			if _, err := k.Do(t.Context(), id, harness.Answer{Approval: st.Pending[0].ID, Decision: harness.Decision{Verdict: harness.Allow}}); err != nil {
				t.Fatal(err)
			}
		}
		if st.Turn == nil && st.Turns == 1 {
			break
		}
	}
	for e, err := range k.Read(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, e)
	}
	return log
}

func payload(t *testing.T, e harness.Event) map[string]any {
	t.Helper()
	var env struct{ Payload map[string]any }
	if err := json.Unmarshal(e.JSON(), &env); err != nil {
		t.Fatal(err)
	}
	return env.Payload
}
