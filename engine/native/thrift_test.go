package native_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"harness"
	"harness/engine/native"
	"harness/model"
	"harness/tool"
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

func TestCancelEndsWhatRuns(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		r := newRig(t, client, `
when step 1
  say I wait.
  call bash {"command":"echo begun; sleep 600 & echo $! > pid; wait"}
else
  say Done.
`, nil)
		r.do(harness.Submit{Source: harness.FromTurn, Parts: harness.TextPart("wait")})
		r.until("the command", func(st *harness.State) bool { return strings.Contains(said(st), "begun") })
		r.do(harness.Cancel{})
		st := r.rest()
		if st.Status != harness.Idle {
			t.Errorf("%s\n%s", st.Status, r.story())
		}
		if pid := strings.TrimSpace(r.file("pid")); alive(pid) {
			t.Errorf("process %s runs", pid)
		}
		if o := one[*harness.ToolOutcome](r); o.Reason != harness.TurnCancelled {
			t.Errorf("outcome %+v", o)
		}
		r.prompt("what happened?")
		if body := string(r.last().Body); !strings.Contains(body, "I wait.") || !strings.Contains(body, "This call was cancelled") {
			t.Errorf("the next request does not say what happened: %s", body)
		}
	})
}

// said is everything that a watcher reads of the turn.
func said(st *harness.State) string {
	var b strings.Builder
	for _, m := range st.Messages {
		b.WriteString(m.Content.String())
		for _, c := range m.Calls {
			b.WriteString(c.Output.String())
		}
	}
	return b.String()
}

func TestCancelKeepsTheTextSoFar(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		r := newRig(t, client, "when user \"hello\"\n  say Half an\n  part bash {\"comm\n  pause\nelse\n  say Whole.", nil)
		r.do(harness.Submit{Source: harness.FromTurn, Parts: harness.TextPart("hello")})
		r.until("some text", func(st *harness.State) bool { return strings.Contains(said(st), "Half an") })
		r.do(harness.Cancel{})
		r.rest()
		if len(all[*harness.ToolCall](r)) > 0 {
			t.Errorf("half a call became one\n%s", r.story())
		}
		r.prompt("go on")
		if body := string(r.last().Body); !strings.Contains(body, "Half an") || r.said() != "Whole." {
			t.Errorf("said %q after %s", r.said(), body)
		}
	})
}

func TestSignedThoughtsGoBackWithinTheTurn(t *testing.T) {
	t.Parallel()
	for _, client := range []string{"anthropic", "responses"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, client, `
when user "more"
  say Bye.
when step 1
  think I should look.
  call bash {"command":"echo hi"}
else
  say Done.
`, nil)
			effort := harness.EffortHigh
			r.do(harness.Configure{Patch: harness.ConfigPatch{Effort: &effort}})
			r.prompt("look")
			second := string(r.last().Body)
			field := map[string]string{"anthropic": `"signature"`, "responses": `"encrypted_content"`}[client]
			if !strings.Contains(second, field) {
				t.Errorf("the thought did not go back: %s", second)
			}
			r.prompt("more")
			if third := messages(t, r.last().Body); slices.ContainsFunc(third, func(m json.RawMessage) bool { return strings.Contains(string(m), field) }) {
				t.Errorf("the thought goes along in the next turn: %s", third)
			}
		})
	}
}

func TestACallWithWrongArgumentsIsRepaired(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		r := newRig(t, client, `
when step 1
  call bash id=mended {"command":"echo 1","timeout_seconds":"5"}
when step 2
  call bash id=wrong {"cmd":"echo 2"}
when result "command"
  call bash id=right {"command":"echo 3"}
when result "3"
  say Done.
`, nil)
		r.prompt("go")
		got := map[harness.CallID]string{}
		for _, o := range all[*harness.ToolOutcome](r) {
			got[o.ToolCallID] = o.Status
		}
		if got["mended"] != "ok" || got["wrong"] != "error" || got["right"] != "ok" || r.said() != "Done." {
			t.Errorf("outcomes %v\n%s", got, r.story())
		}
		v := all[*harness.ToolValidationError](r)
		if len(v) != 2 || !v[0].Repaired || v[1].Repaired || len(v[1].Errors) == 0 {
			t.Errorf("validation errors %+v", v)
		}
	})
}

