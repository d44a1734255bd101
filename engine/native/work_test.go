package native_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"harness"
	"harness/engine/native"
	"harness/memory"
	"harness/tool"
	"harness/tool/mcp"
)

func TestHooksSeeAndRefuse(t *testing.T) {
	t.Parallel()
	r := newRig(t, "chat", `
when user "add a test"
  say With a test.
when step 1
  call bash id=bad {"command":"rm x"}
when step 2
  call bash id=good {"command":"echo fine"}
when step 3
  say Without a test.
`, func(r *rig) {
		r.opts.Hooks = []native.Hook{
			{On: native.HookTurnStart, Command: "cat > started.json"},
			{On: native.HookBeforeTool, Tools: "bash", Command: `if grep -q '"rm '; then echo 'no removing here' >&2; exit 2; fi`},
			{On: native.HookBeforeTool, Tools: "write", Command: "exit 2"},
			{On: native.HookAfterTool, Tools: "ba*", Command: "cat >> after.json; exit 1"},
			{On: native.HookStop, Command: "test -e stopped || { touch stopped; echo 'add a test'; exit 2; }"},
			{On: native.HookTurnEnd, Command: "cat > ended.json"},
		}
	})
	st := r.prompt("go")
	if st.Status != harness.Idle || r.said() != "With a test." {
		t.Errorf("%s, said %q\n%s", st.Status, r.said(), r.story())
	}
	outcomes := all[*harness.ToolOutcome](r)
	if len(outcomes) != 2 || outcomes[0].Status != harness.OutcomeDenied || outcomes[0].Reason != "a hook said no: no removing here" || outcomes[1].Status != harness.OutcomeOK {
		t.Errorf("outcomes %+v", outcomes)
	}
	var start, after struct {
		Event, Prompt, Tool, Status, Output string
		Session                             string `json:"session_id"`
	}
	if err := json.Unmarshal([]byte(r.file("started.json")), &start); err != nil || start.Event != "turn_start" || start.Prompt != "go" || start.Session != "ses_1" {
		t.Errorf("%v: the hook read %+v", err, start)
	}
	if err := json.Unmarshal([]byte(r.file("after.json")), &after); err != nil || after.Tool != "bash" || after.Status != "ok" || after.Output != "fine" {
		t.Errorf("%v: the hook read %+v", err, after)
	}
	if !strings.Contains(r.file("ended.json"), `"status":"completed"`) {
		t.Errorf("the last hook read %q", r.file("ended.json"))
	}
	seen := map[string]bool{}
	for _, h := range all[*harness.HookEvent](r) {
		seen[h.Kind+" "+h.Status] = true
	}
	for _, want := range []string{"turn_start ok", "before_tool blocked", "before_tool ok", "after_tool failed", "stop blocked", "stop ok", "turn_end ok"} {
		if !seen[want] {
			t.Errorf("no hook_event says %s: %v", want, seen)
		}
	}
}

func TestAHookCanKeepATurnFromBeginning(t *testing.T) {
	t.Parallel()
	r := newRig(t, "chat", "say Hello.", func(r *rig) {
		r.opts.Hooks = []native.Hook{{On: native.HookTurnStart, Command: "echo closed on Sundays; exit 2"}}
	})
	r.prompt("go")
	if f := one[*harness.Failure](r); !strings.Contains(f.Message, "closed on Sundays") || len(r.server.Requests()) > 0 {
		t.Errorf("%+v, %d requests", f, len(r.server.Requests()))
	}
}

func TestAHookThatHangsIsEnded(t *testing.T) {
	t.Parallel()
	r := newRig(t, "chat", "say Hello.", func(r *rig) {
		r.opts.Hooks = []native.Hook{{On: native.HookTurnStart, Command: "sleep 600", Timeout: 1}}
	})
	if st := r.prompt("go"); st.Status != harness.Idle {
		t.Errorf("%s\n%s", st.Status, r.story())
	}
	if h := one[*harness.HookEvent](r); h.Status != "timeout" && h.Status != "failed" {
		t.Errorf("%+v", h)
	}
}

