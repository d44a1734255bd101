package health

import "harness"

// Hint is what an operator might do next.
type Hint struct {
	Action string `json:"action" rule:"words=none|approve|raise_budget|resume|branch|wait|investigate"`
	Cursor string `json:"cursor,omitempty"` // where to branch
	Text   string `json:"text"`
}

// hint is the first thing that would help.
func (f *Fold) hint() Hint {
	switch {
	case f.Trip.State == Awaiting:
		return Hint{"raise_budget", "", "Raise the limit that was crossed, or answer the question about it."}
	case f.Trip.State == Paused && f.Status == harness.Paused:
		return Hint{"raise_budget", "", "Raise the limit that was crossed, or resume the session as it is."}
	case len(f.Pending) > 0:
		return Hint{"approve", "", "Answer the question that it waits for."}
	case f.Status == harness.Paused:
		return Hint{"resume", "", "Resume the session."}
	case f.Failed && f.Retry:
		return Hint{"resume", f.cursor(), "Try again: what failed may not fail the next time."}
	case f.Failed:
		return Hint{"branch", f.cursor(), "Branch where all was well, and say what to do differently."}
	case f.Flags[stuck].Level != none && f.Loop.Hot >= hotLoop:
		return Hint{"branch", f.cursor(), "Steer the agent or cancel the turn; else branch where all was well."}
	case f.Flags[stuck].Level != none, f.Flags[stalled].Level != none, f.Flags[orphanedProcess].Level != none:
		return Hint{"investigate", "", "See what its processes do; cancel the turn if that is nothing."}
	case f.Flags[recovering].Level != none:
		return Hint{"wait", "", "The turn is being tried again."}
	}
	return Hint{"none", "", "Nothing needs to be done."}
}

// cursor is the last good place, if there was one.
func (f *Fold) cursor() string {
	if f.Good.Seq == 0 {
		return ""
	}
	return harness.Cursor{Kind: f.Good.Kind, Session: f.Session, Seq: f.Good.Seq}.String()
}
