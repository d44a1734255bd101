package offline

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"harness/model"
)

// names are what tools of a kind are called, best first.
var names = map[kind][]string{
	run:      {"bash", "shell", "exec", "execcommand", "runcommand", "runshellcommand", "terminal"},
	read:     {"read", "readfile", "view", "cat", "readtextfile", "openfile"},
	write:    {"write", "writefile", "createfile", "create"},
	edit:     {"edit", "editfile", "strreplace", "replace"},
	grep:     {"grep", "search", "searchfiles", "ripgrep", "localsearch"},
	glob:     {"glob", "find", "list", "ls", "listfiles", "listdirectory"},
	fetch:    {"fetch", "webfetch", "httpget"},
	delegate: {"task", "agent", "delegate", "subagent", "spawnagent"},
	todo:     {"todo", "todowrite", "updateplan", "plan"},
	ask:      {"ask", "askuser", "asktheuser", "askuserquestion", "requestuserinput", "question"},
	remember: {"memory", "remember", "savememory"},
}

// field is an argument and what it may be called, best first.
type field struct {
	value any
	names []string
}

var (
	pathNames    = []string{"path", "file_path", "filepath", "filename", "file", "target_file"}
	dirNames     = []string{"path", "dir", "directory", "root", "cwd"}
	textNames    = []string{"content", "contents", "text", "data", "file_text"}
	patternNames = []string{"pattern", "query", "regex", "q", "text", "search"}
)

// fields are the arguments of a step.
func (s *step) fields() []field {
	switch s.kind {
	case run:
		return []field{{s.text, []string{"command", "cmd", "script", "code"}}}
	case read:
		return []field{{s.path, pathNames}}
	case write:
		return []field{{s.path, pathNames}, {s.text, textNames}}
	case edit:
		return []field{{s.path, pathNames}, {s.old, []string{"old_string", "old", "old_str", "old_text", "search", "find"}},
			{s.text, []string{"new_string", "new", "new_str", "new_text", "replace", "replacement"}}, {s.all, []string{"replace_all", "all", "global"}}}
	case grep:
		return []field{{regexp.QuoteMeta(s.text), patternNames}, {s.path, dirNames}}
	case glob:
		pattern := s.text
		if s.path != "" {
			pattern = s.path + "/" + pattern
		}
		return []field{{pattern, []string{"pattern", "glob"}}}
	case fetch:
		return []field{{s.text, []string{"url", "uri"}}}
	case delegate:
		return []field{{s.text, []string{"prompt", "task", "instructions", "instruction", "message", "goal"}}, {short(s.text), []string{"description", "title", "name"}}}
	case todo:
		return []field{{s.items, []string{"todos", "items", "plan", "tasks", "steps"}}}
	case ask:
		return []field{{s.text, []string{"question", "prompt", "text", "message"}}}
	case remember:
		return []field{{s.text, []string{"text", "content", "fact", "memory", "value", "note"}}}
	}
	return nil
}

// simple is a tool's name without what conventions put into it.
func simple(name string) string {
	if i := strings.LastIndex(name, "__"); i >= 0 { // mcp__server__tool
		name = name[i+2:]
	}
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(name))
}

// tool finds the tool for a step. One that is called exactly so comes first.
func tool(tools []model.Tool, k kind) *model.Tool {
	for _, name := range names[k] {
		i := slices.IndexFunc(tools, func(t model.Tool) bool { return strings.EqualFold(t.Name, name) })
		if i < 0 {
			i = slices.IndexFunc(tools, func(t model.Tool) bool { return simple(t.Name) == name })
		}
		if i >= 0 {
			return &tools[i]
		}
	}
	return nil
}

// instead is the same step by a shell, for when there is no tool of its own.
func (s *step) instead() (step, bool) {
	var command string
	switch s.kind {
	case read:
		command = "cat -- " + quote(s.path)
	case write:
		command = "printf '%s' " + quote(s.text) + " > " + quote(s.path)
	case grep:
		command = "grep -rnF -- " + quote(s.text) + " " + quote(dot(s.path))
	case glob:
		command = "ls -la -- " + quote(dot(s.path))
		if s.text != "*" {
			command = "find " + quote(dot(s.path)) + " -name " + quote(s.text[strings.LastIndex(s.text, "/")+1:])
		}
	case fetch:
		command = "curl -fsSL -- " + quote(s.text)
	default:
		return step{}, false
	}
	return step{kind: run, text: command}, true
}

func dot(path string) string {
	if path == "" {
		return "."
	}
	return path
}

// call is the tool and the arguments for a step; not ok if none is offered.
func (s *step) call(tools []model.Tool) (name, args string, ok bool) {
	t := tool(tools, s.kind)
	if t == nil {
		shell, can := s.instead()
		if !can || tool(tools, run) == nil {
			return "", "", false
		}
		return shell.call(tools)
	}
	return t.Name, arguments(t.Schema, s), true
}

// schema is what we read of a tool's JSON Schema.
type schema struct {
	Type       any               `json:"type"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Items      *schema           `json:"items"`
	Enum       []any             `json:"enum"`
}

func arguments(raw json.RawMessage, s *step) string {
	var sch schema
	_ = json.Unmarshal(raw, &sch) // a schema we cannot read has no properties
	args := map[string]any{}
	for _, f := range s.fields() {
		i := slices.IndexFunc(f.names, func(n string) bool { _, ok := sch.Properties[n]; return ok })
		switch {
		case i >= 0:
			args[f.names[i]] = sch.Properties[f.names[i]].fit(f.value)
		case len(sch.Properties) == 0:
			args[f.names[0]] = f.value
		}
	}
	for k, v := range args {
		if (v == "" || v == false) && !slices.Contains(sch.Required, k) {
			delete(args, k)
		}
	}
	for _, r := range sch.Required {
		if _, ok := args[r]; !ok {
			args[r] = sch.Properties[r].fill(s)
		}
	}
	b, err := json.Marshal(args)
	if err != nil {
		panic(fmt.Sprintf("arguments of %+v: %v", s, err)) // strings, numbers, lists and maps of these
	}
	return string(b)
}

// fit gives a value the form the schema wants.
func (s schema) fit(v any) any {
	items, ok := v.([]string)
	if !ok {
		if s.Type == "array" {
			return []any{v}
		}
		return v
	}
	if s.Type == "string" {
		return strings.Join(items, "\n")
	}
	if s.Items == nil || len(s.Items.Properties) == 0 {
		return items
	}
	list := []any{}
	for i, item := range items {
		list = append(list, s.Items.entry(item, i))
	}
	return list
}

// entry is an item of a list of things to do.
func (s *schema) entry(text string, i int) map[string]any {
	e := map[string]any{}
	for _, n := range []string{"content", "text", "title", "step", "task"} {
		if _, ok := s.Properties[n]; ok {
			e[n] = text
			break
		}
	}
	for _, r := range s.Required {
		if _, ok := e[r]; ok {
			continue
		}
		switch {
		case r == "status":
			e[r] = "pending"
		case r == "id":
			e[r] = fmt.Sprint(i + 1)
		default:
			e[r] = s.Properties[r].fill(&step{text: text})
		}
	}
	return e
}

// fill is something for an argument that must be there and that nobody mentioned.
func (s schema) fill(about *step) any {
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	switch s.Type {
	case "boolean":
		return false
	case "integer", "number":
		return 0
	case "array":
		return []any{}
	case "object":
		return map[string]any{}
	}
	return short(about.text + about.path)
}

// short is the beginning of a text.
func short(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
