package node_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"os"
	"testing"
	"time"

	"harness"
	"harness/store/postgres/postgrestest"
)

// TestAFullDiskRefusesAndLosesNothing fills the disk of the database that two
// nodes share with prompts: what was acknowledged is there, once, and when there
// is room again both go on.
func TestAFullDiskRefusesAndLosesNothing(t *testing.T) {
	t.Parallel()
	if os.Getenv("LONG") == "" {
		t.Skip("the store's own test of this is always on, and so is that of processes under faults in cmd/harness; set LONG=1")
	}
	server, ballast := postgrestest.StartOnASmallDisk(t)
	url := server.URL(t)
	s := setting{script: "say done"}
	nodes := []*member{join(t, url, "a", s), join(t, url, "b", s)}
	id := nodes[0].create(harness.NewSession{})
	acked := []string{}
	raw := make([]byte, 192<<10)
	full := false
	for i := 0; !full && i < 1000; i++ {
		rand.Read(raw) // nothing to compress
		text := base64.StdEncoding.EncodeToString(raw)
		cmd := submit(text)
		cmd.ClientKey = text[:32]
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		_, err := nodes[i%2].Do(ctx, id, cmd)
		cancel()
		switch {
		case err == nil:
			acked = append(acked, text)
		case errors.Is(err, harness.ErrQueueFull):
		default:
			full = true
			t.Logf("after %d prompts: %.200v", len(acked), err)
		}
	}
	if !full {
		t.Fatalf("%d prompts, and the disk is not full", len(acked))
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	server.Kill(t) // it may have given up by itself
	server.Restart(t)
	for _, n := range nodes {
		n.do(id, submit("there is room again, says "+n.name))
	}
	events := nodes[0].eventually(id, "the last turn", func(events []harness.Event) bool {
		return count[*harness.TurnEnd](events) >= len(acked)+2
	})
	said := map[string]int{}
	for _, e := range events {
		if p, ok := e.Payload.(*harness.UserMessage); ok {
			said[p.Parts[0].Text]++
		}
	}
	for _, text := range acked {
		if said[text] != 1 {
			t.Errorf("a prompt that was acknowledged is there %d times", said[text])
		}
	}
	if len(said) > len(acked)+3 { // one may have been taken without an answer
		t.Errorf("%d prompts are there, %d were acknowledged", len(said), len(acked))
	}
}
