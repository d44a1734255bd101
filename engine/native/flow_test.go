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

func TestATurnWritesRunsAndTells(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		r := newRig(t, client, `
when step 1
  say I write it.
  call write id=w1 {"path":"hello.sh","content":"echo hi-$((40+2))\n"}
when step 2
  call bash id=b1 {"command":"sh hello.sh"}
when result "hi-42"
  say It printed hi-42.
`, nil)
		st := r.prompt("write it and run it")
		if st.Status != harness.Idle || r.said() != "It printed hi-42." {
			t.Errorf("%s: said %q\n%s", st.Status, r.said(), r.story())
		}
		if got := r.file("hello.sh"); got != "echo hi-$((40+2))\n" {
			t.Errorf("the file has %q", got)
		}
		for _, o := range all[*harness.ToolOutcome](r) {
			if o.Status != harness.OutcomeOK || o.OutcomeType != "ToolExecutionResult" {
				t.Errorf("outcome %+v", o)
			}
		}
		if n := one[*harness.SandboxNotice](r); n.Isolation != "none" {
			t.Errorf("notice %+v", n)
		}
		if tools := one[*harness.TurnStartTools](r); len(tools.Tools) < 10 {
			t.Errorf("%d tools", len(tools.Tools))
		}
	})
}

// Nothing comes between a call and its result, whatever is said in between.
func TestWordsAreFoldedInAfterTheResults(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		begun, told := make(chan struct{}), make(chan struct{})
		wait := &toy{name: "wait", access: harness.AccessRead, then: func(ctx context.Context, _ *tool.Env, _ json.RawMessage) (tool.Result, error) {
			close(begun)
			select {
			case <-told:
				return tool.Result{Text: "waited"}, nil
			case <-ctx.Done():
				return tool.Result{}, context.Cause(ctx)
			}
		}}
		r := newRig(t, client, `
when user "use blue"
  say Blue then.
when step 1
  call wait {"n":1}
else
  say Red.
`, func(r *rig) { r.opts.Tools = []tool.Tool{wait} })
		r.do(harness.Submit{Source: harness.FromTurn, Parts: harness.TextPart("paint it")})
		<-begun
		r.do(harness.Steer{Parts: harness.TextPart("use blue")})
		close(told)
		r.rest()
		if r.said() != "Blue then." {
			t.Errorf("said %q\n%s", r.said(), r.story())
		}
		q := r.last()
		if len(q.Results) != 1 || q.Results[0] != "waited" || q.Said[len(q.Said)-1] != "use blue" {
			t.Errorf("results %q, said %q", q.Results, q.Said)
		}
	})
}

func TestADenialIsToldWithItsReason(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		r := newRig(t, client, `
when step 1
  call bash {"command":"rm -rf /tmp/x"}
when result "not today"
  say As you wish.
`, nil)
		r.configure(harness.Normal)
		r.do(harness.Submit{Source: harness.FromTurn, Parts: harness.TextPart("clean up")})
		r.answer(harness.Deny, "not today")
		r.rest()
		if o := one[*harness.ToolOutcome](r); o.Status != harness.OutcomeDenied || o.Reason != "not today" {
			t.Errorf("outcome %+v", o)
		}
		if q := one[*harness.ApprovalRequired](r); !strings.HasPrefix(q.Description, "run rm -rf /tmp/x") {
			t.Errorf("the question is %q", q.Description)
		}
		if r.said() != "As you wish." {
			t.Errorf("said %q\n%s", r.said(), r.story())
		}
	})
}

// Nobody is asked about a change that cannot be made; one that can be made once
// the calls before it have run is.
func TestNobodyIsAskedAboutWhatCannotBeDone(t *testing.T) {
	t.Parallel()
	r := newRig(t, "anthropic", `
when step 1
  call edit {"path":"a.txt","old_string":"one","new_string":"two"}
  call write {"path":"a.txt","content":"three"}
when result "was not read" and step 2
  call read {"path":"a.txt"}
  call edit {"path":"a.txt","old_string":"nothing like it","new_string":"two"}
  call edit {"path":"a.txt","old_string":"one","new_string":"two"}
else
  say Done.
`, nil)
	r.write("a.txt", "one\n")
	r.configure(harness.Normal)
	r.do(harness.Submit{Source: harness.FromTurn, Parts: harness.TextPart("change it")})
	r.answer(harness.Allow, "")
	r.rest()
	var got []string
	for _, o := range all[*harness.ToolOutcome](r) {
		got = append(got, o.Status)
	}
	if want := []string{"error", "error", "ok", "error", "ok"}; !slices.Equal(got, want) {
		t.Errorf("outcomes %q, want %q\n%s", got, want, r.story())
	}
	if q := one[*harness.ApprovalRequired](r); !strings.Contains(string(q.Input), `"one"`) || r.file("a.txt") != "two\n" {
		t.Errorf("asked about %s, the file has %q", q.Input, r.file("a.txt"))
	}
}

// An answer that comes after a restart lets the call run, once.
func TestAQuestionSurvivesARestart(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		r := newRig(t, client, `
when step 1
  think deeply
  call bash {"command":"printf x >> counter; printf ran"}
when result "ran"
  say It ran.
`, nil)
		r.configure(harness.Normal)
		r.do(harness.Submit{Source: harness.FromTurn, Parts: harness.TextPart("do it")})
		r.until("a question", func(st *harness.State) bool { return len(st.Pending) > 0 })
		r.restart()
		r.answer(harness.Allow, "")
		r.rest()
		if r.said() != "It ran." || r.file("counter") != "x" {
			t.Errorf("said %q, the file has %q\n%s", r.said(), r.file("counter"), r.story())
		}
	})
}

func TestCallsOfOneNameAreToldApartByTheirIDs(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		r := newRig(t, client, `
when step 1
  call bash id=one {"command":"echo 1"}
  call bash id=two {"command":"echo 2; exit 3"}
  call bash id=three {"command":"echo 3"}
when step 2
  call bash id=one {"command":"echo again"}
else
  say Done.
`, nil)
		r.prompt("count")
		got := map[harness.CallID]string{}
		for _, o := range all[*harness.ToolOutcome](r) {
			got[o.ToolCallID] = o.Status
		}
		if got["one"] != "ok" || got["two"] != "error" || got["three"] != "ok" || got["one_2"] != "ok" || len(got) != 4 {
			t.Errorf("outcomes %v\n%s", got, r.story())
		}
		first := r.server.Requests()[1]
		if len(first.Results) != 3 || first.Results[0] != "1" || !strings.HasSuffix(first.Results[1], "2\n[exit code 3]") || first.Results[2] != "3" {
			t.Errorf("results %q", first.Results)
		}
		if b := one[*harness.ToolBatch](r); len(b.Waves) != 3 {
			t.Errorf("waves %v", b.Waves)
		}
	})
}

func (r *rig) configure(m harness.Mode) {
	r.Helper()
	r.do(harness.Configure{Patch: harness.ConfigPatch{PermissionMode: &m}})
}

// restart closes the kernel and starts another on the same store.
func (r *rig) restart() {
	r.Helper()
	r.k.Close()
	r.engine.Close()
	r.boot(nil)
	if _, err := r.k.Recover(r.Context()); err != nil {
		r.Fatal(err)
	}
}
