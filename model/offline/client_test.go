package offline_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"harness/model"
	"harness/model/modeltest"
	"harness/model/offline"
)

func TestClientKeepsThePromisesOfClients(t *testing.T) {
	t.Parallel()
	w := newWorld(t, standard)
	asks := func(text string) *model.Request {
		r := w.request()
		r.Messages = []model.Message{model.Say(model.User, text)}
		return r
	}
	modeltest.TestClient(t, offline.New(nil), modeltest.Situations{Say: asks("hello"), Call: asks("run `ls`"), Long: asks("count to 500")})
}

func TestTheSameConversationGetsTheSameAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, standard)
	w.turn("think hard, read notes.txt, then run `echo a` and `echo b` in parallel, then tell me what it printed")
	w.told = append(w.told, model.Say(model.User, "run `echo again`"))
	first, err := modeltest.Ask(t, offline.New(nil), w.request())
	if err != nil {
		t.Fatal(err)
	}
	again, err := modeltest.Ask(t, offline.New(nil), w.request())
	if err != nil || !reflect.DeepEqual(first, again) {
		t.Errorf("%+v, %v, want %+v", again, err, first)
	}
	seen := map[string]bool{}
	for _, m := range append(w.told, first.Message()) {
		for _, p := range m.Parts {
			if p.Kind == model.PartCall && seen[p.ID] {
				t.Errorf("two calls are called %s", p.ID)
			}
			seen[p.ID] = seen[p.ID] || p.Kind == model.PartCall
		}
	}
}

func TestWhatIsSaidOnTheWayChangesThePlan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ steer, calls, says string }{
		{"also read src/a.go", "bash bash read", "package a"},
		{"stop", "bash", "I stop here"},
		{"stop, read notes.txt", "bash read", "alpha"},
		{"read notes.txt instead", "bash read", "alpha"},
		{"wonderful weather today", "bash bash", "I do not understand"},
	} {
		w := newWorld(t, standard)
		w.told = []model.Message{model.Say(model.User, "run `echo one`, then run `echo two`")}
		a, err := modeltest.Ask(t, offline.New(nil), w.request())
		if err != nil {
			t.Fatal(err)
		}
		w.told = append(w.told, a.Message(), w.run(a.Calls()))
		last := w.turn(c.steer)
		if got := strings.Join(w.calls, " "); got != c.calls || !strings.Contains(last, c.says) {
			t.Errorf("%s: called %q, said %q", c.steer, got, last)
		}
	}
}

func TestItFailsOnRequest(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]model.Fault{
		"fail": model.ServerError, "fail with a rate limit": model.RateLimited, "say hello, then fail with an overload": model.Overloaded, "crash": model.ServerError,
		"fail with 'the disk is full'": model.ServerError, "fail with a timeout": model.TimedOut, "fail because of a refusal": model.Refused,
	} {
		w := newWorld(t, standard)
		w.told = []model.Message{model.Say(model.User, prompt)}
		a, err := modeltest.Ask(t, offline.New(nil), w.request())
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Fault != want {
			t.Errorf("%s: %v", prompt, err)
		}
		if strings.Contains(prompt, "hello") && a.Text() != "hello" {
			t.Errorf("%s: said %q first", prompt, a.Text())
		}
	}
}

func TestItSpeaksAtItsPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		r := &model.Request{Messages: []model.Message{model.Say(model.User, "count to 40")}}
		if _, err := modeltest.Ask(t, offline.New(&offline.Options{Pace: 25 * time.Millisecond}), r); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(begin); d != time.Second {
			t.Errorf("40 words took %s", d)
		}
	})
}

