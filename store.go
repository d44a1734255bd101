package harness

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
)

// Store keeps the logs. Every implementation passes storetest.
//
// The log's end is the fencing token: [Store.Append] succeeds only if the log
// ends where the writer believes it ends, so a stale owner can never write.
// Methods may be called concurrently.
type Store interface {
	// Append adds c to its session's log, or returns ErrConflict if the log
	// does not end at c.After. It returns nil when c is durable: all of it or
	// nothing. Any other error means that the outcome is unknown; ErrStorage
	// says that the store cannot write at all.
	Append(ctx context.Context, c Commit) error

	// Read yields the events after a position, in order and without a gap, as
	// of some moment during the call, in bounded memory. A branch's history
	// reads through to its parent. A session without a log is ErrNotFound;
	// damaged data is ErrCorrupt, with its place.
	Read(ctx context.Context, id SessionID, after Seq) iter.Seq2[Event, error]

	// List yields summaries, newest update first, from an index and never from
	// the logs.
	List(ctx context.Context, f Filter) iter.Seq2[Summary, error]

	// Close waits for appends in flight and releases everything.
	Close() error
}

// Commit is what becomes durable together.
type Commit struct {
	Session SessionID
	After   Seq     // the log must end here; 0 for a new session
	Events  []Event // dense: After+1, After+2, …
	Summary Summary // replaces the session's row in lists, in the same transaction
	From    *Branch // with the first commit of a branch: where its history continues; After is From.Seq
	Rules   []Rule  // standing rules that its decisions made; only for a store that is a Rulebook
}

// Check refuses a commit that no log can take with [ErrInvalid]. Every store
// asks before it appends.
func (c Commit) Check() error {
	switch {
	case c.Session == "", len(c.Events) == 0, c.Summary.Session != c.Session:
		return fmt.Errorf("a commit has a session, its summary and events: %w", ErrInvalid)
	case c.From != nil && (c.From.Seq == 0 || c.From.Seq != c.After || c.From.Session == c.Session):
		return fmt.Errorf("a branch starts at a position of another session: %w", ErrInvalid)
	}
	for i, e := range c.Events {
		if e.Seq != c.After+1+Seq(i) || e.Session != c.Session {
			return fmt.Errorf("event %d of %s does not follow: %w", e.Seq, e.Session, ErrInvalid)
		}
		if len(e.raw) == 0 || bytes.IndexByte(e.raw, '\n') >= 0 {
			return fmt.Errorf("event %d is not one line: %w", e.Seq, ErrInvalid)
		}
	}
	return CheckRules(c.Rules)
}

// Summary is a session's row in lists.
type Summary struct {
	Session   SessionID `json:"session_id"`
	Kind      Kind      `json:"kind"`
	User      string    `json:"user_id,omitempty"`
	Title     string    `json:"title,omitempty"`
	Status    Status    `json:"status"`
	Reason    string    `json:"reason,omitempty"`
	Engine    string    `json:"engine,omitempty"`
	Directory string    `json:"directory,omitempty"`
	Parent    SessionID `json:"parent_session_id,omitempty"`
	Branched  string    `json:"branch_source_event_id,omitempty"` // the last event it shares with its parent
	Cursor    string    `json:"branch_resume_cursor,omitempty"`   // as whoever branched named it
	Seq       Seq       `json:"seq"`
	Messages  int       `json:"messages"`
	Pending   int       `json:"pending_approvals,omitempty"`
	Created   time.Time `json:"created"`
	Updated   time.Time `json:"updated"`
	Bytes     int64     `json:"bytes,omitempty"` // of its log and artifacts, but for what it shares with its parent; 0: not counted

	Score int    `json:"health_score,omitempty"` // 0 to 100
	Grade string `json:"health_grade,omitempty"` // empty if nobody has looked
	Stuck bool   `json:"stuck,omitempty"`        // it does not go on by itself, or gets nowhere; other trouble may be worse for the score

	CostUSD float64 `json:"cost_usd,omitempty"` // with the sessions below, as far as prices are known
	Spent   []Day   `json:"spent,omitempty"`    // without them, by day; the latest
	Changes Changes `json:"changes,omitzero"`

	SpawnedBy  SessionID `json:"spawned_by,omitempty"`
	Attempts   int       `json:"attempt_count,omitempty"`
	MaxRetries int       `json:"max_retries,omitempty"`
	Queued     time.Time `json:"queued_at,omitzero"` // since when it waits in the queue; zero: it does not
	Retry      time.Time `json:"retry_at,omitzero"`  // and not before
	Started    time.Time `json:"started_at,omitzero"`
	Ended      time.Time `json:"ended_at,omitzero"`
	Expires    time.Time `json:"expires_at,omitzero"`

	Place int `json:"-"` // in the queue, from 1 on, as a server knows it; no store does
}

