package trace

import "strings"

// provider is who answers, as far as the names tell: the conventions want one,
// in words of theirs if there is one.
func provider(engine, model string) string {
	switch name := strings.ToLower(model); {
	case strings.HasPrefix(name, "claude"), engine == "claude":
		return "anthropic"
	case strings.HasPrefix(name, "gpt"), strings.HasPrefix(name, "o1"), strings.HasPrefix(name, "o3"), strings.HasPrefix(name, "o4"), engine == "codex":
		return "openai"
	}
	return "harness." + engine
}