func TestItUsesToolsByOtherNamesAndForms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tools        map[string]string
		prompt, name string
		args         map[string]any
	}{
		{map[string]string{"Bash": "command description"}, "run `ls`", "Bash", map[string]any{"command": "ls", "description": "ls"}},
		{map[string]string{"exec_command": "cmd"}, "run `ls`", "exec_command", map[string]any{"cmd": "ls"}},
		{map[string]string{"Read": "file_path offset?"}, "read a.txt", "Read", map[string]any{"file_path": "a.txt"}},
		{map[string]string{"mcp__fs__write_file": "path content"}, "write x to a.txt", "mcp__fs__write_file", map[string]any{"path": "a.txt", "content": "x\n"}},
		{map[string]string{"bash": "command"}, "read 'my notes.txt'", "bash", map[string]any{"command": "cat -- 'my notes.txt'"}},
		{map[string]string{"bash": "command"}, "write it's to a.txt", "bash", map[string]any{"command": `printf '%s' 'it'\''s` + "\n' > a.txt"}},
		{map[string]string{"bash": "command"}, "search for a.b in src", "bash", map[string]any{"command": "grep -rnF -- a.b src"}},
		{map[string]string{"grep": "pattern path?"}, "search for a.b", "grep", map[string]any{"pattern": `a\.b`}},
		{map[string]string{"todo": "todos"}, "plan: one, two", "todo", map[string]any{"todos": []any{
			map[string]any{"content": "one", "status": "pending"}, map[string]any{"content": "two", "status": "pending"}}}},
		{map[string]string{"shell": ""}, "run `ls`", "shell", map[string]any{"command": "ls"}},
	} {
		w := newWorld(t, c.tools)
		w.told = []model.Message{model.Say(model.User, c.prompt)}
		a, err := modeltest.Ask(t, offline.New(nil), w.request())
		if err != nil || len(a.Calls()) != 1 {
			t.Errorf("%s: %+v, %v", c.prompt, a.Calls(), err)
			continue
		}
		w.run(a.Calls())
		if w.calls[0] != c.name || !reflect.DeepEqual(w.args[0], c.args) {
			t.Errorf("%s: %s %v", c.prompt, w.calls[0], w.args[0])
		}
	}
}

func TestWithoutAToolItSaysSo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ prompt, says string }{
		{"run `ls`", "I was not offered a tool to run `ls`"},
		{"edit a.txt and change x to y", "I was not offered a tool to edit `a.txt`"},
		{"ask me which colour", "which colour?"},
	} {
		w := newWorld(t, nil)
		if last := w.turn(c.prompt); !strings.Contains(last, c.says) || strings.Contains(last, "I will run") {
			t.Errorf("%s: %q", c.prompt, last)
		}
	}
}

func TestItSummarisesForACompaction(t *testing.T) {
	t.Parallel()
	w := newWorld(t, standard)
	w.turn("run `echo one`")
	r := w.request()
	r.Choice = model.ChoiceNone
	r.Messages = append(r.Messages, model.Say(model.User, "Write a summary of the conversation so far. Keep decisions, files and open points."))
	a, err := modeltest.Ask(t, offline.New(nil), r)
	if err != nil || !strings.Contains(a.Text(), "run `echo one`") || !strings.Contains(a.Text(), "called bash with") || strings.Contains(a.Text(), "open points") {
		t.Errorf("%q, %v", a.Text(), err)
	}
}

func TestADeniedCallEndsThePlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, standard)
	w.told = []model.Message{model.Say(model.User, "run `rm -r x`, then run `echo never`")}
	a, err := modeltest.Ask(t, offline.New(nil), w.request())
	if err != nil {
		t.Fatal(err)
	}
	w.told = append(w.told, a.Message(), model.Message{Role: model.User, Parts: []model.Part{model.Result(a.Calls()[0].ID, "the user said no", true)}})
	a, err = modeltest.Ask(t, offline.New(nil), w.request())
	if err != nil || a.Stop != model.StopEnd || !strings.Contains(a.Text(), "the user said no") || !strings.Contains(a.Text(), "Not done: run `echo never`") {
		t.Errorf("%q, %v", a.Text(), err)
	}
}
