package offline_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"harness/model"
	"harness/model/modeltest"
	"harness/model/offline"
)

// standard are tools as native engines offer them.
var standard = map[string]string{
	"bash": "command", "read": "path", "write": "path content", "edit": "path old_string new_string", "glob": "pattern", "grep": "pattern path?",
	"fetch": "url", "task": "prompt description", "todo": "todos", "ask": "question", "memory": "text",
}

// world is a workspace, a conversation and the smallest loop that runs tools.
type world struct {
	t     *testing.T
	dir   string
	tools []model.Tool
	told  []model.Message
	calls []string
	args  []map[string]any
}

func newWorld(t *testing.T, tools map[string]string) *world {
	w := &world{t: t, dir: t.TempDir()}
	for name, text := range map[string]string{"notes.txt": "alpha\nbeta\n", "src/a.go": "package a\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(w.dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, fields := range tools {
		w.tools = append(w.tools, model.Tool{Name: name, Schema: schemaOf(fields)})
	}
	return w
}

// schemaOf is an object of strings; todos is a list of objects.
func schemaOf(fields string) json.RawMessage {
	properties, required := map[string]any{}, []string{}
	for _, f := range strings.Fields(fields) {
		name, optional := strings.CutSuffix(f, "?")
		properties[name] = map[string]any{"type": "string"}
		if name == "todos" {
			properties[name] = map[string]any{"type": "array", "items": map[string]any{"type": "object",
				"properties": map[string]any{"content": map[string]any{"type": "string"}, "status": map[string]any{"type": "string"}}, "required": []string{"content", "status"}}}
		}
		if !optional {
			required = append(required, name)
		}
	}
	b, _ := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required})
	return b
}

func (w *world) request() *model.Request {
	return &model.Request{Model: "offline", Messages: w.told, Tools: w.tools}
}

// turn says something and works until the model is done; it returns what the
// model said last.
func (w *world) turn(prompt string) string {
	w.t.Helper()
	w.told = append(w.told, model.Say(model.User, prompt))
	for range 20 {
		a, err := modeltest.Ask(w.t, offline.New(nil), w.request())
		if err != nil {
			w.t.Fatal(err)
		}
		w.told = append(w.told, a.Message())
		if a.Stop == model.StopEnd {
			return a.Text()
		}
		w.told = append(w.told, w.run(a.Calls()))
	}
	w.t.Fatal("it does not come to an end")
	return ""
}

func (w *world) run(calls []model.Part) model.Message {
	w.t.Helper()
	results := model.Message{Role: model.User}
	for _, c := range calls {
		var args map[string]any
		if err := json.Unmarshal([]byte(c.Args), &args); err != nil {
			w.t.Fatalf("%s: arguments %s: %v", c.Name, c.Args, err)
		}
		w.calls, w.args = append(w.calls, c.Name), append(w.args, args)
		out, err := w.tool(c.Name, func(name string) string { s, _ := args[name].(string); return s })
		if err != nil {
			out += err.Error()
		}
		results.Parts = append(results.Parts, model.Result(c.ID, out, err != nil))
	}
	return results
}

func (w *world) tool(name string, arg func(string) string) (string, error) {
	path := filepath.Join(w.dir, arg("path"))
	switch name {
	case "bash":
		return w.shell(arg("command"))
	case "read":
		b, err := os.ReadFile(path)
		return string(b), err
	case "write":
		return "", os.WriteFile(path, []byte(arg("content")), 0o644)
	case "edit":
		b, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		return "", os.WriteFile(path, []byte(strings.Replace(string(b), arg("old_string"), arg("new_string"), 1)), 0o644)
	case "glob":
		if rest, ok := strings.CutPrefix(arg("pattern"), "**/"); ok {
			return w.shell("find . -name '" + rest + "'")
		}
		return w.shell("ls -d " + arg("pattern"))
	case "grep":
		return w.shell("grep -rn -- '" + arg("pattern") + "' ./" + arg("path"))
	case "ask":
		return "blue", nil
	case "fetch":
		return "fetched", nil
	}
	return "done", nil
}

func (w *world) shell(command string) (string, error) {
	cmd := exec.CommandContext(w.t.Context(), "sh", "-c", command)
	cmd.Dir = w.dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (w *world) file(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}
