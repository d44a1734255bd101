package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"harness"
)

// How many refusals the audit has of one party at once, and how often after
// that: far more than anybody has by mistake, and so few that a flood of them
// does not drive the decisions out of the log's files. Strangers have as many
// addresses as they like, so they have a bound together as well.
const (
	refusalBurst  = 1000 // of a caller, or of a stranger's address
	strangerLines = 2000 // of all strangers
	refusalEvery  = 10 * time.Second
)

// Ledger is the audit. It has one record of each decision, and one of each
// thing that somebody asked for and was refused, however many of the server's
// parts had a word in that. Decisions are always written. Refusals are bounded:
// see [Limits]; the next of the same party says how many were left out. Its
// methods may be called concurrently.
type Ledger struct {
	write     func(Record)
	parties   *meter
	strangers *meter
}

// NewLedger has its records written by write, which is called by the goroutine
// of who asked, before the answer.
func NewLedger(write func(Record)) *Ledger {
	return &Ledger{write: write, parties: newMeter(refusalBurst, refusalEvery), strangers: newMeterOf(1, strangerLines, refusalEvery)}
}

// AuditTo is a ledger whose records are lines of log. If log takes secrets out,
// clean does the same with a text before it is cut: half of one is not
// recognised. It may be nil.
func AuditTo(log *slog.Logger, clean func(string) string) *Ledger {
	return NewLedger(func(r Record) {
		r.clean = clean
		log.Info("audit", "record", r)
	})
}

// matter is one thing that is asked: a request, a command, a call. It has at
// most one refusal in the ledger.
type matter struct {
	request *http.Request    // nil: it is no request
	refusal *harness.Refusal // what is known of it before the request is answered
	told    atomic.Bool      // the ledger has a record of it
}

type matterKey struct{}

// withMatter is ctx of one thing that is asked.
func withMatter(ctx context.Context, m *matter) context.Context {
	return context.WithValue(ctx, matterKey{}, m)
}

// put adds a record of what is asked under ctx.
func (l *Ledger) put(ctx context.Context, r Record) {
	m, _ := ctx.Value(matterKey{}).(*matter)
	l.about(m, r)
}

// about adds a record of a matter; nil is one of its own.
func (l *Ledger) about(m *matter, r Record) {
	if l == nil {
		return
	}
	if m != nil {
		if m.request != nil {
			r.Remote, r.Request = m.request.RemoteAddr, m.request.Method+" "+m.request.URL.Path
		}
		if m.told.Swap(true) && r.refused() {
			return
		}
	}
	if !r.refused() || l.room(&r) {
		l.write(r)
	}
}

// room reports whether there is room for a refusal, and counts those for which
// there was none.
func (l *Ledger) room(r *Record) bool {
	now, who := time.Now(), r.Caller.Name+"\x00"+r.Caller.User
	stranger := who == "\x00"
	if stranger {
		who += party(r.Remote)
	}
	ok, missed := l.parties.tally(now, who)
	r.LeftOut = missed
	if ok && stranger {
		ok, missed = l.strangers.tally(now, "")
		r.LeftOut += missed
	}
	return ok
}

// Asked is ctx of one thing that a client asks for beside HTTP, whose requests
// the edge tells apart.
func (g *Gate) Asked(ctx context.Context) context.Context { return withMatter(ctx, new(matter)) }

// Refused takes down what the caller of ctx was told in place of what it asked
// for, unless that only says how things stand. The answer to a request over HTTP
// is taken down by its status.
func (g *Gate) Refused(ctx context.Context, f harness.Refusal) {
	m, _ := ctx.Value(matterKey{}).(*matter)
	switch {
	case m != nil && m.request != nil:
		m.refusal = &f
	case !standing[f.Code]:
		c, _ := harness.CallerOf(ctx)
		g.ledger.about(m, Record{Caller: c, Session: f.Session, Request: f.What, Code: f.Code, Reason: f.Text})
	}
}

// standing are the codes that refuse nothing: they say how things stand, with a
// session or with the server, and another time they would not be said.
var standing = map[string]bool{
	harness.ErrExists.Code: true, harness.ErrNotRunning.Code: true, harness.ErrBusy.Code: true, harness.ErrDecided.Code: true,
	harness.ErrUnavailable.Code: true, harness.ErrBranched.Code: true, harness.ErrConflict.Code: true, harness.ErrStorage.Code: true,
	harness.ErrCorrupt.Code: true, harness.ErrLocked.Code: true, harness.ErrInternal.Code: true,
}

// refusing reports whether a status refuses something: 409 says how things
// stand, and what is 500 or more is not the client's doing.
func refusing(status int) bool {
	return status >= 400 && status < 500 && status != http.StatusConflict
}