func TestProjectInstructionsAndSkillsReachTheModel(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		r := newRig(t, client, `
when step 1
  call skill {"name":"release"}
when result "bump the version"
  say Bumped.
`, nil)
		r.write("AGENTS.md", "Use tabs.")
		r.write("CLAUDE.md", "Use tabs.")
		r.write(".harness/skills/release/SKILL.md", "---\nname: release\ndescription: How to make a release.\n---\nFirst bump the version.\n")
		r.write(".harness/skills/broken/SKILL.md", "")
		r.prompt("release it")
		system := r.last().System
		for _, want := range []string{`<instructions file="AGENTS.md">`, "Use tabs.", "- release: How to make a release.", r.dir} {
			if !strings.Contains(system, want) {
				t.Errorf("the system prompt does not have %q:\n%s", want, system)
			}
		}
		if strings.Contains(system, "CLAUDE.md") || strings.Contains(system, "bump the version") || strings.Contains(system, "broken") {
			t.Errorf("the system prompt has too much:\n%s", system)
		}
		if r.said() != "Bumped." {
			t.Errorf("said %q\n%s", r.said(), r.story())
		}
	})
}

// The instructions of a folder come when something is done in it, and once.
func TestInstructionsOfAFolderComeWithItsFiles(t *testing.T) {
	t.Parallel()
	r := newRig(t, "chat", `
when step 1
  call read {"path":"web/ui/app.js"}
when step 2
  call read {"path":"web/ui/app.js"}
when step 3
  call bash {"command":"true"}
else
  say Done.
`, nil)
	r.write("web/AGENTS.md", "No frameworks.")
	r.write("web/ui/CLAUDE.md", "Two spaces.")
	r.write("web/ui/app.js", "let x")
	r.prompt("look")
	body := string(r.last().Body)
	if strings.Count(body, "No frameworks.") != 1 || strings.Count(body, "Two spaces.") != 1 || strings.Contains(r.last().System, "No frameworks") {
		t.Errorf("the last request is %s\n%s", body, r.story())
	}
	if first := string(r.server.Requests()[0].Body); strings.Contains(first, "No frameworks.") {
		t.Errorf("they came before anything was done: %s", first)
	}
}

func TestAPlanIsAGraphAndItsStepsArePlacesToComeBackTo(t *testing.T) {
	t.Parallel()
	plan := func(a, b string) string {
		return fmt.Sprintf(`call plan {"steps":[{"id":"a","title":"Look","status":%q},{"id":"b","title":"Do","status":%q,"after":["a"]}]}`, a, b)
	}
	r := newRig(t, "chat", "when step 1\n  "+plan("in_progress", "pending")+"\nwhen step 2\n  "+plan("completed", "in_progress")+"\nwhen step 3\n  "+plan("completed", "completed")+"\nelse\n  say Done.",
		func(r *rig) { r.kopts.Shelf = newShelf() })
	st := r.prompt("plan it")
	if r.said() != "Done." {
		t.Fatalf("said %q\n%s", r.said(), r.story())
	}
	if a := one[*harness.Artifact](r); a.ArtifactType != "task_graph" || !strings.Contains(string(a.Metadata), `"after":["a"]`) {
		t.Errorf("artifact %+v", a)
	}
	var steps []string
	for _, p := range all[*harness.StepProgress](r) {
		steps = append(steps, fmt.Sprintf("%s %d/%d %s", p.StepID, p.Index+1, p.Total, p.Status))
	}
	if want := []string{"a 1/2 in_progress", "b 2/2 pending", "a 1/2 completed", "b 2/2 in_progress", "b 2/2 completed"}; !slices.Equal(steps, want) {
		t.Errorf("steps %q, want %q", steps, want)
	}
	var places []string
	for _, c := range st.Trail().Checkpoints {
		places = append(places, c.Payload.CheckpointType+" "+c.Payload.SummaryText)
	}
	if !slices.Equal(places, []string{"step Look", "step Do"}) {
		t.Errorf("places %q", places)
	}
}

// S3 has a background run say how far it is, also if it is done in one go.
func TestABackgroundRunWithoutAPlanIsOneStep(t *testing.T) {
	t.Parallel()
	r := newRig(t, "chat", "else\n  say Done.", func(r *rig) { r.kopts.Shelf = newShelf() })
	r.id = "ses_2"
	if _, err := r.k.Create(t.Context(), harness.NewSession{ID: r.id, Kind: harness.Background}); err != nil {
		t.Fatal(err)
	}
	r.prompt("count the files\nall of them")
	var steps []string
	for _, p := range all[*harness.StepProgress](r) {
		steps = append(steps, fmt.Sprintf("%s %d/%d %s %s", p.StepID, p.Index+1, p.Total, p.Status, p.Title))
	}
	if want := []string{"task 1/1 in_progress count the files", "task 1/1 completed count the files"}; !slices.Equal(steps, want) {
		t.Errorf("steps %q, want %q\n%s", steps, want, r.story())
	}
	if a := one[*harness.Artifact](r); a.ArtifactType != "task_graph" {
		t.Errorf("artifact %+v", a)
	}
}

