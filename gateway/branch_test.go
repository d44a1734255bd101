package gateway_test

import (
	"slices"
	"testing"

	"harness"
	"harness/gateway"
	folded "harness/health"
)

// TestABranchGivesBackNoTrust: the mode and the limits that an approver has
// taken back do not return with a branch of an operator, from whatever place; an
// approver's branch is as it was then, and audited.
func TestABranchGivesBackNoTrust(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		role      harness.CallerRole
		scope     string
		then, now harness.Mode
		want      harness.Mode
		audited   bool
	}{
		{harness.Operator, "", harness.FullAuto, harness.Normal, harness.Normal, false},
		{harness.Operator, "", harness.FullAuto, harness.AcceptEdits, harness.AcceptEdits, false},
		{harness.Operator, "", harness.AcceptEdits, harness.FullAuto, harness.AcceptEdits, false},
		{harness.Operator, "", harness.Normal, harness.FullAuto, harness.Normal, false},
		{harness.Operator, "", harness.FullAuto, harness.FullAuto, harness.FullAuto, false},
		{harness.Approver, "read,submit", harness.FullAuto, harness.Normal, harness.Normal, false},
		{harness.Approver, "", harness.FullAuto, harness.Normal, harness.FullAuto, true},
		{harness.Admin, "", harness.AcceptEdits, harness.Normal, harness.AcceptEdits, true},
		{harness.Approver, "", harness.FullAuto, harness.FullAuto, harness.FullAuto, false},
		{harness.Approver, "", harness.Normal, harness.FullAuto, harness.Normal, false},
	} {
		t.Run(string(c.role)+" "+c.scope+" "+string(c.then)+" "+string(c.now), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			approver, id := as(t, "alice", harness.Approver), w.create("alice")
			limit := func(n int64) *harness.HealthPolicy { return &harness.HealthPolicy{TotalTokens: &n} }
			var at harness.Seq
			for _, p := range []harness.ConfigPatch{{PermissionMode: &c.then, Health: limit(1000)}, {PermissionMode: &c.now, Health: limit(10)}} {
				r, err := w.g.Do(approver, id, harness.Configure{Patch: p})
				if err != nil {
					t.Fatal(err)
				}
				if at == 0 {
					at = r.Seq
				}
			}
			w.drained()
			ctx := scoped(as(t, "alice", c.role), c.scope)
			from, seq := id, at
			for range 2 { // a branch of the branch, at the same place, is no other way
				b, err := w.g.Create(ctx, harness.NewSession{From: &harness.Branch{Session: from, Seq: seq}})
				if err != nil {
					t.Fatal(err)
				}
				st, err := w.k.At(t.Context(), b, 0)
				if err != nil {
					t.Fatal(err)
				}
				f, _ := folded.Of(st)
				tokens := map[bool]int64{true: 1000, false: 10}[c.role != harness.Operator && c.scope == ""]
				if st.Config.PermissionMode != c.want || f == nil || f.Policy == nil || *f.Policy.TotalTokens != tokens {
					t.Errorf("a branch of %s is %s with %+v", from, st.Config.PermissionMode, f.Policy)
				}
				from = b
			}
			trusts := slices.ContainsFunc(w.drained(), func(r gateway.Record) bool { return r.Action == gateway.Trust && r.Err == nil })
			if trusts != c.audited {
				t.Errorf("audited %t", trusts)
			}
		})
	}
}
