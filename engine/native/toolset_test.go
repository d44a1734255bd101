package native_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"harness"
	"harness/engine/native"
	"harness/tool"
)

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

func TestAnUnknownToolIsToldSo(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		r := newRig(t, client, "when step 1\n  call nothing id=a {}\nwhen result \"there is no tool\"\n  say Sorry.", nil)
		r.prompt("go")
		if o := one[*harness.ToolOutcome](r); o.Status != harness.OutcomeError || r.said() != "Sorry." {
			t.Errorf("outcome %+v, said %q", o, r.said())
		}
	})
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
