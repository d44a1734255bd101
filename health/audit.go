package health

import (
	"time"

	"harness"
)

// Row is a line of the audit: who decided what, and where the log says so.
type Row struct {
	EventID string             `json:"event_id"`
	Seq     harness.Seq        `json:"seq"`
	At      time.Time          `json:"at"`
	Kind    string             `json:"kind"` // policy, approval or sandbox
	Subject string             `json:"subject"`
	Outcome string             `json:"outcome"`
	Source  string             `json:"source,omitempty"`
	Actor   string             `json:"actor,omitempty"`
	Reason  string             `json:"reason,omitempty"`
	Request harness.ApprovalID `json:"request_id,omitempty"`
}

// maxAudit bounds the audit: a screen. The log has the rest.
const maxAudit = 16

func (f *Fold) record(r Row, e harness.Event) {
	r.EventID, r.Seq, r.At = harness.EventID(e.Session, e.Seq), e.Seq, e.Time
	r.Subject, r.Outcome, r.Source, r.Actor, r.Reason = short(r.Subject), short(r.Outcome), short(r.Source), short(r.Actor), short(r.Reason)
	f.Audit = remember(f.Audit, r, maxAudit)
}
