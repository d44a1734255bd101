package tool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"harness"
	"harness/tool"
)

// all are the built-in tools with those that an engine completes.
func all() []tool.Tool {
	return append(tool.Builtin(tool.Options{}),
		tool.NewTask(func(_ context.Context, _ *tool.Env, in tool.TaskInput) (tool.Result, error) {
			return tool.Result{Text: in.Description + "/" + in.Prompt}, nil
		}),
		tool.NewMemory(func(_ context.Context, _ *tool.Env, in tool.MemoryInput) (tool.Result, error) {
			return tool.Result{Text: in.Action + "/" + in.Text}, nil
		}),
		tool.NewSearch(func(_ context.Context, _ *tool.Env, in tool.SearchInput) (tool.Result, error) {
			return tool.Result{Text: in.Query}, nil
		}))
}

func compile(t testing.TB, x tool.Tool) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(x.Spec().Schema))
	must(t, err)
	c := jsonschema.NewCompiler()
	must(t, c.AddResource("x.json", doc))
	schema, err := c.Compile("x.json")
	must(t, err)
	return schema
}

func TestSpecs(t *testing.T) {
	t.Parallel()
	again := all()
	var names []string
	for i, x := range all() {
		spec := x.Spec()
		names = append(names, spec.Name)
		if !regexp.MustCompile(`^[a-z0-9_-]{1,64}$`).MatchString(spec.Name) || spec.Description == "" {
			t.Errorf("%+v", spec)
		}
		if !bytes.Equal(spec.Schema, again[i].Spec().Schema) || spec.Description != again[i].Spec().Description {
			t.Errorf("%s is not the same every time", spec.Name)
		}
		compile(t, x)
		var s struct {
			Type       string
			Properties map[string]struct{ Description string }
			Additional *bool `json:"additionalProperties"`
		}
		must(t, json.Unmarshal(spec.Schema, &s))
		if s.Type != "object" || s.Additional == nil || *s.Additional {
			t.Errorf("%s: %s", spec.Name, spec.Schema)
		}
		for name, p := range s.Properties {
			if p.Description == "" {
				t.Errorf("%s: %s is not described", spec.Name, name)
			}
		}
	}
	if slices.Sort(names); len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("names: %q", names)
	}
}

// TestSchemaAndDecoderAgree: what the schema refuses is refused, and what it
// accepts is read, though it may not be possible.
func TestSchemaAndDecoderAgree(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, x := range all() {
		schema := compile(t, x)
		for _, input := range []string{
			`{}`, `[]`, `"x"`, `7`, `{"path":"a"}`, `{"path":7}`, `{"path":""}`, `{"command":"ls"}`, `{"command":"ls","timeout_seconds":0}`, `{"command":"ls","timeout_seconds":601}`,
			`{"command":"ls","timeout_seconds":1.5}`, `{"command":"ls","timeout_seconds":"5"}`, `{"command":["ls"]}`, `{"command":"ls","extra":1}`, `{"command":"ls","run_in_background":"yes"}`,
			`{"path":"a","old_string":"b","new_string":""}`, `{"path":"a","old_string":"","new_string":"c"}`, `{"path":"a","edits":[]}`, `{"path":"a","edits":[{}]}`, `{"path":"a","edits":{}}`,
			`{"path":"a","edits":[{"old_string":"a","new_string":"b","replace_all":true}]}`, `{"items":[]}`, `{"items":[{"content":"x","status":"done"}]}`, `{"items":[{"content":"x","status":"completed"}]}`,
			`{"pattern":"x","output":"lines"}`, `{"pattern":"x","output":"count","limit":5000}`, `{"pattern":"x","limit":5001}`, `{"pattern":"x","before":-1}`, `{"url":"https://example.com/"}`,
			`{"question":"q","options":[{"label":"l"}]}`, `{"question":"q","options":["l"]}`, `{"id":"bg_1"}`, `{"id":"bg_1","wait_seconds":61}`, `{"description":"d","prompt":"p"}`, `{"query":"q"}`,
		} {
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(input))
			must(t, err)
			refused := schema.Validate(doc)
			_, err = x.Plan(s.env, json.RawMessage(input))
			name := x.Spec().Name
			if refused != nil && err == nil {
				t.Errorf("%s %s is planned, though: %v", name, input, refused)
			}
			for _, said := range []string{"must be", "is missing", "must not be empty", "not known", "at most"} {
				if refused == nil && err != nil && strings.Contains(err.Error(), said) && !strings.Contains(err.Error(), "url") {
					t.Errorf("%s %s fits the schema, but: %v", name, input, err)
				}
			}
		}
	}
}

