package gateway_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"harness"
	"harness/engine/script"
	"harness/gateway"
	"harness/kernel"
	"harness/store/memory"
)

// docs/health.md: a background session that its health policy has paused is
// resumed by an operator, its user's own; a viewer and another user may not, and
// only who decides about tools may raise the limit.
func TestWhoMayResumeWhatTheHealthPolicyHasPaused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, err := script.Parse("usage 900 200\nusage 1 1\nhang")
		if err != nil {
			t.Fatal(err)
		}
		k := kernel.New(memory.New(), map[string]harness.Engine{"e": script.New(s, nil)}, &kernel.Options{Engine: "e", Directory: "/w"})
		defer k.Close()
		g := gateway.New(k, nil)
		limit := &harness.HealthPolicy{TotalTokens: new(int64(1000)), Action: harness.PauseSession}
		ada := func(role harness.CallerRole) context.Context { return as(t, "ada", role) }
		id, err := g.Create(ada(harness.Approver), harness.NewSession{Kind: harness.Background, Prompt: harness.TextPart("go"), Config: harness.ConfigPatch{Health: limit}})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		status := func() harness.Status {
			st, err := g.At(ada(harness.Viewer), id, 0)
			if err != nil {
				t.Fatal(err)
			}
			return st.Status
		}
		if got := status(); got != harness.Paused {
			t.Fatalf("the session is %s", got)
		}
		more := harness.Configure{Patch: harness.ConfigPatch{Health: &harness.HealthPolicy{TotalTokens: new(int64(1_000_000)), Action: harness.PauseSession}}}
		for _, c := range []struct {
			ctx  context.Context
			cmd  harness.Command
			want error
		}{
			{ada(harness.Viewer), harness.Resume{}, harness.ErrForbidden},
			{as(t, "bob", harness.Approver), harness.Resume{}, harness.ErrNotFound},
			{ada(harness.Operator), more, harness.ErrForbidden},
			{ada(harness.Operator), harness.Resume{}, nil},
			{ada(harness.Approver), more, nil},
		} {
			if _, err := g.Do(c.ctx, id, c.cmd); !errors.Is(err, c.want) {
				t.Errorf("%+v: got %v, want %v", c.cmd, err, c.want)
			}
		}
		synctest.Wait()
		if got := status(); got != harness.Running {
			t.Errorf("resumed, the session is %s", got)
		}
	})
}