func TestBrokenArgumentsAreTold(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		if client == "anthropic" {
			t.Skip("its server never sends such")
		}
		r := newRig(t, client, "when step 1\n  call nothing id=a {}\nwhen result \"there is no tool\"\n  say Sorry.", nil)
		r.prompt("go")
		if o := one[*harness.ToolOutcome](r); o.Status != harness.OutcomeError || r.said() != "Sorry." {
			t.Errorf("outcome %+v, said %q", o, r.said())
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

func TestTheModelMayChangeBetweenAnswers(t *testing.T) {
	t.Parallel()
	var r *rig
	swap := &toy{name: "swap", access: harness.AccessRead, then: func(context.Context, *tool.Env, json.RawMessage) (tool.Result, error) {
		other := "other-model"
		r.do(harness.Configure{Patch: harness.ConfigPatch{Model: &other}})
		return tool.Result{Text: "ok"}, nil
	}}
	r = newRig(t, "chat", "when step 1\n  call swap {}\nelse\n  say Done.", func(r *rig) { r.opts.Tools = []tool.Tool{swap} })
	r.prompt("go")
	if q := r.server.Requests(); q[0].Model != "test-model" || q[1].Model != "other-model" {
		t.Errorf("asked %s, then %s", q[0].Model, q[1].Model)
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

// A prompt with a fresh context knows nothing of what was before it; what comes
// after continues it.
func TestAFreshTurnBeginsTheConversationAnew(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		r := newRig(t, client, "say Yes.", nil)
		r.prompt("alpha")
		r.do(harness.Submit{Source: harness.FromSubmit, Parts: harness.TextPart("beta")})
		r.rest()
		if body := string(r.last().Body); strings.Contains(body, "alpha") || !strings.Contains(body, "beta") {
			t.Errorf("the fresh turn asks %s", body)
		}
		r.restart()
		r.prompt("gamma")
		if body := string(r.last().Body); strings.Contains(body, "alpha") || !strings.Contains(body, "beta") || !strings.Contains(body, "gamma") {
			t.Errorf("what continues it asks %s", body)
		}
	})
}

// A branch reads the parent's conversation up to its place and no further.
func TestABranchContinuesTheConversation(t *testing.T) {
	t.Parallel()
	r := newRig(t, "chat", "say Yes.", nil)
	r.prompt("alpha")
	at := r.log()[len(r.log())-1].Seq
	r.prompt("beta")
	id, err := r.k.Create(t.Context(), harness.NewSession{ID: "ses_branch", From: &harness.Branch{Session: r.id, Seq: at}})
	if err != nil {
		t.Fatal(err)
	}
	r.id = id
	r.prompt("gamma")
	if body := string(r.last().Body); !strings.Contains(body, "alpha") || strings.Contains(body, "beta") || !strings.Contains(body, "gamma") {
		t.Errorf("the branch asks %s", body)
	}
}

func TestManyToolsAreChosenFromAndTheRestIsFound(t *testing.T) {
	t.Parallel()
	r := newRig(t, "chat", `
when step 1
  call search_tools {"query":"weather forecast"}
when step 2
  call weather_forecast {}
when result "sunny"
  say Sunny.
`, func(r *rig) {
		r.opts.Limits = native.Limits{Tools: 10}
		for i := range 30 {
			r.opts.Tools = append(r.opts.Tools, &plain{name: fmt.Sprintf("unrelated_%d", i), text: "Does something with spreadsheets."})
		}
		r.opts.Tools = append(r.opts.Tools, &plain{name: "weather_forecast", text: "Says how the weather will be."})
	})
	r.prompt("please run the command and read files")
	q := r.server.Requests()
	if len(q[0].Tools) > 11 || !slices.Contains(q[0].Tools, "search_tools") || slices.Contains(q[0].Tools, "weather_forecast") {
		t.Errorf("offered %q", q[0].Tools)
	}
	if !slices.Contains(q[1].Tools, "weather_forecast") || !slices.IsSorted(q[1].Tools) || r.said() != "Sunny." {
		t.Errorf("offered %q after the search, said %q\n%s", q[1].Tools, r.said(), r.story())
	}
	if s := one[*harness.ToolSelected](r); len(s.Tools) == 0 {
		t.Errorf("selected %+v", s)
	}
}

// plain is a tool that says one thing.
type plain struct{ name, text string }

func (p *plain) Spec() tool.Spec {
	return tool.Spec{Name: p.name, Description: p.text, Schema: json.RawMessage(`{"type":"object"}`)}
}

func (p *plain) Plan(*tool.Env, json.RawMessage) (tool.Plan, error) {
	return tool.Plan{Access: harness.AccessRead, Keys: []string{p.name}}, nil
}

func (p *plain) Run(context.Context, *tool.Env, json.RawMessage) (tool.Result, error) {
	return tool.Result{Text: "sunny"}, nil
}
