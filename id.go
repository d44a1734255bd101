package harness

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Identifiers are opaque to clients. Those we mint are time-ordered, and our
// client in TypeScript takes a message's time from its id; those that clients
// bring are checked by [ParseSessionID] before they meet a path.
type (
	SessionID  string // ses_…: a session, a thread (S4), a chat or background session (S3)
	TurnID     string // trn_…: a turn, a run (S2)
	ItemID     string // itm_…: an item (S4), a message (S0)
	CallID     string // a tool call, in the engine's own words
	ApprovalID string // apr_…: request_id (S3), requestId (S4)
)

// Seq is a position in a session's log: 1, 2, 3, … with no gap. It is the one
// cursor of every protocol.
type Seq uint64

// Prefixes of minted identifiers.
const (
	SessionPrefix  = "ses_"
	TurnPrefix     = "trn_"
	ItemPrefix     = "itm_"
	ApprovalPrefix = "apr_"
)

// MaxID bounds an identifier that came from outside: long enough for any
// engine's own ids, short enough for a file name and an index key.
const MaxID = 128

// crockford is base32 without letters that people misread, in lower case.
var crockford = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// MintID makes an identifier that sorts by now: 48 bits of milliseconds, then
// 80 bits of the caller's entropy.
func MintID(prefix string, now time.Time, entropy [10]byte) string {
	var b [16]byte
	ms := uint64(now.UnixMilli())
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	copy(b[6:], entropy[:])
	return prefix + crockford.EncodeToString(b[:])
}

// DefaultSession is the id of user's default chat session. It is a function of
// the name, so that any node finds it without a lookup and two first commands
// cannot make two sessions.
func DefaultSession(user string) SessionID {
	sum := sha256.Sum256([]byte("default session of " + user))
	return SessionID(SessionPrefix + "u" + crockford.EncodeToString(sum[:16]))
}

// KeyedSession is the id of the session that a request made under a client's
// key. It is a function of both, so that the request, repeated, finds it; scope
// keeps the keys of different users and of different requests apart.
func KeyedSession(scope, key string) SessionID {
	sum := sha256.Sum256([]byte("session of key " + strconv.Quote(key) + " for " + scope))
	return SessionID(SessionPrefix + "k" + crockford.EncodeToString(sum[:16]))
}

// ParseSessionID accepts 1 to [MaxID] of A–Z a–z 0–9 . _ : - without a leading
// dot, and refuses everything else with [ErrInvalid].
func ParseSessionID(s string) (SessionID, error) {
	if err := CheckID("session id", s); err != nil {
		return "", err
	}
	return SessionID(s), nil
}

// CheckID applies the rule of [ParseSessionID] to any identifier; what names it
// in the error.
func CheckID(what, s string) error {
	if s == "" || len(s) > MaxID || s[0] == '.' {
		return fmt.Errorf("%s: must be 1 to %d characters and not start with a dot: %w", what, MaxID, ErrInvalid)
	}
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("._:-", c) >= 0 {
			continue
		}
		return fmt.Errorf("%s: character %q is not one of A-Za-z0-9._:-: %w", what, c, ErrInvalid)
	}
	return nil
}

// EventID is the id of the event at seq: derived from its place, never from a
// clock.
func EventID(id SessionID, seq Seq) string {
	return string(id) + "." + strconv.FormatUint(uint64(seq), 10)
}

// ParseEventID is the inverse of [EventID].
func ParseEventID(s string) (SessionID, Seq, error) {
	dot := strings.LastIndexByte(s, '.')
	if dot < 0 {
		return "", 0, fmt.Errorf("event id %q has no position: %w", s, ErrInvalid)
	}
	id, err := ParseSessionID(s[:dot])
	if err != nil {
		return "", 0, err
	}
	seq, err := strconv.ParseUint(s[dot+1:], 10, 64)
	if err != nil || seq == 0 {
		return "", 0, fmt.Errorf("event id %q has no position: %w", s, ErrInvalid)
	}
	return id, Seq(seq), nil
}

// ApprovalAt is the id of the approval that is asked for at seq. It says where
// it was asked, so that any node finds its session without a lookup.
func ApprovalAt(id SessionID, seq Seq) ApprovalID {
	return ApprovalID(ApprovalPrefix + EventID(id, seq))
}

// Place is the inverse of [ApprovalAt]. An id that was not made by it names no
// approval: [ErrNoApproval].
func (a ApprovalID) Place() (SessionID, Seq, error) {
	at, ok := strings.CutPrefix(string(a), ApprovalPrefix)
	id, seq, err := ParseEventID(at)
	if !ok || err != nil {
		return "", 0, ErrNoApproval
	}
	return id, seq, nil
}
