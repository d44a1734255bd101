package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Kind says what a session is for.
type Kind string

// The kinds: somebody talks with it, or it works by itself.
const (
	Chat       Kind = "chat"
	Background Kind = "background"
)

// Status is where a session stands.
type Status string

// The statuses of design section 3.
const (
	Idle             Status = "idle"
	Queued           Status = "queued"
	Running          Status = "running"
	AwaitingApproval Status = "awaiting_approval"
	Paused           Status = "paused"
	Recovering       Status = "recovering"
	StatusCompleted  Status = "completed"
	StatusFailed     Status = "failed"
	StatusCancelled  Status = "cancelled"
)

// Statuses lists every status, for tables that must cover them.
func Statuses() []Status {
	return []Status{Idle, Queued, Running, AwaitingApproval, Paused, Recovering, StatusCompleted, StatusFailed, StatusCancelled}
}

// Bounds of what a session remembers so that a repeated command is recognised.
// A client that repeats itself does so within a reconnect, not 256 commands
// later.
const (
	MaxKeys    = 256
	MaxDecided = 256
	MaxGrants  = 256
)

// State is what a session's events add up to. The zero value is the state of
// an empty log. Its JSON form is the store's snapshot. A State has one owner;
// give others a [State.Clone].
type State struct {
	Session   SessionID `json:"session_id"`
	Seq       Seq       `json:"seq"`
	Kind      Kind      `json:"kind,omitempty"`
	User      string    `json:"user_id,omitempty"`
	Title     string    `json:"title,omitempty"`
	Engine    string    `json:"engine,omitempty"`
	Lacks     *Lacks    `json:"lacks,omitempty"` // because of the engine; never changed
	Directory string    `json:"directory,omitempty"`
	From      *Branch   `json:"from,omitempty"`
	SpawnedBy SessionID `json:"spawned_by,omitempty"` // whose task it does
	Depth     int       `json:"depth,omitempty"`      // how far that task was handed down
	Created   time.Time `json:"created"`
	Updated   time.Time `json:"updated"`
	Bytes     int64     `json:"bytes,omitempty"` // see [Event.Stored]; without what it shares with its parent

	Status  Status      `json:"status"`
	Reason  string      `json:"reason,omitempty"`
	Error   string      `json:"error,omitempty"`
	Course  Course      `json:"course,omitzero"`
	Config  Config      `json:"config"`
	Turn    *ActiveTurn `json:"turn,omitempty"` // nil between turns
	Turns   int         `json:"turns,omitempty"`
	Retries int         `json:"max_retries,omitempty"`
	Pausing bool        `json:"pausing,omitempty"` // pause when the turn ends

	Queue     []Prompt   `json:"queue,omitempty"`
	Pending   []Approval `json:"pending,omitempty"`
	Decided   []Decided  `json:"decided,omitempty"` // the latest MaxDecided
	Grants    []Grant    `json:"grants,omitempty"`
	Keys      []Key      `json:"keys,omitempty"` // the latest MaxKeys
	EngineRef string     `json:"engine_ref,omitempty"`
	Rewound   *Rewound   `json:"rewind,omitempty"` // the last one, with short lists; never changed
	Changed   changed    `json:"changed,omitzero"`

	Sealed   int        `json:"sealed,omitempty"` // messages before Messages[0]; the store has them
	Messages []*Message `json:"messages,omitempty"`

	calls  map[CallID]*Call // of the active turn
	trail  *Trail           // see [State.Trail]; nil until somebody asks
	unread []byte           // if trail is nil: its stored lines
	fresh  []trace          // and what came since

	aside     Aside  // see [State.Aside]
	asideForm []byte // if aside is nil: as it was stored
}

