package claude

import (
	"encoding/json"
	"net/url"
	"path"
)

// A suggestion is a change of the program's permissions that it offers with a
// question. Of those that allow something, the rules go back to it when somebody
// says always, for as long as its process lives: what holds for longer is the
// session's to remember, and can be revoked there.
type suggestion struct {
	Type        string `json:"type"`
	Rules       []rule `json:"rules"`
	Behavior    string `json:"behavior"`
	Destination string `json:"destination"`
}

// rule is about a tool, or what its content says of it.
type rule struct {
	Tool    string `json:"toolName"`
	Content string `json:"ruleContent,omitempty"`
}

// standing are the suggested rules, as far as the call that was approved. The
// program does not ask about what they allow, so one that reached further would
// pass by the session's policy.
func standing(suggestions []json.RawMessage, input json.RawMessage) (changes []json.RawMessage) {
	for _, raw := range suggestions {
		var s suggestion
		if json.Unmarshal(raw, &s) != nil || s.Type != "addRules" || s.Behavior != "allow" {
			continue
		}
		kept := s.Rules[:0]
		for _, r := range s.Rules {
			if r, ok := r.bounded(input); ok {
				kept = append(kept, r)
			}
		}
		s.Rules, s.Destination = kept, "session"
		if b, err := json.Marshal(s); err == nil && len(kept) > 0 {
			changes = append(changes, b)
		}
	}
	return changes
}

// bounded is the rule, about the very command, file or host of a call; false if
// it cannot be. A rule about anything else is about the tool, as ours is.
func (r rule) bounded(input json.RawMessage) (rule, bool) {
	var call struct {
		Command  *string `json:"command"`
		File     *string `json:"file_path"`
		Notebook *string `json:"notebook_path"`
		Dir      *string `json:"path"`
		URL      *string `json:"url"`
	}
	if json.Unmarshal(input, &call) != nil {
		return r, false
	}
	switch {
	case call.Command != nil:
		return r, r.Content == *call.Command
	case call.URL != nil:
		u, err := url.Parse(*call.URL)
		return r, err == nil && r.Content == "domain:"+u.Hostname()
	}
	for _, file := range []*string{call.File, call.Notebook} {
		if file != nil {
			r.Content = "/" + path.Clean(*file) // two slashes: from the root
			return r, path.IsAbs(*file) && literal(*file)
		}
	}
	return r, call.Dir == nil
}

// literal reports whether a rule reads a path as that path, and as no pattern.
func literal(file string) bool {
	for _, c := range file {
		switch c {
		case '*', '?', '[', ']', '{', '}', '(', ')', '!', '\\':
			return false
		}
	}
	return true
}
