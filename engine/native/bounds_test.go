package native_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"harness"
	"harness/model"
)

func TestALongOutputBecomesAnArtifact(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		for _, shelf := range []bool{true, false} {
			t.Run(fmt.Sprintf("kept=%t", shelf), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, client, `
when step 1
  call bash {"command":"seq 1 5000"}
else
  say Done.
`, func(r *rig) {
					if shelf {
						r.kopts.Shelf = newShelf()
					}
				})
				r.prompt("count")
				o, q := one[*harness.ToolOutcome](r), r.last()
				if got := q.Results[0]; !strings.HasPrefix(got, "1\n2\n3\n") || !strings.HasSuffix(got, "4999\n5000") || len(got) > 7000 {
					t.Errorf("the model reads %d bytes: %s … %s", len(got), got[:40], got[len(got)-40:])
				}
				if !shelf {
					if o.Status != harness.OutcomeOK || !strings.Contains(q.Results[0], "the rest was not kept") {
						t.Errorf("outcome %+v", o)
					}
					return
				}
				a := one[*harness.Artifact](r)
				if o.Status != harness.OutcomeArtifact || o.ArtifactID != a.ArtifactID || o.OutcomeType != "ToolArtifactReference" || a.ArtifactType != "tool_output" {
					t.Errorf("outcome %+v, artifact %+v", o, a)
				}
				if !strings.Contains(q.Results[0], a.ArtifactID) {
					t.Errorf("the model does not know where the rest is")
				}
			})
		}
	})
}

func TestAModelThatGoesInCirclesIsToldOnceAndStopped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script, says string }{
		{"same call", "call bash {\"command\":\"echo same\"}", "bash was called 3 times in a row with the same arguments"},
		{"same error", "when step 1\n  call read {\"path\":\"a\"}\nelse\n  call read {\"path\":\"a\"}", "read"},
		{"in turns", alternate(), "bash and bash were called in turns 6 times"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "chat", c.script, nil)
			st := r.prompt("go")
			f := one[*harness.Failure](r)
			if st.Status != harness.StatusFailed || f.Retryable || !strings.Contains(f.Message, "goes in circles: "+c.says) {
				t.Errorf("%s, %+v\n%s", st.Status, f, r.story())
			}
			told := 0
			for _, p := range all[*harness.Reflection](r) {
				if strings.Contains(p.Text, "going in circles") {
					told++
				}
			}
			if told != 1 || !strings.Contains(string(r.last().Body), "You are going in circles") {
				t.Errorf("the model was told %d times\n%s", told, r.story())
			}
		})
	}
}

func alternate() string {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "when step %d\n  call bash {\"command\":\"echo %d\"}\n", i+1, i%2)
	}
	return b.String()
}

func TestFailingStepsMakeTheModelLookBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, "chat", `
when user "what did you assume"
  say I see.
when step 1
  call bash {"command":"exit 1"}
when step 2
  call bash {"command":"exit 2"}
else
  say Hm.
`, nil)
	r.prompt("go")
	if p := one[*harness.Reflection](r); !strings.Contains(p.Text, "exit code 1") || !strings.Contains(p.Text, "exit code 2") || r.said() != "I see." {
		t.Errorf("reflection %q, said %q", p.Text, r.said())
	}
}

func TestMaxTurnsBoundsTheAnswers(t *testing.T) {
	t.Parallel()
	r := newRig(t, "chat", alternate(), nil)
	two := 2
	r.do(harness.Configure{Patch: harness.ConfigPatch{MaxTurns: &two}})
	r.prompt("go")
	if f := one[*harness.Failure](r); len(r.server.Requests()) != 2 || !strings.Contains(f.Message, "has had its 2 answers") {
		t.Errorf("%d requests, %+v", len(r.server.Requests()), f)
	}
}

func TestAnAnswerThatIsTooLongGoesOn(t *testing.T) {
	t.Parallel()
	for _, client := range []string{"anthropic", "chat"} {
		r := newRig(t, client, `
when user "reached the limit"
  say two.
else
  say one,
  stop max_tokens
`, nil)
		st := r.prompt("count")
		if st.Status != harness.Idle || r.said() != "two." {
			t.Errorf("%s, said %q\n%s", st.Status, r.said(), r.story())
		}
	}
}

func TestAPausedAnswerIsSentBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, "anthropic", `
when request 1
  say one,
  stop pause_turn
else
  say two.
`, nil)
	r.prompt("count")
	var last struct {
		Role    string
		Content []struct{ Text string }
	}
	list := messages(t, r.last().Body)
	if err := json.Unmarshal(list[len(list)-1], &last); err != nil || last.Role != "assistant" || last.Content[0].Text != "one," {
		t.Errorf("%v: the last message is %s", err, list[len(list)-1])
	}
	if r.said() != "two." {
		t.Errorf("said %q", r.said())
	}
}

func TestCostsAreSummedAndUnknownOnesSaidSo(t *testing.T) {
	t.Parallel()
	script := "when step 1\n  usage in=1000 out=100 cached=500\n  call bash {\"command\":\"true\"}\nelse\n  usage in=2000 out=100\n  say Done."
	priced := newRig(t, "anthropic", script, func(r *rig) {
		r.opts.Facts = model.Facts{"anthropic/test-model": {Window: 10_000, Price: &model.Price{Input: 1, CacheRead: 0.1, CacheWrite: 1, Output: 10}}}
	})
	priced.prompt("go")
	u := all[*harness.Usage](priced)
	if len(u) != 2 || u[1].CostUSD == nil || u[1].OutputTokens != 200 || u[1].InputTokens <= u[0].InputTokens || u[1].CachedTokens != 500 || u[1].ContextPct == nil {
		t.Fatalf("usage %+v", u)
	}
	if got, once := *u[1].CostUSD, *u[0].CostUSD; got <= once || got > 0.02 {
		t.Errorf("cost %f, then %f", once, got)
	}
	free := newRig(t, "anthropic", script, nil)
	free.prompt("go")
	for _, u := range all[*harness.Usage](free) {
		if u.CostUSD != nil || u.ContextPct != nil {
			t.Errorf("usage of an unknown model %+v", u)
		}
	}
}
