package claude

import "harness"

// changes are the requests that bring a running process from one configuration
// to another; live is false if only a new process can have it. Of the permission
// mode the program knows nothing.
func changes(from, to harness.Config) (requests []any, live bool) {
	if from.MaxTurns != to.MaxTurns || from.SystemPrompt != to.SystemPrompt || from.Agent != to.Agent || (from.Effort != to.Effort && to.Effort == "") {
		return nil, false
	}
	if from.Model != to.Model {
		requests = append(requests, struct {
			Subtype string `json:"subtype"`
			Model   string `json:"model,omitempty"` // none is the program's own choice
		}{"set_model", to.Model})
	}
	if from.Effort != to.Effort {
		type settings struct {
			Effort harness.Effort `json:"effortLevel"`
		}
		requests = append(requests, struct {
			Subtype  string   `json:"subtype"`
			Settings settings `json:"settings"`
		}{"apply_flag_settings", settings{to.Effort}})
	}
	return requests, true
}

// liveOnly is to, but for what a running process cannot change.
func liveOnly(from, to harness.Config) harness.Config {
	to.MaxTurns, to.SystemPrompt, to.Agent = from.MaxTurns, from.SystemPrompt, from.Agent
	if to.Effort == "" {
		to.Effort = from.Effort
	}
	return to
}
