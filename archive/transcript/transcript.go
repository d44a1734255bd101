// Package transcript makes sessions of what other programs wrote down.
//
// It guarantees that the same transcript gives the same events, byte for byte,
// so that taking one in twice makes one session; that what a transcript has and
// a session does not get is counted by its kind; and that nothing is added to
// what was said. Whoever reads a program's own form tells a [Log].
package transcript

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"harness"
)

// Bounds of what is kept of one text or call. The rest is cut, and counted.
const (
	MaxText   = 1 << 20
	MaxOutput = 64 << 10
	MaxInput  = 64 << 10
)

// Bounds of what a transcript can make its reader do, whoever wrote it: an
// honest one is far from all of them. What is beyond is lost, and counted.
const (
	MaxOpen  = 1000 // calls of a turn that have no result yet
	MaxKinds = 64   // kinds of what is lost; more are other
	maxKind  = 64   // bytes of the name of one
)

// Redactor takes secrets out of texts.
type Redactor interface {
	String(s string) string  // values that are known, and what looks like one
	JSON(text []byte) []byte // likewise, of a JSON text
	Known(s string) string   // values that are known; what people said is theirs
}

// Options are what a session is given besides. The zero value works.
type Options struct {
	Redact    Redactor
	User      string // whose it is
	Directory string // where it works, in place of where it did
}

// Session is a transcript as events of a log, and how many of what were lost.
type Session struct {
	ID     harness.SessionID
	Events []harness.Event
	Lost   map[string]int
}

// Log is a session on its way. Times never go back in it.
type Log struct {
	opts Options
	id   harness.SessionID
	key  string // of this session, in the ids of what is in it
	lost map[string]int
	out  []harness.Event
	err  error

	now   time.Time // of what came last
	turn  harness.TurnID
	item  harness.ItemID
	turns int
	items int
	said  []byte
	calls []call // that are open
	known map[harness.CallID]bool
	used  *harness.Usage
}

type call struct {
	id    harness.CallID
	name  string
	began time.Time
}

// New is an empty log.
func New(o *Options) *Log {
	l := &Log{lost: map[string]int{}, known: map[harness.CallID]bool{}}
	if o != nil {
		l.opts = *o
	}
	return l
}

// Origin is where a transcript comes from.
type Origin struct {
	Kind      string // of the reader, as in the session's id
	Program   string // by its name and version
	ID        string // the program's for the conversation
	Directory string
	Model     string
	Lacks     string // what such a transcript never has
}

// Open begins the session. It fails if the id could not be one of ours.
func (l *Log) Open(at time.Time, o Origin) error {
	id, err := harness.ParseSessionID(harness.SessionPrefix + o.Kind + "-" + o.ID)
	if err != nil || o.ID == "" {
		return errors.Join(fmt.Errorf("the transcript names its session %.100q: %w", o.ID, harness.ErrInvalid), err)
	}
	l.id, l.key = id, o.Kind+"-"+o.ID+"-"
	first := &harness.SessionState{
		SessionID: id, Status: harness.Idle, Kind: harness.Chat, UserID: l.opts.User, Directory: cmp.Or(l.opts.Directory, o.Directory),
	}
	l.add(at, first)
	l.add(at, &harness.TransportDiagnostic{Status: "degraded", Kind: "low_fidelity", ProviderActual: o.Model, Reason: "taken in from a transcript of " + o.Program + ", which has " + o.Lacks})
	return nil
}

// Opened reports whether the session has begun.
func (l *Log) Opened() bool { return l.id != "" }

// Lose counts something that the session does not get.
func (l *Log) Lose(kind string) {
	if len(kind) > maxKind || l.lost[kind] == 0 && len(l.lost) >= MaxKinds { // a transcript names kinds as it likes
		kind = "other"
	}
	l.lost[kind]++
}

// add takes a fact without its secrets.
func (l *Log) add(at time.Time, p harness.Payload) {
	if l.err != nil {
		return
	}
	if at.After(l.now) {
		l.now = at
	}
	if p, l.err = l.cleaned(p); l.err == nil {
		l.out = append(l.out, harness.NewEvent(l.id, harness.Seq(len(l.out)+1), l.now, l.turn, p))
	}
}

func (l *Log) cleaned(p harness.Payload) (harness.Payload, error) {
	r := l.opts.Redact
	if r == nil {
		return harness.CopyPayload(p)
	}
	switch p := p.(type) {
	case *harness.Token:
		return harness.CopyPayload(&harness.Token{ItemID: p.ItemID, Text: r.String(p.Text)})
	case *harness.Thinking:
		return harness.CopyPayload(&harness.Thinking{ItemID: p.ItemID, Text: r.String(p.Text)})
	case *harness.UserMessage:
		kept := *p
		kept.Parts = nil
		for _, part := range p.Parts {
			part.Text, part.Path, part.URL = r.Known(part.Text), r.Known(part.Path), r.Known(part.URL)
			kept.Parts = append(kept.Parts, part)
		}
		return harness.CopyPayload(&kept)
	}
	return harness.CopyClean(p, r.JSON)
}

func (l *Log) newItem() harness.ItemID {
	l.items++
	return harness.ItemID(fmt.Sprint(harness.ItemPrefix, l.key, l.items))
}

// Session ends what is open and is the session as far as it was told.
func (l *Log) Session() (*Session, error) {
	l.End(time.Time{}, harness.TurnCancelled, NoEnd)
	switch {
	case l.err != nil:
		return nil, l.err
	case l.turns == 0:
		return nil, fmt.Errorf("the transcript holds no conversation: %w", harness.ErrInvalid)
	}
	return &Session{l.id, l.out, l.lost}, nil
}

// arguments is the input of a call within its bound.
func (l *Log) arguments(raw json.RawMessage) json.RawMessage {
	if len(raw) <= MaxInput {
		return raw
	}
	l.Lose("long input")
	cut, err := json.Marshal(map[string]int{"cut_bytes": len(raw)})
	if err != nil {
		return nil
	}
	return cut
}