func TestTodoIsKept(t *testing.T) {
	t.Parallel()
	s := open(t)
	got := s.do("todo", in{"items": []in{{"content": "a", "status": "completed"}, {"content": "b", "status": "in_progress"}, {"content": "c", "status": "pending"}}})
	if got != "1. [x] a\n2. [>] b\n3. [ ] c\n[1 of 3 done]\n" {
		t.Errorf("got %q", got)
	}
	if list := s.env.State.Todos(); len(list) != 3 || list[1] != (tool.Todo{Content: "b", Status: "in_progress"}) {
		t.Errorf("kept %v", list)
	}
	s.do("todo", in{"items": []in{}})
	if list := s.env.State.Todos(); len(list) != 0 {
		t.Errorf("kept %v", list)
	}
}

func TestAskUserIsAnAsker(t *testing.T) {
	t.Parallel()
	s := open(t)
	a, ok := s.tools["ask_user"].(tool.Asker)
	if !ok {
		t.Fatal("it is not")
	}
	q, err := a.Question(json.RawMessage(`{"question":"Which?","options":[{"label":"this","description":"d"},{"label":"that"}],"several":true}`))
	if err != nil || q.Text != "Which?" || !q.Several || len(q.Options) != 2 || q.Options[0] != (tool.Option{Label: "this", Description: "d"}) {
		t.Errorf("got %+v, %v", q, err)
	}
	s.fails("ask_user", in{"question": "Which?"}, "nobody is there")
	for name, x := range s.tools {
		if _, ok := x.(tool.Asker); ok && name != "ask_user" {
			t.Errorf("%s is an asker", name)
		}
	}
}

func TestEnginesCompleteTools(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, x := range all() {
		s.tools[x.Spec().Name] = x
	}
	if got := s.do("task", in{"description": "d", "prompt": "p"}); got != "d/p" {
		t.Errorf("task: %q", got)
	}
	if got := s.do("memory", in{"action": "remember", "text": "t"}); got != "remember/t" {
		t.Errorf("memory: %q", got)
	}
	s.fails("memory", in{"action": "recall", "text": "t"}, "query is missing")
	if got := s.do("local_search", in{"query": "q"}); got != "q" {
		t.Errorf("search: %q", got)
	}
}

func TestPlansNameWhatTheyTouch(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, c := range []struct {
		tool, input, key string
		access           harness.Access
	}{
		{"read", `{"path":"` + s.env.Directory + `/a/../b"}`, "file:b", harness.AccessRead},
		{"write", `{"path":"./x/y","content":""}`, "file:x/y", harness.AccessEdit},
		{"edit", `{"path":"x","old_string":"a","new_string":"b"}`, "file:x", harness.AccessEdit},
		{"patch", `{"diff":"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"}`, "file:x", harness.AccessEdit},
		{"grep", `{"pattern":"x"}`, "file:.", harness.AccessRead},
		{"glob", `{"pattern":"x","path":"d/"}`, "file:d", harness.AccessRead},
		{"todo", `{"items":[]}`, "todo", harness.AccessRead},
		{"bash_kill", `{"id":"bg_1"}`, "process:bg_1", harness.AccessExecute},
	} {
		p, err := s.tools[c.tool].Plan(s.env, json.RawMessage(c.input))
		if err != nil || p.Access != c.access || !slices.Equal(p.Keys, []string{c.key}) || p.Summary == "" {
			t.Errorf("%s %s: %+v, %v", c.tool, c.input, p, err)
		}
	}
}
