package rest_test

import "testing"

// An answer with scope always leaves a rule that is listed, holds in another
// session of the directory, and ends when it is revoked.
func TestRulesAreListedAndRevoked(t *testing.T) {
	t.Parallel()
	s := serve(t, "ask bash {\"command\":\"ls\"} => ok\n")
	id := s.chat()
	s.say(id, "one")
	s.must(200, nil, "POST", "/approvals/"+s.asks(id), `{"decision":"allow","scope":"always"}`)
	s.idle(id)
	var page struct {
		Rules []struct {
			ID        string `json:"rule_id"`
			Directory string
			Tool      string `json:"tool_name"`
			Session   string `json:"session_id"`
		}
		Next string `json:"next_cursor"`
	}
	s.must(200, &page, "GET", "/rules?directory=/workspace", "")
	if len(page.Rules) != 1 || page.Rules[0].Tool != "bash" || page.Rules[0].Directory != "/workspace" || page.Rules[0].Session != id || page.Next != "" {
		t.Fatalf("%+v", page)
	}
	rule := page.Rules[0].ID
	other := s.chat()
	s.turn(other, "two") // nobody is asked
	s.must(200, &page, "GET", "/rules?directory=/elsewhere", "")
	if len(page.Rules) != 0 {
		t.Errorf("of another directory: %+v", page)
	}
	s.must(200, &page, "GET", "/rules?cursor="+rule, "")
	if len(page.Rules) != 0 {
		t.Errorf("behind the last: %+v", page)
	}
	s.must(204, nil, "DELETE", "/rules/"+rule, "")
	s.refused(404, "not_found", "", "DELETE", "/rules/"+rule, "")
	s.refused(400, "invalid", "cursor", "GET", "/rules?cursor="+rule, "")
	s.say(other, "three")
	s.asks(other)
}
