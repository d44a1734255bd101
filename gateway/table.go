package gateway

import "harness"

// Action is something that a caller may do or not.
type Action int

// The actions: the verbs, with one for each command, and what stands beside
// them.
const (
	List Action = iota
	Read
	State
	Watch
	Create
	Submit
	Steer
	Cancel
	Configure
	Rewind
	Pause
	Resume
	Remove
	Answer   // decide about a tool call
	Trust    // choose a permission mode that asks less: deciding in advance
	Rules    // see the standing rules of one's own sessions
	Revoke   // end one
	Notify   // have a URL told what happens to one's sessions
	Schedule // have sessions made by the clock
	ForOther // do any of this for another user
	Import   // take in a session with whatever owner it says
	Inspect  // see how the whole server is: metrics, audit
	Grant    // see, make and end tokens: for nobody that has a scope
)

// Actions lists every action, for tables that must cover them.
func Actions() []Action {
	all := make([]Action, len(table))
	for i := range all {
		all[i] = Action(i)
	}
	return all
}

// String is the action's name in errors and audits.
func (a Action) String() string { return table[a].name }

// Allows reports whether a role may do something at all; with whose sessions,
// and whether a scope leaves it, are other questions: see [May].
func Allows(r harness.CallerRole, a Action) bool {
	switch r {
	case harness.Viewer:
		return table[a].viewer
	case harness.Operator:
		return table[a].operator
	case harness.Approver:
		return table[a].approver
	case harness.Admin:
		return table[a].admin
	}
	return false
}

const (
	yes = true
	no  = false
)

// table is who may do what. It is complete, and the whole of it.
var table = [...]struct {
	name                              string
	viewer, operator, approver, admin bool
	audited                           bool // also when it was allowed
	verb                              verb // of a scope that has it
}{
	List:      {"list", yes, yes, yes, yes, no, verbRead},
	Read:      {"read", yes, yes, yes, yes, no, verbRead},
	State:     {"state", yes, yes, yes, yes, no, verbRead},
	Watch:     {"watch", yes, yes, yes, yes, no, verbRead},
	Create:    {"create", no, yes, yes, yes, no, verbSubmit},
	Submit:    {"submit", no, yes, yes, yes, no, verbSubmit},
	Steer:     {"steer", no, yes, yes, yes, no, verbSubmit},
	Cancel:    {"cancel", no, yes, yes, yes, no, verbSubmit},
	Configure: {"configure", no, yes, yes, yes, no, verbManage},
	Rewind:    {"rewind", no, yes, yes, yes, no, verbManage},
	Pause:     {"pause", no, yes, yes, yes, no, verbSubmit},
	Resume:    {"resume", no, yes, yes, yes, no, verbSubmit},
	Remove:    {"remove", no, yes, yes, yes, yes, verbManage},
	Answer:    {"answer", no, no, yes, yes, yes, verbApprove},
	Trust:     {"trust", no, no, yes, yes, yes, verbApprove},
	Rules:     {"rules", yes, yes, yes, yes, no, verbRead},
	Revoke:    {"revoke", no, no, yes, yes, yes, verbApprove},
	Notify:    {"notify", no, yes, yes, yes, yes, verbManage},
	Schedule:  {"schedule", no, yes, yes, yes, yes, verbSubmit},
	ForOther:  {"for_other", no, no, no, yes, no, verbAny},
	Import:    {"import", no, no, no, yes, yes, verbManage},
	Inspect:   {"inspect", no, no, no, yes, no, verbInspect},
	Grant:     {"grant", no, no, no, yes, yes, verbNone},
}

// actionsOf is what a command needs. A mode that asks less than the normal one
// decides about calls before they are made, so it is for those who decide.
func actionsOf(cmd harness.Command) (first, also Action, ok bool) {
	switch c := cmd.(type) {
	case harness.Submit:
		return Submit, Submit, true
	case harness.Steer:
		return Steer, Steer, true
	case harness.Cancel:
		return Cancel, Cancel, true
	case harness.Answer:
		return Answer, Answer, true
	case harness.Configure:
		if trusts(c.Patch) {
			return Configure, Trust, true
		}
		return Configure, Configure, true
	case harness.Rewind:
		return Rewind, Rewind, true
	case harness.Pause:
		return Pause, Pause, true
	case harness.Resume:
		return Resume, Resume, true
	}
	return 0, 0, false
}

// trusts reports whether a patch makes a session ask less: by its mode, or by
// its limits, because one that is raised answers the question about it.
func trusts(p harness.ConfigPatch) bool {
	return p.PermissionMode != nil && *p.PermissionMode != harness.Normal || p.Health != nil
}

// by is the command in the caller's name, whatever name came with it.
func by(cmd harness.Command, c harness.Caller) harness.Command {
	actor := c.Actor()
	if actor == "" {
		return cmd // nobody is told apart here
	}
	if a, ok := cmd.(harness.Answer); ok {
		a.Decision.Source = harness.ByUser
		cmd = a
	}
	return harness.By(cmd, actor)
}
