package rest_test

import (
	"slices"
	"testing"

	"harness"
	"harness/engine/script"
	"harness/protocol/rest"
	"harness/store/memory"
)

func TestEnginesSayWhatTheyTellOf(t *testing.T) {
	t.Parallel()
	s := serveOn(t, memory.New(), "say hi", nil)
	var got struct {
		Engines []struct {
			Engine   string
			Default  bool
			Events   []harness.Type
			Commands []string
			Lacks    *harness.Lacks
		}
	}
	s.must(200, &got, "GET", "/engines", "")
	if len(got.Engines) != 1 || got.Engines[0].Engine != "script" || !got.Engines[0].Default || got.Engines[0].Lacks != nil ||
		len(got.Engines[0].Events) != len(harness.Inventory()) || !slices.Equal(got.Engines[0].Commands, harness.S1()) {
		t.Errorf("the engines are %+v", got)
	}
}

// deaf is a script that nobody can talk to while it runs.
func deaf(t *testing.T) *script.Engine {
	t.Helper()
	src, err := script.Parse("say hi")
	if err != nil {
		t.Fatal(err)
	}
	return script.New(src, &script.Options{Lacks: harness.Abilities{Steer: true}})
}

// A session says what it lacks in its detail, in its state and in its first
// event.
func TestASessionShowsWhatItsEngineLacks(t *testing.T) {
	t.Parallel()
	s := serveWith(t, memory.New(), deaf(t), new(rest.Options))
	var made struct {
		ID string `json:"session_id"`
	}
	s.must(201, &made, "POST", "/chat/sessions", "{}")
	var page struct {
		Events []struct {
			Payload struct{ Lacks *harness.Lacks }
		}
	}
	s.must(200, &page, "GET", "/sessions/"+made.ID+"/events", "")
	seen := []*harness.Lacks{page.Events[0].Payload.Lacks}
	for _, path := range []string{"/sessions/" + made.ID, "/chat/sessions/" + made.ID, "/sessions/" + made.ID + "/state"} {
		var one struct{ Lacks *harness.Lacks }
		s.must(200, &one, "GET", path, "")
		seen = append(seen, one.Lacks)
	}
	for i, l := range seen {
		if !l.Equal(&harness.Lacks{Commands: []string{"steer"}}) {
			t.Errorf("place %d says it lacks %+v", i, l)
		}
	}
}
