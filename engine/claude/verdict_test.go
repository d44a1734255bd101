package claude

import (
	"testing"
)

func TestResultsAreJudgedByTheirReason(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"subtype":"success","is_error":false,"terminal_reason":"completed"}`:                                        "",
		`{"subtype":"success","is_error":false,"terminal_reason":"aborted_streaming"}`:                                "",
		`{"subtype":"success","is_error":false}`:                                                                      "",
		`{"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":400,"result":"bad"}`:   "bad",
		`{"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":529,"result":"busy"}`:  "busy: temporary failure",
		`{"subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":null,"result":"lost"}`: "lost: temporary failure",
		`{"subtype":"error_max_turns","is_error":true,"terminal_reason":"max_turns"}`:                                 "the turn reached the limit of max_turns",
		`{"subtype":"error_max_budget_usd","is_error":true,"terminal_reason":"budget_exhausted"}`:                     "the turn has used up its budget",
		`{"subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools","errors":["x"]}`:       "the turn was interrupted",
		`{"subtype":"error_during_execution","is_error":true,"errors":["a","b"]}`:                                     "a; b",
		`{"subtype":"error_something_new","is_error":true,"terminal_reason":"new_reason"}`:                            "the turn failed: error_something_new new_reason",
	} {
		m, err := decode([]byte(`{"type":"result",` + line[1:]))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := m.(*result).judge(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
