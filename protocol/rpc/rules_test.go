package rpc_test

import (
	"fmt"
	"strings"
	"testing"
)

type ruleList struct {
	Rules []struct {
		RuleID, Directory, Tool, ThreadID, RequestID, Actor string
		Created                                             int64
	}
}

// threadIn makes a thread in a directory.
func (c *client) threadIn(directory string) string {
	c.t.Helper()
	var r struct{ Thread struct{ ThreadID string } }
	c.must(&r, "thread.create", fmt.Sprintf(`{"directory":%q}`, directory))
	return r.Thread.ThreadID
}

// Always, answered on one connection, releases a thread of another one in the
// same directory, is listed, and holds until it is revoked.
func TestAlwaysHoldsInTheDirectoryUntilRevoked(t *testing.T) {
	t.Parallel()
	sv := serve(t, "ask bash => y\nsay done\n")
	a, b := sv.connect(), sv.connect()
	one, two, away := a.threadIn("/w"), b.threadIn("/w"), b.threadIn("/v")
	a.start(one, "go")
	b.start(two, "go")
	req := approval(a.until("approval.requested"))
	b.until("approval.requested")
	b.start(away, "go")
	b.until("approval.requested")
	a.must(nil, "approval.respond", fmt.Sprintf(`{"requestId":%q,"decision":"always"}`, req))
	done := b.until("turn.completed")
	if !strings.Contains(done.raw, two) {
		t.Errorf("what ended is %s", done.raw)
	}
	var l ruleList
	a.must(&l, "rule.list", `{"directory":"/w"}`)
	if len(l.Rules) != 1 || l.Rules[0].Tool != "bash" || l.Rules[0].ThreadID != one || l.Rules[0].RequestID != req || l.Rules[0].Created == 0 {
		t.Fatalf("rules %+v", l)
	}
	id := l.Rules[0].RuleID
	released := false
	for _, n := range b.notes(two) {
		released = released || strings.HasPrefix(n, "item.completed") && strings.Contains(n, `"reply":"always"`) &&
			strings.Contains(n, `"source":"cascade"`) && strings.Contains(n, fmt.Sprintf(`"ruleId":%q`, id))
	}
	if !released {
		t.Errorf("it was told\n%s", strings.Join(b.notes(two), "\n"))
	}
	third := a.threadIn("/w")
	a.start(third, "go")
	a.until("turn.completed")
	for _, n := range a.notes(third) {
		if strings.HasPrefix(n, "approval.requested") {
			t.Errorf("asked again: %s", n)
		}
	}
	b.must(nil, "rule.revoke", fmt.Sprintf(`{"ruleId":%q}`, id))
	if f := b.refused(-32602, "not_found", "rule.revoke", fmt.Sprintf(`{"ruleId":%q}`, id)); f.Error != nil && f.Error.Data.Field != "ruleId" {
		t.Errorf("refused with %s", f.raw)
	}
	a.must(&l, "rule.list", `{}`)
	if len(l.Rules) != 0 {
		t.Errorf("rules %+v", l)
	}
	a.start(third, "go")
	a.until("approval.requested")
}

// Somebody sees and revokes what they decided themselves.
func TestRulesAreTheirMakersToRevoke(t *testing.T) {
	t.Parallel()
	sv := serve(t, "ask bash => y\n")
	ann, bob := sv.connectAs("ann"), sv.connectAs("bob")
	ann.start(ann.threadIn("/w"), "go")
	ann.must(nil, "approval.respond", fmt.Sprintf(`{"requestId":%q,"decision":"always"}`, approval(ann.until("approval.requested"))))
	ann.until("turn.completed")
	var l ruleList
	if ann.must(&l, "rule.list", `{}`); len(l.Rules) != 1 || l.Rules[0].Actor != "ann" {
		t.Fatalf("rules %+v", l)
	}
	id := fmt.Sprintf(`{"ruleId":%q}`, l.Rules[0].RuleID)
	if bob.must(&l, "rule.list", `{}`); len(l.Rules) != 0 {
		t.Errorf("bob sees %+v", l)
	}
	bob.refused(-32602, "not_found", "rule.revoke", id)
	ann.must(nil, "rule.revoke", id)
}

// A rule outlives the server.
func TestARuleOutlivesTheServer(t *testing.T) {
	t.Parallel()
	sv := serve(t, "ask bash => y\n")
	c := sv.connect()
	c.start(c.thread(), "go")
	c.must(nil, "approval.respond", fmt.Sprintf(`{"requestId":%q,"decision":"always"}`, approval(c.until("approval.requested"))))
	c.until("turn.completed")
	d := sv.crash("ask bash => y\n").connect()
	id := d.thread()
	d.start(id, "go")
	d.until("turn.completed")
	if told := strings.Join(d.notes(id), "\n"); strings.Contains(told, "approval.requested") {
		t.Errorf("asked again:\n%s", told)
	}
}
