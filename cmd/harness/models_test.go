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

// TestAVariableThatIsNoKeyIsSaidWhereItIsWanted and not elsewhere.
func TestAVariableThatIsNoKeyIsSaidWhereItIsWanted(t *testing.T) {
	t.Parallel()
	with := func(variable string, args ...string) outcome {
		cmd := invocation(t, append([]string{"run", "--engine", "native"}, args...)...)
		cmd.Env = append(cmd.Env, variable+"=x")
		return finish(t, cmd)
	}
	if o := with("GEMINI_API_KEY", "--model", "offline", "hello"); o.code != 0 {
		t.Errorf("exit code %d: %s", o.code, o.stderr)
	}
	with("ANTHROPIC_API_KEY", "--model", "anthropic", "hello").failed(t, 1, "no key; $ANTHROPIC_API_KEY: a secret of 1 bytes is too short")
	with("ANTHROPIC_API_KEY", "--key", "anthropic=env:ANTHROPIC_API_KEY", "--model", "offline", "hello").failed(t, 1, "--key anthropic: a secret of 1 bytes is too short")
}
