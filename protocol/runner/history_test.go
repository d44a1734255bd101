package runner_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"harness"
	"harness/protocol/runner"
)

// reader is an engine that says what the log tells when it has said something
// itself, and again if it is spoken to.
type reader struct{ heard chan string }

func (reader) Abilities() harness.Abilities { return harness.Abilities{Steer: true} }

func (e reader) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	if err := h.Emit(ctx, &harness.Token{Text: "I read"}); err != nil {
		return err
	}
	var all []string
	for _, after := range []harness.Seq{0, t.Began - 1} {
		all = nil
		for e, err := range h.History(ctx, after) {
			if err != nil {
				return err
			}
			what := string(e.Payload.Type())
			switch p := e.Payload.(type) {
			case *harness.UserMessage:
				what = harness.PlainText(p.Parts)
			case *harness.TurnStart:
				what = "begin " + string(p.TurnID)
			case *harness.TurnEnd:
				what = "end " + string(p.TurnID)
			}
			all = append(all, fmt.Sprintf("%d %s", e.Seq, what))
		}
		e.heard <- strings.Join(all, ", ")
	}
	return nil
}

// An engine finds in the log what it needs, whoever asks it and however little
// they know: its prompt, its turn, and what it did itself.
func TestAnEngineReadsItsOwnRun(t *testing.T) {
	t.Parallel()
	e := reader{make(chan string, 8)} // as much as the test has it say
	w := (&stage{T: t}).with(e, &runner.Options{})
	s := w.query("r1", "go")
	w.to(s, runner.Completed)
	for _, want := range []string{"1 go, 2 begin r1, 3 token", "2 begin r1, 3 token"} {
		if got := <-e.heard; got != want {
			t.Errorf("the log is %s, want %s", got, want)
		}
	}
	if _, err := w.Steer(w.ctx(), "r1", runner.Words{Message: "go on"}); err != nil {
		t.Fatal(err)
	}
	w.to(w.attach("r1", 0), runner.Completed)
	if got, want := <-e.heard, "1 go, 2 begin r1, 3 token, 4 end r1, 5 go on, 6 begin r1.2, 7 token"; got != want {
		t.Errorf("the log is %s, want %s", got, want)
	}
}
