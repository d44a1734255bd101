package health_test

import (
	"fmt"
	"testing"

	"harness"
)

// Each detector warns at its number, and not before.
func TestDetectorsWarnAtTheirNumber(t *testing.T) {
	t.Parallel()
	other := func(l *teller, i int) { l.call("glob", fmt.Sprint(100+i), harness.OutcomeOK, fmt.Sprint("o", i)) }
	for _, d := range []struct {
		name string
		step func(l *teller, i int)
		at   int
	}{
		{"identical call and arguments", func(l *teller, i int) { l.call("bash", `{"c":"ls"}`, harness.OutcomeOK, fmt.Sprint(i)) }, 3},
		{"same call and error", func(l *teller, i int) { l.call("bash", `{"c":"make"}`, harness.OutcomeError, "no rule"); other(l, i) }, 3},
		{"same call and result", func(l *teller, i int) { l.call("bash", `{"c":"date"}`, harness.OutcomeOK, "noon"); other(l, i) }, 4},
		{"alternating pair", func(l *teller, i int) {
			l.call("bash", fmt.Sprint(i%2), harness.OutcomeOK, fmt.Sprint("r", i))
		}, 6},
	} {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			l := newTeller(t, nil)
			l.begin()
			for i := 1; i <= d.at; i++ {
				if n := l.fold.Snapshot().Counters.LoopWarnings; n != 0 {
					t.Fatalf("warned %d times before number %d", n, i)
				}
				d.step(l, i)
			}
			if n := l.fold.Snapshot().Counters.LoopWarnings; n != 1 {
				t.Errorf("warned %d times at number %d", n, d.at)
			}
		})
	}
}

// An agent that works, and does alike things on the way, is not warned of.
func TestHonestWorkIsNoLoop(t *testing.T) {
	t.Parallel()
	l := newTeller(t, nil)
	l.begin()
	for i := range 40 {
		l.call("edit", fmt.Sprintf(`{"file":%d}`, i), harness.OutcomeOK, "done")
		l.call("bash", `{"c":"go test"}`, harness.OutcomeOK, fmt.Sprint(40-i, " tests fail"))
	}
	if s := l.fold.Snapshot(); s.Counters.LoopWarnings != 0 || s.Score < 90 {
		t.Errorf("%d warnings, score %d, %v", s.Counters.LoopWarnings, s.Score, l.codes())
	}
}

// A person who speaks begins a new page.
func TestAWordFromAPersonEndsALoop(t *testing.T) {
	t.Parallel()
	l := newTeller(t, nil)
	l.begin()
	for range 2 {
		l.call("bash", `{"c":"ls"}`, harness.OutcomeOK, "x")
	}
	l.tell(&harness.UserMessage{ItemID: "itm_s", Source: harness.FromSteer, Parts: harness.TextPart("again")})
	l.call("bash", `{"c":"ls"}`, harness.OutcomeOK, "x")
	if n := l.fold.Snapshot().Counters.LoopWarnings; n != 0 {
		t.Errorf("warned %d times", n)
	}
}

func TestPlanRepeats(t *testing.T) {
	t.Parallel()
	step := func(id string, i int, status string) *harness.StepProgress {
		return &harness.StepProgress{StepID: id, Index: i, Total: 2, Title: "step " + id, Status: status}
	}
	for _, c := range []struct {
		name string
		plan []*harness.StepProgress
		want int64
	}{
		{"steps that move on", []*harness.StepProgress{step("1", 0, "running"), step("1", 0, "completed"), step("2", 1, "running"), step("2", 1, "completed")}, 0},
		{"the whole plan each time something moves", []*harness.StepProgress{step("1", 0, "running"), step("2", 1, "pending"), step("1", 0, "completed"), step("2", 1, "pending"), step("1", 0, "completed"), step("2", 1, "running")}, 0},
		{"the same plan again and again", []*harness.StepProgress{step("1", 0, "running"), step("2", 1, "pending"), step("1", 0, "running"), step("2", 1, "pending"), step("1", 0, "running"), step("2", 1, "pending")}, 2},
		{"a step that goes back", []*harness.StepProgress{step("1", 0, "running"), step("1", 0, "completed"), step("1", 0, "running"), step("1", 0, "completed")}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newTeller(t, nil)
			l.begin()
			for _, p := range c.plan {
				l.tell(p)
			}
			l.tell(&harness.Response{Text: "so much for the plan"})
			if n := l.fold.Snapshot().Counters.RepeatedPlanEvents; n != c.want {
				t.Errorf("%d repeats, want %d", n, c.want)
			}
		})
	}
}
