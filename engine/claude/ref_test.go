package claude

import (
	"strings"
	"testing"
	"time"

	"harness"
)

func TestARefOfAnotherEngineIsNone(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "x", "{}", `{"thread":"t"}`, `"claude"`} {
		if r := parseRef(s); r.Claude != "" || r.completed(harness.Turn{}) {
			t.Errorf("%q is read as %+v", s, r)
		}
	}
	r := ref{Session: "ses_1", Claude: "c", Turn: "trn_1", Done: true, At: "u"}
	if got := parseRef(r.String()); got.String() != r.String() {
		t.Errorf("%+v comes back as %+v", r, got)
	}
}

func TestThePastIsToldWithoutThePresent(t *testing.T) {
	t.Parallel()
	var s harness.State
	for i, p := range []harness.Payload{
		&harness.SessionState{SessionID: "ses_1", Kind: harness.Chat, Status: harness.Idle},
		&harness.UserMessage{ItemID: "itm_1", Parts: harness.TextPart("one")},
		&harness.TurnStart{TurnID: "trn_1", ItemID: "itm_2", Attempt: 1},
		&harness.Token{ItemID: "itm_2", Text: "First."},
		&harness.TurnEnd{TurnID: "trn_1", Status: harness.TurnCompleted},
		&harness.UserMessage{ItemID: "itm_3", Parts: harness.TextPart("two")},
		&harness.TurnStart{TurnID: "trn_2", ItemID: "itm_4", Attempt: 1},
	} {
		s.Apply(harness.NewEvent("ses_1", harness.Seq(i+1), fixed, "", p))
	}
	got := transcript(&s)
	if !strings.Contains(got, "user: one\n\nassistant: First.") || strings.Contains(got, "two") {
		t.Errorf("the past is %q", got)
	}
}

var fixed = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