func TestATaskIsASessionOfItsOwn(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		r := newRig(t, client, `
when user "count the files"
  say There are 7.
when step 1
  call task {"description":"count","prompt":"count the files"}
when result "There are 7."
  say The helper says 7.
`, nil)
		r.prompt("delegate it")
		if r.said() != "The helper says 7." {
			t.Errorf("said %q\n%s", r.said(), r.story())
		}
		s := slices.DeleteFunc(all[*harness.SubagentEvent](r), func(e *harness.SubagentEvent) bool { return e.Tally != nil }) // those are the kernel's
		if len(s) != 2 || s[0].Status != harness.SubagentRunning || s[1].Status != harness.SubagentCompleted || s[0].AgentID != s[1].AgentID || s[1].Summary != "There are 7." || s[0].ParentSessionID != r.id {
			t.Errorf("subagent events %+v", s)
		}
	})
}

func TestATaskThatFailsIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t, "chat", `
when user "impossible"
  status 401 no
when step 1
  call task {"description":"x","prompt":"impossible"}
when result "the subagent failed"
  say It failed.
`, nil)
	r.prompt("delegate it")
	s := all[*harness.SubagentEvent](r)
	if r.said() != "It failed." || len(s) != 2 || s[1].Status != harness.SubagentFailed {
		t.Errorf("said %q, %+v\n%s", r.said(), s, r.story())
	}
}

func TestAskUserIsAQuestionWithAnAnswer(t *testing.T) {
	each(t, func(t *testing.T, client string) {
		r := newRig(t, client, `
when step 1
  call ask_user {"question":"Which colour?","options":[{"label":"red"},{"label":"blue"}]}
when result "blue, please"
  say Blue.
`, nil)
		r.configure(harness.Normal)
		r.do(harness.Submit{Source: harness.FromTurn, Parts: harness.TextPart("paint")})
		r.answer(harness.Deny, "blue, please")
		r.rest()
		if q := one[*harness.ApprovalRequired](r); q.Description != "Which colour?\n1. red\n2. blue" {
			t.Errorf("asked %q", q.Description)
		}
		if o := one[*harness.ToolOutcome](r); o.Status != harness.OutcomeOK || r.said() != "Blue." {
			t.Errorf("outcome %+v, said %q", o, r.said())
		}
	})
}

func TestNobodyIsAskedInFullAuto(t *testing.T) {
	t.Parallel()
	r := newRig(t, "chat", "when step 1\n  call ask_user {\"question\":\"Which colour?\"}\nwhen result \"Decide yourself\"\n  say Red.", nil)
	r.prompt("paint")
	if r.said() != "Red." {
		t.Errorf("said %q\n%s", r.said(), r.story())
	}
}

func TestWhatIsRememberedWasAcceptedAndIsCited(t *testing.T) {
	t.Parallel()
	r := newRig(t, "chat", `
when user "Cite the name"
  say Tabs, as remembered.
when step 1
  call memory {"action":"remember","text":"Indent with tabs, never with spaces.","reason":"the user said so"}
else
  say Noted.
`, func(r *rig) {
		book := filepath.Join(r.TempDir(), "memory")
		r.opts.Memory = func(string) (*memory.Book, error) { return memory.Open(book) }
	})
	r.configure(harness.Normal)
	r.do(harness.Submit{Source: harness.FromTurn, Parts: harness.TextPart("remember how to indent")})
	r.answer(harness.Allow, "")
	r.rest()
	if r.said() != "Noted." {
		t.Fatalf("said %q\n%s", r.said(), r.story())
	}
	if sum := one[*harness.Antahkarana](r); !strings.Contains(string(sum.Chitta), "Indent with tabs") || !strings.Contains(string(sum.Buddhi), `"status":"completed"`) {
		t.Errorf("the turn is summed up as %s and %s", sum.Chitta, sum.Buddhi)
	}
	r.prompt("how do I indent with tabs?")
	g := one[*harness.Retrieval](r)
	if r.said() != "Tabs, as remembered." || len(g.Chunks) != 1 || !strings.HasPrefix(g.Chunks[0].Source, "memory:indent-with-tabs") {
		t.Errorf("said %q, %+v", r.said(), g)
	}
	if body := string(r.last().Body); !strings.Contains(body, "[memory:indent-with-tabs") || !strings.Contains(body, "From: the user said so") {
		t.Errorf("the request does not cite it: %s", body)
	}
}

