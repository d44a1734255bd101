package node_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"harness"
	"harness/kernel"
	"harness/store/postgres/postgrestest"
)

// TestARuleIsRevokedOnEveryNode makes a rule on one node and revokes it on
// another: the first asks again.
func TestARuleIsRevokedOnEveryNode(t *testing.T) {
	t.Parallel()
	n := cluster(t, 2, setting{script: "ask bash {\"command\":\"x\"} => ran\nsay done", opts: kernel.Options{Directory: "/somewhere"}})
	a, b := n[0], n[1]
	id := a.create(harness.NewSession{Config: harness.ConfigPatch{}})
	watch := b.watch(id, 1)
	a.do(id, submit("first"))
	watch.until("a question", has[*harness.ApprovalRequired](1))
	st, err := b.At(t.Context(), id, 0)
	if err != nil {
		t.Fatal(err)
	}
	b.do(id, harness.Answer{Approval: st.Pending[0].ID, Decision: harness.Decision{Verdict: harness.Allow, Scope: harness.Always}})
	watch.until("its end", has[*harness.TurnEnd](1))
	var rule harness.RuleID
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for every := time.NewTicker(5 * time.Millisecond); rule == ""; <-every.C {
		for r, err := range b.Rules(ctx, "") {
			if err != nil {
				t.Fatal(err)
			}
			rule = r.ID
		}
	}
	a.do(id, submit("second"))
	watch.until("a turn without a question", has[*harness.TurnEnd](2))
	if err := b.Revoke(t.Context(), rule); err != nil {
		t.Fatal(err)
	}
	for i := 3; count[*harness.ApprovalRequired](b.log(id)) < 2; i++ { // until a has heard
		a.do(id, submit(fmt.Sprint("turn ", i)))
		watch.until("a question or an end", func(events []harness.Event) bool {
			return count[*harness.ApprovalRequired](events) == 2 || count[*harness.TurnEnd](events) == i
		})
	}
}

// TestBackgroundSessionsMoveWithTheirLine makes more sessions on one node than it
// runs at a time, and takes it away: what ran and what waited goes on elsewhere.
func TestBackgroundSessionsMoveWithTheirLine(t *testing.T) {
	t.Parallel()
	for how, stop := range map[string]func(*member, *postgrestest.Wall){
		"Stopped": func(m *member, _ *postgrestest.Wall) { m.close() },
		"CutOff":  func(_ *member, w *postgrestest.Wall) { w.Cut(postgrestest.BothWays) },
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			url := postgrestest.Start(t).URL(t)
			wall := postgrestest.NewWall(t, url)
			a := join(t, wall.URL, "a", setting{script: "hang", opts: kernel.Options{Concurrency: 1}})
			b := join(t, url, "b", setting{script: "say done", opts: kernel.Options{Concurrency: 1, Backoff: time.Millisecond}})
			var ids []harness.SessionID
			for i := range 3 {
				id, err := a.Create(t.Context(), harness.NewSession{Kind: harness.Background, Prompt: harness.TextPart(fmt.Sprint("work ", i)), MaxRetries: new(2)})
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, id)
			}
			a.eventually(ids[0], "the first one runs", has[*harness.TurnStart](1))
			stop(a, wall)
			for _, id := range ids {
				events := b.eventually(id, "it is done elsewhere", has[*harness.TurnEnd](1))
				if n := count[*harness.UserMessage](events); n != 1 {
					t.Errorf("%s was asked %d times", id, n)
				}
			}
			wall.Mend()
		})
	}
}
