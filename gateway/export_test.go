package gateway

import (
	"net/http"
	"time"

	"harness"
)

// MaxOwners is the bound of remembered owners.
const MaxOwners = maxOwners

// Owners is how many are remembered.
func (g *Gate) Owners() int { return g.owners.len() }

// Known reports whether the browser of a request is logged in.
func (l *Logins) Known(r *http.Request) bool {
	_, ok := l.caller(r)
	return ok
}

// OpenSmallLogFile is OpenLogFile with other bounds.
func OpenSmallLogFile(path string, size int64, keep int) (*LogFile, error) {
	l, err := OpenLogFile(path)
	if err == nil {
		l.max, l.keep = size, keep
	}
	return l, err
}

// Meter is a meter.
type Meter struct{ m *meter }

func NewMeter(burst int, every time.Duration) Meter { return Meter{newMeter(burst, every)} }

func (m Meter) Take(now time.Time, who string) bool { return m.m.take(now, who) }

func (m Meter) Wait(now time.Time, who string) time.Duration {
	_, wait := m.m.full(now, who)
	return wait
}

// Party is whom an address counts as.
func Party(remote string) string { return party(remote) }

// MaxCounts is the bound of counted users, and Counted how many there are.
const MaxCounts = maxCounts

func (g *Gate) Counted() int {
	g.census.mu.Lock()
	defer g.census.mu.Unlock()
	return len(g.census.users)
}

// MaxLogins is the bound of logins, and CallerOf whose browser sends a request.
const (
	MaxLogins, MaxLoginsOf = maxLogins, maxLoginsOf
	MaxCodes, MaxCodesOf   = maxCodes, maxCodesOf
)

// Alive reports whether a process runs that is this user's.
func Alive(pid int) bool { return alive(pid, "") }

// UserID is a provider's word for a user as one of our identifiers.
func UserID(word string) string { return userID(word) }

func (l *Logins) CallerOf(r *http.Request) (harness.Caller, bool) { return l.caller(r) }

// The rates of the edge.
const (
	StrangerBurst, StrangerEvery = strangerBurst, strangerEvery
	CallerBurst, CallerEvery     = callerBurst, callerEvery
	FailBurst, FailEvery         = failBurst, failEvery
)

// Passed lets the time pass that is between two looks for new keys.
func (p *Provider) Passed() {
	p.looks.mu.Lock()
	defer p.looks.mu.Unlock()
	p.looks.last = p.looks.last.Add(-keysEvery)
}

// AwayFor is how long what is left of a refused body may take.
const AwayFor = awayFor

// Put adds a record of something that nobody else has a word in.
func (l *Ledger) Put(r Record) { l.about(nil, r) }
