package native_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"harness"
	"harness/tool"
)

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
