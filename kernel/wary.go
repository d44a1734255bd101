package kernel

import (
	"bytes"
	"context"
	"encoding/json"

	"harness"
	"harness/health"
)

// wary is what a branch has to be told so that it trusts no more than its source
// does now: of the permission mode and of each limit of health the stricter, of
// then and of now. It is nil if the branch does so already. What approvals have
// allowed for the session needs no look: nobody can take that back, so the
// source still has it; rules can be, and are no part of a session.
//
// It is an event of its own, behind the first: that one says what was asked for.
func (k *Kernel) wary(ctx context.Context, source harness.SessionID, branch *harness.State, diagnosis *health.Fold) (*harness.SessionState, error) {
	now, err := k.At(ctx, source, 0)
	if err != nil {
		return nil, err
	}
	var told harness.SessionState
	if mode := branch.Config.PermissionMode.Stricter(now.Config.PermissionMode); mode != branch.Config.PermissionMode {
		told.PermissionMode, told.ApprovalMode = &mode, approvalMode(mode)
	}
	if limits := diagnosis.Policy.Stricter(healthOf(now).Policy); !same(limits, diagnosis.Policy) {
		told.Policy = &harness.SessionPolicy{Health: limits}
	}
	if told.PermissionMode == nil && told.Policy == nil {
		return nil, nil
	}
	return &told, nil
}

// same reports whether two policies set the same limits.
func same(p, q *harness.HealthPolicy) bool {
	x, err := json.Marshal(p)
	if err != nil {
		panic("kernel: encode a health policy: " + err.Error())
	}
	y, err := json.Marshal(q)
	return err == nil && bytes.Equal(x, y)
}
