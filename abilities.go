package harness

import "slices"

// Abilities is S3's fidelity, as data: what an engine reports and can do. An
// engine never tells of what its abilities do not have, and enginetest finds
// each of them told of somewhere.
type Abilities struct {
	Tools   bool // tells of each call, with its result and its outcome
	Steer   bool // takes words while it runs
	Resume  bool // continues from a checkpoint
	Thinks  bool // streams reasoning
	Approve bool // asks before it acts
	Away    bool // works on files that the session does not have: nobody takes them back

	Tells   []Type   // what else it may tell of, beside text
	Ignores []string // which settings of a configuration it does not heed, in S3's words
}

// kinds is a set of the inventory's, a bit for each: they are asked for whenever a
// session wakes.
type kinds uint64

var places = func() map[Type]int {
	m := make(map[Type]int, len(inventory))
	for i, row := range inventory {
		m[row.Type] = i
	}
	return m
}()

func kindsOf(types ...Type) (set kinds) {
	for _, t := range types {
		if i, ok := places[t]; ok {
			set |= 1 << i
		}
	}
	return set
}

// list is the set in the order of the inventory.
func (k kinds) list() (all []Type) {
	for i, row := range inventory {
		if k&(1<<i) != 0 {
			all = append(all, row.Type)
		}
	}
	return all
}

var (
	everyKind = kinds(1)<<len(inventory) - 1

	// everySession are the kinds that a session has whatever runs its turns.
	everySession = kindsOf("session", "session_state", "user_message", "hook_event", "turn_start", "token", "response", "rewind", "turn_end", "error", "health_snapshot")

	// byTheServer are the kinds that a server writes where they are due, whatever
	// runs the turns: expiry and branches, limits of a health policy, a workspace of
	// the session's own, what its work leaves behind. With session_state and error
	// it is what S3 has a bridge expose at least.
	byTheServer = kindsOf("session_checkpoint", "policy_decision", "sandbox_notice", "approval_required", "approval_applied", "artifact")

	byTools    = kindsOf("tool_call", "tool_result", "tool_outcome")
	byThoughts = kindsOf("thinking")
	byApproval = kindsOf("policy_decision", "approval_required", "approval_applied")
	byResuming = kindsOf("session_checkpoint")
	byRewinds  = kindsOf("rewind")
)

// kinds are those of Events.
func (a Abilities) kinds() kinds {
	able := everySession | kindsOf(a.Tells...)
	if a.Away {
		able &^= byRewinds
	}
	for _, g := range [...]struct {
		can bool
		set kinds
	}{{a.Tools, byTools}, {a.Thinks, byThoughts}, {a.Approve, byApproval}, {a.Resume, byResuming}} {
		if g.can {
			able |= g.set
		}
	}
	return able
}

// Events are the kinds that such an engine may tell of, or that a session has
// anyway, in the order of the inventory.
func (a Abilities) Events() []Type { return a.kinds().list() }

// S1 is the commands of S1, by their names there.
func S1() []string {
	return []string{"submit", "cancel", "steer", "approve", "deny", "resume", "configure", "rewind"}
}

// Settings are what configure can change, in S3's words.
func Settings() []string {
	return []string{"permission_mode", "model", "think_level", "max_turns", "system_prompt", "agent_profile"}
}

// Commands are those of S1 that have an effect with such an engine. Rewind is of
// files, which the session keeps, if it has them.
func (a Abilities) Commands() []string {
	return slices.DeleteFunc(S1(), func(c string) bool {
		switch c {
		case "steer":
			return !a.Steer
		case "approve", "deny":
			return !a.Approve
		case "resume":
			return !a.Resume
		case "rewind":
			return a.Away
		case "configure":
			return !slices.ContainsFunc(Settings(), func(s string) bool { return !slices.Contains(a.Ignores, s) })
		}
		return false
	})
}

// Given are the settings that c has, in S3's words.
func (c Config) Given() (all []string) {
	has := map[string]bool{
		"permission_mode": c.PermissionMode != "" && c.PermissionMode != Normal, "model": c.Model != "", "think_level": c.Effort != "",
		"max_turns": c.MaxTurns > 0, "system_prompt": c.SystemPrompt != "", "agent_profile": c.Agent != "",
	}
	for _, name := range Settings() {
		if has[name] {
			all = append(all, name)
		}
	}
	return all
}

// Unheeded are the settings that c has and such an engine does not heed.
func (a Abilities) Unheeded(c Config) []string {
	given := c.Given()
	return slices.DeleteFunc(slices.Clone(a.Ignores), func(name string) bool { return !slices.Contains(given, name) })
}

// Lacks is nil if a session of such an engine has everything there is.
func (a Abilities) Lacks() *Lacks {
	l := Lacks{Events: (everyKind &^ (a.kinds() | byTheServer)).list(), Settings: slices.Clone(a.Ignores)}
	commands := a.Commands()
	for _, c := range S1() {
		if !slices.Contains(commands, c) {
			l.Commands = append(l.Commands, c)
		}
	}
	if l.equal(new(Lacks)) {
		return nil
	}
	return &l
}

// Equal reports whether both lack the same; nil lacks nothing.
func (l *Lacks) Equal(m *Lacks) bool {
	if l == nil {
		l = new(Lacks)
	}
	if m == nil {
		m = new(Lacks)
	}
	return l.equal(m)
}

func (l *Lacks) equal(m *Lacks) bool {
	return slices.Equal(l.Events, m.Events) && slices.Equal(l.Commands, m.Commands) && slices.Equal(l.Settings, m.Settings)
}
