package claude

import (
	"slices"
	"strings"
	"testing"

	"harness"
)

func TestFlagsSayWhichConversationAndHow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		l    launch
		want string
	}{
		{"new", launch{id: "a"}, "--permission-mode default --session-id a"},
		{"resume", launch{id: "a", resume: "a", at: "u"}, "--permission-mode default --resume a"},
		{"fork", launch{id: "b", resume: "a", at: "u"}, "--permission-mode default --resume a --resume-session-at u --fork-session --session-id b"},
		{"edits are asked about", launch{id: "a", config: harness.Config{PermissionMode: harness.AcceptEdits}}, "--permission-mode default --session-id a"},
		{"full auto is asked about", launch{id: "a", config: harness.Config{PermissionMode: harness.FullAuto}}, "--permission-mode default --session-id a"},
		{"all", launch{id: "a", config: harness.Config{PermissionMode: harness.AcceptEdits, Model: "m", Effort: harness.EffortMax, Agent: "x", SystemPrompt: "p", MaxTurns: 7}},
			"--permission-mode default --session-id a --model m --effort max --agent x --system-prompt p --system-prompt-snapshot off --max-turns 7"},
	} {
		got := strings.Join(c.l.args(), " ")
		if got = got[strings.Index(got, "--permission-mode"):]; got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if args := (launch{}).args(); args[slices.Index(args, "--setting-sources")+1] != "" {
		t.Errorf("it reads settings: %q", args)
	}
}

func TestPicturesGoAlongAsPictures(t *testing.T) {
	t.Parallel()
	parts := []harness.Part{{Type: "text", Text: "look"}, {Type: "file", URL: "data:image/png;base64,AAAA"}, {Type: "file", Path: "a.go"}}
	const want = `[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},{"type":"text","text":"before look\n[a.go]"}]`
	if got := encode(t, content(parts, "before ")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := content(parts[:1], ""); got != "look" {
		t.Errorf("got %v", got)
	}
}
