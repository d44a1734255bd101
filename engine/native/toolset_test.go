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
		if len(v) != 3 || !v[0].Repaired || v[1].Repaired || len(v[1].Errors) == 0 || v[2].ToolCallID != "right" || !v[2].Repaired || !slices.Equal(v[2].Errors, v[1].Errors) {
			t.Errorf("validation errors %+v", v)
		}
	})
}

// A call that does not fit costs one repair round. After it the turn goes on
// without the call, and ends if the model insists, whatever it gets wrong.
func TestACallHasOneRepairRound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script   string
		requests int
		fails    string // the turn does
		said     string
	}{
		"it fits then":        {"when step 1\n call bash {\"cmd\":\"a\"}\nwhen step 2\n call bash {\"command\":\"echo b\"}\nelse\n say Done.", 3, "", "Done."},
		"it is left out then": {"when step 1\n call bash {\"cmd\":\"a\"}\nwhen step 2\n call bash {\"cmd\":\"b\"}\nwhen result \"Go on without this call\"\n say Left out.", 3, "", "Left out."},
		"the model insists":   {"call bash {\"cmd\":\"a\"}", 3, "the arguments of bash did not fit 3 times in a row", ""},
		"in other ways":       {"when step 1\n call bash {\"a\":1}\nwhen step 2\n call bash {\"b\":1}\nwhen step 3\n call bash {\"c\":1}\nelse\n say Done.", 3, "the arguments of bash did not fit 3 times in a row", ""},
		"two of one answer":   {"when step 1\n call bash {\"a\":1}\n call bash {\"b\":1}\nwhen step 2\n call bash {\"c\":1}\nelse\n say Done.", 3, "", "Done."},
		"of several tools":    {"when step 1\n call bash {\"a\":1}\nwhen step 2\n call read {\"a\":1}\nwhen step 3\n call glob {\"a\":1}\nelse\n say Done.", 4, "", "Done."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "chat", c.script, nil)
			r.prompt("go")
			if n := len(r.server.Requests()); n != c.requests {
				t.Errorf("the model was asked %d times, want %d\n%s", n, c.requests, r.story())
			}
			failed := ""
			for _, f := range all[*harness.Failure](r) {
				failed = f.Message
			}
			if (c.fails == "") != (failed == "") || !strings.Contains(failed, c.fails) || r.said() != c.said {
				t.Errorf("said %q, failed with %q\n%s", r.said(), failed, r.story())
			}
		})
	}
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