func TestAWorkspaceIsOpenedOnceAndClosedWhenIdle(t *testing.T) {
	t.Parallel()
	r := newRig(t, "chat", "when user \"start\" and step 1\n  call bash {\"command\":\"sleep 600 & echo $! > pid; wait\",\"run_in_background\":true}\nelse\n  say Done.", nil)
	r.prompt("start")
	r.prompt("again")
	for _, sum := range all[*harness.Antahkarana](r) { // each turn says where it ran
		if !strings.Contains(string(sum.Ahamkara), `"permission_mode":"full_auto","sandbox":"none"`) {
			t.Errorf("ran as %s", sum.Ahamkara)
		}
	}
	pid := ""
	r.until("the process", func(*harness.State) bool { pid = strings.TrimSpace(r.file("pid")); return true })
	if err := r.engine.Close(); err != nil {
		t.Error(err)
	}
	if alive(pid) {
		t.Errorf("process %s runs after Close", pid)
	}
	r.prompt("after")
	if f := one[*harness.Failure](r); !strings.Contains(f.Message, "the engine is closed") {
		t.Errorf("%+v", f)
	}
}

func TestACallThatTakesTooLongIsATimeout(t *testing.T) {
	t.Parallel()
	r := newRig(t, "chat", "when step 1\n  call bash {\"command\":\"echo before; sleep 600\"}\nwhen result \"timed out\"\n  say Too slow.", func(r *rig) { r.opts.Limits.Call = 300_000_000 })
	r.prompt("go")
	if o := one[*harness.ToolOutcome](r); o.Status != harness.OutcomeTimeout || o.OutcomeType != "ToolTimeout" || r.said() != "Too slow." {
		t.Errorf("outcome %+v, said %q\n%s", o, r.said(), r.story())
	}
}

func TestAToolThatPanicsIsAFailedCall(t *testing.T) {
	t.Parallel()
	r := newRig(t, "chat", "when step 1\n  call boom {}\nwhen result \"broke down\"\n  say Ouch.", func(r *rig) { r.opts.Tools = []tool.Tool{boom{&plain{name: "boom"}}} })
	r.prompt("go")
	if o := one[*harness.ToolOutcome](r); o.Status != harness.OutcomeError || r.said() != "Ouch." {
		t.Errorf("outcome %+v, said %q", o, r.said())
	}
}

type boom struct{ *plain }

func (boom) Spec() tool.Spec {
	return tool.Spec{Name: "boom", Schema: json.RawMessage(`{"type":"object"}`)}
}

func (boom) Run(_ context.Context, _ *tool.Env, _ json.RawMessage) (tool.Result, error) {
	panic("boom")
}

func TestASearchCitesItsPassages(t *testing.T) {
	t.Parallel()
	r := newRig(t, "chat", `
when step 1
  call local_search {"query":"how are invoices rounded","glob":"docs/**"}
when result "half to even"
  say As docs/money.md says.
`, nil)
	r.write("docs/money.md", "# Money\n\nInvoices are rounded half to even.\n")
	r.write("notes/money.md", "Invoices are rounded down.\n")
	r.prompt("how are invoices rounded?")
	g := one[*harness.Retrieval](r)
	if r.said() != "As docs/money.md says." || len(g.Chunks) != 1 || g.Chunks[0].Source != "docs/money.md" || g.Chunks[0].Lines == "" || len(g.ContextPack) == 0 {
		t.Errorf("said %q, %+v\n%s", r.said(), g, r.story())
	}
}

func TestAServerThatIsNotThereDoesNotHurt(t *testing.T) {
	t.Parallel()
	r := newRig(t, "chat", "say Fine.", func(r *rig) {
		r.opts.Servers = []mcp.Server{{Name: "gone", Command: "/nowhere/to/be/found"}}
	})
	r.prompt("hello")
	if d := one[*harness.TransportDiagnostic](r); d.Kind != "mcp_server" || d.ProviderRequested != "gone" || r.said() != "Fine." {
		t.Errorf("%+v, said %q", d, r.said())
	}
}
