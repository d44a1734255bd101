package main

import (
	"encoding/json"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/gobwas/ws"
)

// A word to a turn that ended before we saw it end starts the next turn.
func TestAWordThatComesTooLateStartsTheNextTurn(t *testing.T) {
	t.Parallel()
	ours, server := net.Pipe()
	defer ours.Close()
	defer server.Close()
	s := &served{mirror: newMirror(nil), sock: &sock{conn: ours}, steer: map[string]string{}}
	s.now = view{Status: "running", SessionID: "ses_x"}
	heard := make(chan map[string]any, 2) // what the server is sent
	go func() {
		defer close(heard)
		for {
			f, err := ws.ReadFrame(server)
			if err != nil {
				return
			}
			var m struct{ Commands []map[string]any }
			if json.Unmarshal(ws.UnmaskFrameInPlace(f).Payload, &m) != nil || len(m.Commands) != 1 {
				return
			}
			heard <- m.Commands[0]
		}
	}()
	s.prompt("go on")
	steer := <-heard
	if steer["type"] != "steer" || steer["message"] != "go on" {
		t.Fatalf("sent %v", steer)
	}
	refusal := fmt.Sprintf(`{"type":"error","code":"not_running","message":"no turn is running","commandId":%q}`, steer["commandId"])
	if err := s.take([]byte(refusal), time.Now()); err != nil {
		t.Fatal(err)
	}
	if next := <-heard; next["type"] != "resume" || next["prompt"] != "go on" || next["sessionId"] != "ses_x" || len(s.steer) != 0 {
		t.Errorf("sent %v, and %v is still open", next, s.steer)
	}
}
