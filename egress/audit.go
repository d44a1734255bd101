package egress

import (
	"net/http"
	"time"

	"harness"
)

// Record is one decision of the proxy.
type Record struct {
	At       time.Time
	Session  harness.SessionID // of the token, if it was one
	Turn     harness.TurnID
	Provider string
	Method   string
	Target   string // the path, or host and port of a tunnel; printable, without a query
	Model    string
	Allowed  bool
	Status   int    // that was answered, if it was refused
	Reason   string // why it was refused
}

// maxTarget bounds what a record says of a target.
const maxTarget = 200

// printable is s without what could end a line of a log, or look like one.
func printable(s string) string {
	b := []byte(s[:min(len(s), maxTarget)])
	for i, c := range b {
		if c <= ' ' || c >= 0x7f {
			b[i] = '?'
		}
	}
	return string(b)
}

// decision is a request on its way through the proxy.
type decision struct {
	record  Record
	dialect Dialect
}

func newDecision(r *http.Request) *decision {
	target := r.URL.Path
	if r.Method == http.MethodConnect {
		target = r.Host
	} else if r.URL.Host != "" {
		target = r.URL.Scheme + "://" + r.URL.Host + r.URL.Path
	}
	return &decision{record: Record{Method: printable(r.Method), Target: printable(target)}}
}

// of enters whose token it came with.
func (d *decision) of(h *holder) {
	d.record.Session, d.record.Turn = h.Session, h.Turn
}

// tell reports a decision: refused, or allowed if why is nil.
func (p *Proxy) tell(d *decision, why *refusal) {
	if p.opts.Audit == nil {
		return
	}
	rec := d.record
	if rec.At, rec.Allowed = time.Now(), why == nil; why != nil {
		rec.Status, rec.Reason = why.in(d.dialect), why.reason
	}
	p.opts.Audit(rec)
}
