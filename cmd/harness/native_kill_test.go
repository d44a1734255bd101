package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/kernel"
	"harness/model/modeltest"
	"harness/store/sqlite"
)

// tally is a turn of two calls, each of which leaves a letter in a file.
const tally = `
when result "interrupted by a restart"
  say I will look before I do it again.
when user "go on"
  say I went on.
when user "count" and step 1
  say First.
  call bash {"command":"printf a >> %[1]s; sleep 0.02"}
when user "count" and step 2
  say Then.
  call bash {"command":"printf b >> %[1]s; sleep 0.02"}
else
  say Done.
`

// A native turn with two side effects, killed anywhere: neither happens twice,
// the session comes to rest, and the model is told what was interrupted.
func TestKill9OfANativeTurnRunsNothingTwice(t *testing.T) {
	t.Parallel()
	rounds := 6
	if os.Getenv("LONG") != "" {
		rounds = 100
	}
	rng := rand.New(rand.NewPCG(uint64(rounds), 7))
	data, work := t.TempDir(), t.TempDir()
	interrupted, resumed, ended := 0, 0, 0
	for round := range rounds {
		file := fmt.Sprintf("counter%d", round)
		models := modeltest.Serve(t, fmt.Sprintf(tally, file))
		flags := append(scripted(t, models, "anthropic", "x"), "--data", data, "--cwd", work)
		s := &nativeServer{models: models, dir: work, process: start(t, flags...)}
		id := s.chat(t, "full_auto")
		retries := round%2 == 1
		if retries {
			s.kill()
			allowRetries(t, data, id)
			s.process = start(t, flags...)
		}
		began := s.events(t, id)
		s.post(t, "/chat/sessions/"+id+"/turns", []byte(`{"prompt":"count"}`))
		began.some(t, 1+rng.IntN(24)) // whichever event comes so far
		s.kill()
		began.close()

		asked := len(models.Requests())
		s.process = start(t, flags...)
		all := s.atRest(t, id)
		hurt := false
		for _, o := range of(all, "tool_outcome") {
			if o.id("reason") == "interrupted" {
				interrupted++
				hurt = true
			}
		}
		end := of(all, "turn_end")
		switch completed := end[len(end)-1].id("status") == "completed"; {
		case retries && !completed:
			t.Errorf("round %d: the session did not go on: %v", round, all)
		case retries && len(of(all, "turn_start")) > 1:
			resumed++
		case !completed: // it ended as what it is, and goes on when it is told to
			ended++
			s.say(t, id, "go on", "")
			if len(models.Requests()) <= asked {
				t.Errorf("round %d: the next request did not come", round)
			}
		}
		if last := models.Requests(); hurt && !strings.Contains(string(last[len(last)-1].Body), "interrupted by a restart") {
			t.Errorf("round %d: the model was not told: %s", round, last[len(last)-1].Body)
		}
		text, _ := os.ReadFile(filepath.Join(work, file)) // not there if nothing ran
		if strings.Count(string(text), "a") > 1 || strings.Count(string(text), "b") > 1 {
			t.Errorf("round %d: the file says %q: %v", round, text, all)
		}
		s.kill()
	}
	t.Logf("%d rounds: %d turns ended as interrupted, %d went on by themselves, %d calls were interrupted", rounds, ended, resumed, interrupted)
	if ended == 0 || resumed == 0 {
		t.Error("no kill came in the middle of a turn, so nothing was tested")
	}
}

// allowRetries gives a session of a server that is down what no command sets.
func allowRetries(t *testing.T, data string, id string) {
	t.Helper()
	st, err := sqlite.Open(t.Context(), filepath.Join(data, "harness.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	k := kernel.New(st, nil, nil)
	state, err := k.At(t.Context(), harness.SessionID(id), 0)
	k.Close()
	if err != nil {
		t.Fatal(err)
	}
	e := harness.NewEvent(harness.SessionID(id), state.Seq+1, time.Now(), "", &harness.SessionState{MaxRetries: new(3)})
	state.Apply(e)
	if err := st.Append(t.Context(), harness.Commit{Session: e.Session, After: e.Seq - 1, Events: []harness.Event{e}, Summary: state.Summary()}); err != nil {
		t.Fatal(err)
	}
}

// following reads a session's events as they come.
type following struct {
	events chan event
	close  func()
}

func (s *nativeServer) events(t *testing.T, id string) *following {
	t.Helper()
	stream := s.open(t, "/sessions/"+id+"/events/stream?debug=true")
	f := &following{events: make(chan event), close: func() { stream.Close() }}
	go func() {
		defer close(f.events)
		var rest string
		for b := make([]byte, 4096); ; {
			n, err := stream.Read(b)
			lines := strings.SplitAfter(rest+string(b[:n]), "\n")
			rest = lines[len(lines)-1]
			for _, line := range lines[:len(lines)-1] {
				data, ok := strings.CutPrefix(line, "data: ")
				var e event
				if ok && json.Unmarshal([]byte(data), &e) == nil {
					f.events <- e
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return f
}

// some reads that many events, or up to the end of the turn.
func (f *following) some(t *testing.T, n int) {
	t.Helper()
	late := time.After(patience)
	for range n {
		select {
		case e, ok := <-f.events:
			if !ok || e.Type == "turn_end" {
				return
			}
		case <-late:
			t.Fatal("the turn does not go on")
		}
	}
	go func() { // whoever writes the rest is let go
		for range f.events {
		}
	}()
}

// atRest waits for the end of a session's turn, and returns its log.
func (s *nativeServer) atRest(t *testing.T, id string) (all []event) {
	t.Helper()
	until(t, "the session to come to rest", func() bool {
		status, body := s.get("/sessions/"+id, nil)
		var now struct{ Status string }
		if err := json.Unmarshal([]byte(body), &now); err != nil || status != http.StatusOK {
			t.Fatalf("%d %s: %v", status, body, err)
		}
		all = s.log(t, id)
		return now.Status != "running" && now.Status != "queued" && now.Status != "recovering" && len(of(all, "turn_end")) > 0
	})
	return all
}
