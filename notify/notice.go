package notify

import (
	"fmt"
	"slices"
	"time"

	"harness"
)

// Kind is what happened, in one word.
type Kind string

// The kinds of notices.
const (
	Completed     Kind = "completed"      // a turn ended well
	Failed        Kind = "failed"         // a turn ended with an error, after all its attempts
	Cancelled     Kind = "cancelled"      // somebody ended it
	Expired       Kind = "expired"        // its time was over
	Paused        Kind = "paused"         // a person or a budget holds it
	NeedsApproval Kind = "needs_approval" // somebody has to decide
)

// Kinds lists every kind, for tables that must cover them.
func Kinds() []Kind { return []Kind{Completed, Failed, Cancelled, Expired, Paused, NeedsApproval} }

// Usual are the kinds of a hook that names none: whatever somebody may have to
// do something about.
func Usual() []Kind { return []Kind{Completed, Failed, Expired, NeedsApproval} }

func checkKind(k Kind) error {
	if !slices.Contains(Kinds(), k) {
		return fmt.Errorf("%q is not one of %v: %w", k, Kinds(), harness.ErrInvalid)
	}
	return nil
}

// Notice is something to tell. ID is that of its event: whoever hears of it
// twice knows by it.
type Notice struct {
	ID      string
	Kind    Kind
	Session harness.SessionID
	Seq     harness.Seq
	Turn    harness.TurnID
	Time    time.Time
	Reason  string
	Request harness.ApprovalID // of NeedsApproval
	Tool    string             // likewise
}

// reasonExpired is the reason of what ended because its time was over.
const reasonExpired = "expired"

// Of is what an event is told as, if at all.
func Of(e harness.Event) (Notice, bool) {
	n := Notice{Session: e.Session, Seq: e.Seq, Turn: e.Turn, Time: e.Time}
	switch p := e.Payload.(type) {
	case *harness.TurnEnd:
		n.Reason = p.Reason
		switch {
		case p.Reason == reasonExpired:
			n.Kind = Expired
		case p.Status == harness.TurnCompleted:
			n.Kind = Completed
		case p.Status == harness.TurnCancelled:
			n.Kind = Cancelled
		default:
			n.Kind = Failed
		}
	case *harness.SessionState:
		n.Reason = p.Reason
		switch {
		case p.MaxRetries != nil: // it says again where the session stands, or is its first word
			return Notice{}, false
		case p.Status == harness.Paused:
			n.Kind = Paused
		case p.Status == harness.StatusFailed && p.Reason == reasonExpired:
			n.Kind = Expired
		case p.Status == harness.StatusCancelled: // before a turn began
			n.Kind = Cancelled
		default:
			return Notice{}, false
		}
	case *harness.ApprovalRequired:
		n.Kind, n.Request, n.Tool = NeedsApproval, p.RequestID, p.ToolName
	default:
		return Notice{}, false
	}
	n.ID = harness.EventID(e.Session, e.Seq)
	return n, true
}
