package main

import "testing"

// TestAModelThatCannotBeAskedIsSaid, with what could be said instead.
func TestAModelThatCannotBeAskedIsSaid(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]string{
		"nobody/x":  "want one of anthropic, chat, openai, or offline",
		"google/x":  `--engine "acp:gemini --acp"`,
		"chat":      "which model? chat/NAME",
		"chat/x":    "which server? --model-url chat=URL",
		"anthropic": "no key; set $ANTHROPIC_API_KEY",
	} {
		invoke(t, "run", "--engine", "native", "--model", model, "hello").failed(t, 1, want)
	}
	invoke(t, "run", "--engine", "native", "--key", "nobody=env:X", "hello").failed(t, 1, "want one of anthropic, chat, google, openai")
}
