package program

import (
	"testing"
	"time"
)

// TestALateTimerForgetsNoOther slot than its own: one that was released while it
// fired, and for which there is another by then.
func TestALateTimerForgetsNoOther(t *testing.T) {
	t.Parallel()
	p := Pool{Idle: time.Hour}
	first, err := p.Take(t.Context(), "ses_1")
	if err != nil {
		t.Fatal(err)
	}
	p.Give("ses_1", first)
	second, err := p.Take(t.Context(), "ses_1")
	if err != nil || second == first {
		t.Fatalf("the same slot, %v", err)
	}
	p.expire("ses_1", first)
	if p.slots["ses_1"] != second {
		t.Error("a session has two slots")
	}
	p.Give("ses_1", second)
}