// ActiveTurn is the turn a session is in.
type ActiveTurn struct {
	ID         TurnID     `json:"id"`
	Attempt    int        `json:"attempt"`
	Engine     string     `json:"engine,omitempty"`
	Fresh      bool       `json:"fresh,omitempty"`
	Prompt     Prompt     `json:"prompt"`
	Item       ItemID     `json:"item"`  // the assistant message that output goes to
	First      int        `json:"first"` // index, from the beginning, of the turn's first assistant message
	Open       []OpenCall `json:"open,omitempty"`
	Cancelling bool       `json:"cancelling,omitempty"`
	Steers     int        `json:"steers,omitempty"`  // how often people spoke to it
	Steered    bool       `json:"steered,omitempty"` // output from here on goes to a new message
	Started    time.Time  `json:"started"`
	Began      Seq        `json:"began,omitempty"`  // where the turn's first turn_start is
	Tries      int        `json:"tries,omitempty"`  // attempts that count: not those that continue one
	Failed     bool       `json:"failed,omitempty"` // the last one did, so the next is another try
	Queued     time.Time  `json:"queued_at,omitzero"`

	Marked   string    `json:"marked,omitempty"`   // the status of the snapshot before it changed files; empty if it has not
	Followed *Followed `json:"followed,omitempty"` // how far its run was read, if that can outlive the server
}

// OpenCall is a tool call without an outcome.
type OpenCall struct {
	ID      CallID    `json:"id"`
	Name    string    `json:"name"`
	Item    ItemID    `json:"item,omitempty"`
	Started time.Time `json:"started"`
}

// Prompt is a user message that waits for its turn.
type Prompt struct {
	Item  ItemID `json:"item"`
	Parts []Part `json:"parts"`
	Fresh bool   `json:"fresh,omitempty"`
}

// Approval is a question nobody has answered yet.
type Approval struct {
	ID          ApprovalID      `json:"id"`
	Call        CallID          `json:"call"`
	Tool        string          `json:"tool"`
	Description string          `json:"description,omitempty"`
	Reason      string          `json:"reason,omitempty"`
	Input       json.RawMessage `json:"input,omitempty"`
	Digest      string          `json:"digest,omitempty"`   // of the arguments that will run: of Input, unless Redacted
	Redacted    bool            `json:"redacted,omitempty"` // Input or Tool lack what looks like a secret
	Asked       Seq             `json:"asked"`
	Since       time.Time       `json:"since"`
	Deadline    *time.Time      `json:"deadline,omitempty"`
}

// Decided is an approval that was answered.
type Decided struct {
	ID       ApprovalID `json:"id"`
	Call     CallID     `json:"call"`
	Turn     TurnID     `json:"turn,omitempty"`
	Decision Decision   `json:"decision"`
}

// Key is a command that was accepted under a client's key.
type Key struct {
	Key  string `json:"key"`
	Seq  Seq    `json:"seq"`
	Turn TurnID `json:"turn,omitempty"`
	Item ItemID `json:"item,omitempty"`
}

// Count is the number of messages, sealed ones included.
func (s *State) Count() int { return s.Sealed + len(s.Messages) }

// Keyed finds the receipt of the command that was accepted under key.
func (s *State) Keyed(key string) (Receipt, bool) {
	if key == "" {
		return Receipt{}, false
	}
	for _, k := range s.Keys {
		if k.Key == key {
			return Receipt{Seq: k.Seq, Turn: k.Turn, Item: k.Item}, true
		}
	}
	return Receipt{}, false
}

// Asked finds the open approval that an answer means, by id or by tool call.
func (s *State) Asked(a Answer) (Approval, bool) {
	i := slices.IndexFunc(s.Pending, func(p Approval) bool {
		return a.Approval != "" && p.ID == a.Approval || a.Approval == "" && p.Call == a.Call
	})
	if i < 0 {
		return Approval{}, false
	}
	return s.Pending[i], true
}

// Answered checks an answer against the decisions already made: nil if it says
// the same again, [ErrDecided] if it differs, [ErrNoApproval] if there is none.
func (s *State) Answered(a Answer) error {
	for _, d := range slices.Backward(s.Decided) {
		if a.Approval != "" && d.ID == a.Approval || a.Approval == "" && d.Call == a.Call {
			if d.Decision.same(a.Decision) {
				return nil
			}
			return fmt.Errorf("approval %s was decided %s: %w", d.ID, d.Decision.Verdict, ErrDecided)
		}
	}
	return ErrNoApproval
}