// Day is what was spent on a day.
type Day struct {
	Date    string  `json:"date"` // 2006-01-02, in UTC
	CostUSD float64 `json:"cost_usd"`
}

// Summary is the row that lists show of s, but for its health.
func (s *State) Summary() Summary {
	sum := Summary{
		Session: s.Session, Kind: s.Kind, User: s.User, Title: s.Title, Status: s.Status, Reason: s.Reason, Engine: s.Engine,
		Directory: s.Directory, Seq: s.Seq, Messages: s.Count(), Pending: len(s.Pending), Created: s.Created, Updated: s.Updated, Bytes: s.Bytes, Changes: s.Changed.Changes,
	}
	sum.SpawnedBy, sum.Attempts, sum.MaxRetries = s.SpawnedBy, s.Course.Attempts, s.Retries
	sum.Queued, sum.Retry, sum.Started = s.Course.Queued, s.Course.Retry, s.Course.Started
	sum.Ended, sum.Expires = s.Course.Ended, s.Course.Expires
	if s.From != nil {
		sum.Parent, sum.Branched, sum.Cursor = s.From.Session, EventID(s.From.Session, s.From.Seq), s.From.Cursor
	}
	return sum
}

// Filter chooses rows of a list. Empty fields choose everything.
type Filter struct {
	Session  SessionID // exactly this one
	User     string
	Kind     Kind
	Statuses []Status
	Parent   SessionID
	Before   *Summary // continue after this row of an earlier page
	Limit    int      // 0: no limit
}

// Counter is an optional power of a store: how many sessions there are, by
// status, from an index.
type Counter interface {
	Count(ctx context.Context) (map[Status]int, error)
}

// Snapshotter is an optional power of a store: states that spare reading the
// log from its beginning. What is in a snapshot could always be folded again,
// so losing one loses nothing.
type Snapshotter interface {
	// SaveSnapshot keeps s. Saving the same again changes nothing.
	SaveSnapshot(ctx context.Context, s Snapshot) error

	// LoadSnapshot returns the newest snapshot at or before a position (0: the
	// newest of all), without its messages, or ErrNotFound.
	LoadSnapshot(ctx context.Context, id SessionID, at Seq) (Snapshot, error)

	// Messages yields the sealed messages from, from+1, … up to but without
	// to, each in the form that clients get. A branch's messages read through
	// to its parent. One that is missing is ErrCorrupt.
	Messages(ctx context.Context, id SessionID, from, to int) iter.Seq2[[]byte, error]
}

// Snapshot is a session's state at a position, in two parts so that neither
// writing nor loading it grows with the history: a head, and the messages that
// were sealed since the last snapshot.
type Snapshot struct {
	Session SessionID
	Seq     Seq
	State   []byte   // EncodeState
	First   int      // index of Sealed[0] in the conversation
	Sealed  [][]byte // EncodeMessage
	End     Seq      // where the log ended when it was loaded; 0: a read tells
}

// Remover is an optional power of a store: forget a session. One with branches
// is refused with [RefuseRemoval], because their histories go through it; one
// that is not there is ErrNotFound.
type Remover interface {
	Remove(ctx context.Context, id SessionID) error
}

// MaxNamed is how many branches a refusal to remove names.
const MaxNamed = 8

// RefuseRemoval is ErrBranched and says which sessions branch off: the first
// [MaxNamed] by name. branches may leave out any behind those and the next.
func RefuseRemoval(branches []SessionID) error {
	slices.Sort(branches)
	names := make([]string, 0, MaxNamed)
	for _, id := range branches[:min(len(branches), MaxNamed)] {
		names = append(names, string(id))
	}
	more := ""
	if len(branches) > MaxNamed {
		more = " and others"
	}
	return fmt.Errorf("branched off as %s%s: %w", strings.Join(names, ", "), more, ErrBranched)
}
