package delta

import (
	"fmt"

	"harness"
)

// commands says how each command of S1 is read.
var commands = map[string]func(*fields, *request){
	"submit":    readSubmit,
	"resume":    readResume,
	"steer":     readSteer,
	"cancel":    readCancel,
	"approve":   readApprove,
	"deny":      readDeny,
	"configure": readConfigure,
	"rewind":    readRewind,
}

// modes are the permission modes in S1's words.
var modes = map[string]harness.Mode{
	"default":     harness.Normal,
	"acceptEdits": harness.AcceptEdits,
	"fullAuto":    harness.FullAuto,
}

// efforts are S1's.
var efforts = map[string]harness.Effort{
	"low":    harness.EffortLow,
	"medium": harness.EffortMedium,
	"high":   harness.EffortHigh,
	"max":    harness.EffortMax,
}

func readSubmit(f *fields, r *request) {
	r.Cmd = harness.Submit{
		Parts: harness.TextPart(f.bounded("prompt", harness.MaxPrompt)), Source: harness.FromSubmit,
		OnBusy: harness.Enqueue, ClientKey: r.ID,
	}
}

func readResume(f *fields, r *request) {
	r.Cmd = harness.Submit{
		Parts: harness.TextPart(f.bounded("prompt", harness.MaxPrompt)), Source: harness.FromResume,
		OnBusy: harness.Enqueue, ClientKey: r.ID,
	}
	r.Session = harness.SessionID(f.id("sessionId"))
}

func readSteer(f *fields, r *request) {
	r.Cmd = harness.Steer{Parts: harness.TextPart(f.bounded("message", harness.MaxPrompt)), ClientKey: r.ID}
}

func readCancel(_ *fields, r *request) { r.Cmd = harness.Cancel{} }

func readApprove(f *fields, r *request) {
	r.Cmd = harness.Answer{
		Approval: about(f), Call: harness.CallID(f.bounded("toolCallId", maxFrame)),
		Decision: harness.Decision{Verdict: harness.Allow, Scope: harness.Once, Source: harness.ByUser},
	}
}

// about is the request that an answer names beside the call, which may have
// been asked about more than once: its arguments may have changed.
func about(f *fields) harness.ApprovalID {
	if id := f.optional("requestId"); id != nil {
		return harness.ApprovalID(*id)
	}
	return ""
}

func readDeny(f *fields, r *request) {
	d := harness.Decision{Verdict: harness.Deny, Scope: harness.Once, Source: harness.ByUser}
	call := harness.CallID(f.bounded("toolCallId", maxFrame))
	if reason := f.optional("reason"); reason != nil {
		d.Reason = *reason
	}
	if len(d.Reason) > maxReason {
		f.fail("reason", harness.ErrTooLarge, "has %d bytes, more than %d", len(d.Reason), maxReason)
	}
	r.Cmd = harness.Answer{Approval: about(f), Call: call, Decision: d}
}

func readRewind(f *fields, r *request) {
	r.Cmd = harness.Rewind{Message: harness.ItemID(f.id("messageId")), DryRun: f.flag("dryRun"), Force: f.flag("force"), ClientKey: r.ID}
}

func readConfigure(f *fields, r *request) {
	raw, ok := f.take("config", "an object", false)
	if !ok {
		return
	}
	c := newFields(f.place("config"), raw, f.place("config"))
	patch := harness.ConfigPatch{
		PermissionMode: choose(c, "permissionMode", modes, `"default", "acceptEdits" or "fullAuto"`),
		MaxTurns:       c.integer("maxTurns"),
		Model:          c.optional("model"),
		SystemPrompt:   c.optional("systemPrompt"),
		Effort:         choose(c, "effort", efforts, `"low", "medium", "high" or "max"`),
	}
	if c.err == nil {
		if err := patch.Check(); err != nil {
			c.err = fmt.Errorf("%s: %w", c.path, err)
		}
	}
	if f.err == nil {
		f.err = c.err
	}
	r.Cmd = harness.Configure{Patch: patch}
}

// choose reads an optional word of a closed set.
func choose[T any](f *fields, name string, set map[string]T, want string) *T {
	s := f.optional(name)
	if s == nil || f.err != nil {
		return nil
	}
	v, ok := set[*s]
	if !ok {
		f.fail(name, harness.ErrInvalid, "expected %s, got %s", want, quoted(*s))
		return nil
	}
	return &v
}
