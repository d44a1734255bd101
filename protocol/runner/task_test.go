package runner_test

import (
	"context"
	"testing"

	"harness"
	"harness/protocol/runner"
)

// handing is an engine that hands its prompt on, and says what it hears.
type handing struct{}

func (handing) Abilities() harness.Abilities { return harness.Abilities{} }

func (e handing) Run(ctx context.Context, t harness.Turn, h harness.Host) error {
	s, ok := h.(harness.Spawner)
	if !ok {
		return h.Emit(ctx, &harness.Token{Text: "nobody does tasks"})
	}
	effort := harness.Effort("high")
	answer, err := s.Spawn(ctx, harness.NewSession{Title: "part", Config: harness.ConfigPatch{Effort: &effort}}, harness.PlainText(t.Parts), func(id harness.SessionID) {
		_ = h.Emit(ctx, &harness.SubagentEvent{AgentID: string(id), Status: harness.SubagentRunning})
	})
	if err != nil {
		answer += " and " + err.Error()
	}
	return h.Emit(ctx, &harness.Token{Text: answer})
}

// A run that may hand work on asks for it, hears first who does it and then what
// came of it, once, and answers whoever knows neither as it should.
func TestARunHandsWorkOn(t *testing.T) {
	t.Parallel()
	w := openWith(t, handing{}, nil)
	s := w.start(runner.Query{Prompt: "look", RequestID: "trn_1", Tasks: true})
	w.next(s, runner.Started)
	f := w.next(s, runner.TaskAsked)
	if f.Task == nil || *f.Task != (runner.Task{TaskID: "1", Title: "part", Prompt: "look", Effort: "high"}) {
		t.Fatalf("%+v", f.Task)
	}
	if st, err := w.Status(w.ctx(), "trn_1"); err != nil || len(st.Tasks) != 1 || st.Tasks[0] != (runner.Handed{TaskID: "1", Frame: f.ID}) {
		t.Errorf("%+v, %v", st, err)
	}
	for _, c := range []struct {
		task   string
		report runner.TaskReport
		code   int
	}{
		{"2", runner.TaskReport{SessionID: "ses_x"}, 409},
		{"1", runner.TaskReport{}, 400},
		{"1", runner.TaskReport{SessionID: "ses_2"}, 0},
		{"1", runner.TaskReport{SessionID: "ses_2"}, 0},
		{"1", runner.TaskReport{SessionID: "ses_3"}, 409},
	} {
		if err := w.Report(w.ctx(), "trn_1", c.task, c.report); c.code == 0 && err != nil || c.code != 0 && !runner.Refused(err, c.code) {
			t.Errorf("%s %+v: %v, want %d", c.task, c.report, err, c.code)
		}
	}
	w.next(s, runner.Other)
	if st, err := w.Status(w.ctx(), "trn_1"); err != nil || st.Tasks[0].SessionID != "ses_2" {
		t.Errorf("%+v, %v", st, err)
	}
	if err := w.Report(w.ctx(), "trn_1", "1", runner.TaskReport{Done: true, Answer: "half", Error: &runner.Problem{Code: "queue_full", Message: "no room"}}); err != nil {
		t.Fatal(err)
	}
	if f := w.next(s, runner.Delta); f.Text != "half and no room: too many prompts are waiting" {
		t.Errorf("it heard %q", f.Text)
	}
	w.next(s, runner.Completed)
	if err := w.Report(w.ctx(), "trn_1", "1", runner.TaskReport{Done: true}); !runner.Refused(err, 409) {
		t.Errorf("of a run that is over: %v", err)
	}
}

// A run whose caller does no tasks does without.
func TestARunWithoutTasksDoesWithout(t *testing.T) {
	t.Parallel()
	w := openWith(t, handing{}, nil)
	s := w.start(runner.Query{Prompt: "look", RequestID: "trn_1"})
	if got := text(w.to(s, runner.Completed)); got != "nobody does tasks" {
		t.Errorf("it said %q", got)
	}
}
