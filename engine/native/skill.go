package native

import (
	"context"
	"encoding/json"
	"fmt"

	"harness"
	"harness/tool"
)

type wanted struct {
	Name string `json:"name"`
}

// newSkill loads one of the workspace's skills.
func newSkill(skills []skill) tool.Tool {
	names := make([]string, len(skills))
	for i, s := range skills {
		names[i] = s.name
	}
	list, err := json.Marshal(names)
	if err != nil {
		panic("native: " + err.Error())
	}
	find := func(input json.RawMessage) (skill, error) {
		in, err := read[wanted](input)
		if err != nil {
			return skill{}, err
		}
		for _, s := range skills {
			if s.name == in.Name {
				return s, nil
			}
		}
		return skill{}, fmt.Errorf("there is no skill %q; there are %s", in.Name, list)
	}
	return &own{
		spec: tool.Spec{
			Name:        "skill",
			Description: "Loads the instructions of a skill.",
			Schema:      json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","enum":` + string(list) + `}},"required":["name"],"additionalProperties":false}`),
		},
		plan: func(input json.RawMessage) (tool.Plan, error) {
			s, err := find(input)
			return tool.Plan{Access: harness.AccessRead, Keys: []string{"file:" + s.file}, Summary: "load the skill " + s.name}, err
		},
		run: func(_ context.Context, env *tool.Env, input json.RawMessage, _ harness.Decision) (tool.Result, error) {
			s, err := find(input)
			if err != nil {
				return tool.Result{}, err
			}
			text := readText(env.Workspace, s.file, maxSkill)
			if text == "" {
				return tool.Result{}, fmt.Errorf("%s cannot be read any more", s.file)
			}
			return tool.Result{Text: "From " + s.file + ":\n\n" + text}, nil
		},
	}
}