// Called reports whether the active turn has made this call, open or not.
func (s *State) Called(id CallID) bool { return s.calls[id] != nil }

// Said is the text of an assistant message of the active turn so far.
func (s *State) Said(item ItemID) string {
	if m := s.find(item); m != nil {
		return m.Content.String()
	}
	return ""
}

// Split reports whether a steer has cut, or is about to cut, the active turn's
// output into several messages.
func (s *State) Split() bool {
	t := s.Turn
	if t == nil || t.First < s.Sealed || t.First >= s.Count() {
		return false
	}
	return t.Steered || s.Messages[t.First-s.Sealed].ID != t.Item
}

// Clone is a copy that shares only bytes that are never written again.
func (s *State) Clone() *State {
	c := *s
	if s.Turn != nil {
		t := *s.Turn
		t.Open = slices.Clone(t.Open)
		c.Turn = &t
	}
	c.Queue, c.Pending, c.Decided = slices.Clone(s.Queue), slices.Clone(s.Pending), slices.Clone(s.Decided)
	c.Grants, c.Keys = slices.Clone(s.Grants), slices.Clone(s.Keys)
	c.Changed.Seen = slices.Clone(s.Changed.Seen)
	c.trail, c.fresh = s.trail.clone(), slices.Clone(s.fresh)
	c.Messages = make([]*Message, len(s.Messages))
	for i, m := range s.Messages {
		c.Messages[i] = m.clone()
	}
	c.index()
	return &c
}

// Sealable is how many of Messages can never change again and may move to the
// store.
func (s *State) Sealable() int {
	n := len(s.Messages)
	if s.Turn != nil {
		n = min(n, max(0, s.Turn.First-s.Sealed))
	}
	for i, m := range s.Messages[:n] {
		if !m.final() {
			return i
		}
	}
	return n
}

// Seal forgets the first n of Messages, which the store now keeps.
func (s *State) Seal(n int) {
	s.Sealed += n
	s.Messages = append([]*Message(nil), s.Messages[n:]...)
}

// asidePrefix begins the line of what is kept aside; no trace begins so.
const asidePrefix = "aside "

// EncodeState is the form of s that [DecodeState] reads, a snapshot's head: the
// state in a line, what is kept aside in another, and the trail behind it.
func EncodeState(s *State) []byte {
	b := appendJSON(nil, s)
	switch {
	case s.aside != nil:
		b = s.aside.AppendJSON(append(append(b, '\n'), asidePrefix...))
	case len(s.asideForm) > 0:
		b = append(append(append(b, '\n'), asidePrefix...), s.asideForm...)
	}
	return s.appendTrail(b)
}

// DecodeState reads what [EncodeState] wrote. It takes b over: the trail is
// decoded when somebody asks for it.
func DecodeState(b []byte) (*State, error) {
	s := new(State)
	b, s.unread, _ = bytes.Cut(b, []byte("\n"))
	if form, ok := bytes.CutPrefix(s.unread, []byte(asidePrefix)); ok {
		s.asideForm, s.unread, _ = bytes.Cut(form, []byte("\n"))
	}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("decode state: %w: %w", err, ErrCorrupt)
	}
	for _, m := range s.Messages {
		if m == nil || slices.Contains(m.Calls, nil) {
			return nil, fmt.Errorf("decode state: a message is missing: %w", ErrCorrupt)
		}
	}
	s.index()
	return s, nil
}

// EncodeMessage is a message in the form that clients get.
func EncodeMessage(m *Message) []byte { return appendJSON(nil, m) }

// index finds the calls of the active turn again after a copy or a load.
func (s *State) index() {
	s.calls = nil
	if s.Turn == nil {
		return
	}
	s.calls = make(map[CallID]*Call)
	for _, m := range s.current() {
		for _, c := range m.Calls {
			s.calls[c.ID] = c
		}
	}
}

// current is the messages since the active turn began; they are never sealed.
func (s *State) current() []*Message {
	if s.Turn == nil {
		return nil
	}
	return s.Messages[min(len(s.Messages), max(0, s.Turn.First-s.Sealed)):]
}
