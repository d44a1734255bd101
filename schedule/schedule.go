package schedule

import (
	"fmt"
	"time"

	"harness"
)

// Overlap says what happens at a time at which the session of an earlier one
// still works.
type Overlap string

// The answers to an overlap.
const (
	Skip    Overlap = "skip"    // this time is left out
	Queue   Overlap = "queue"   // it begins when the other ends; only the latest waits
	Replace Overlap = "replace" // the other is cancelled
)

// Missed says what happens about times that passed while no server ran.
type Missed string

// The answers to missed times.
const (
	RunOnce Missed = "run"  // one session for all of them
	Forget  Missed = "skip" // nothing
)

// Bounds of a schedule.
const (
	MaxSchedules = 1000 // of a server: each costs a look a minute
	MaxName      = 128
)

// Schedule is a session to make, and when.
type Schedule struct {
	ID      string  `json:"schedule_id"`
	Name    string  `json:"name,omitempty"`
	When    string  `json:"when"` // see [Parse]
	Zone    string  `json:"zone,omitempty"`
	Overlap Overlap `json:"overlap"`
	Missed  Missed  `json:"missed"`

	Prompt    string       `json:"prompt"`
	Engine    string       `json:"engine,omitempty"`
	Directory string       `json:"directory,omitempty"`
	Model     string       `json:"model,omitempty"`
	Mode      harness.Mode `json:"permission_mode,omitempty"`

	Retries int           `json:"max_retries,omitempty"`   // of each session
	Expires time.Duration `json:"expires_after,omitempty"` // counted from its time; 0: it does not expire

	// On whose behalf its sessions are made.
	User    string              `json:"user_id,omitempty"`
	Role    harness.CallerRole  `json:"role"`
	Scope   harness.CallerScope `json:"scope,omitempty"`
	Actor   string              `json:"actor,omitempty"`
	Created time.Time           `json:"created_at"`

	// What has become of it.
	Done    time.Time         `json:"done"`              // times up to here were seen to
	Starts  time.Time         `json:"starts,omitzero"`   // a time whose session is being made
	Waits   time.Time         `json:"waits,omitzero"`    // a time whose turn has not come: see Queue
	Last    harness.SessionID `json:"last,omitempty"`    // the latest session
	Outcome string            `json:"outcome,omitempty"` // of the latest time: started, skipped, replaced, queued, or what went wrong
}

// Check refuses a schedule that could never make a session, and fills in what
// was left out.
func (s *Schedule) Check() error {
	if s.Overlap == "" {
		s.Overlap = Skip
	}
	if s.Missed == "" {
		s.Missed = RunOnce
	}
	switch {
	case s.Overlap != Skip && s.Overlap != Queue && s.Overlap != Replace:
		return fmt.Errorf("overlap %q: not one of skip, queue, replace: %w", s.Overlap, harness.ErrInvalid)
	case s.Missed != RunOnce && s.Missed != Forget:
		return fmt.Errorf("missed %q: neither run nor skip: %w", s.Missed, harness.ErrInvalid)
	case s.Retries < 0 || s.Retries > harness.MaxRetries:
		return fmt.Errorf("max retries %d: must be 0 to %d: %w", s.Retries, harness.MaxRetries, harness.ErrInvalid)
	case s.Expires < 0:
		return fmt.Errorf("expires after %s: %w", s.Expires, harness.ErrInvalid)
	case len(s.Name) > MaxName:
		return fmt.Errorf("name: longer than %d bytes: %w", MaxName, harness.ErrInvalid)
	}
	if err := harness.CheckParts(harness.TextPart(s.Prompt)); err != nil {
		return err
	}
	if err := s.patch().Check(); err != nil {
		return err
	}
	_, err := s.spec()
	return err
}

func (s *Schedule) spec() (Spec, error) { return Parse(s.When, s.Zone, s.Created) }

func (s *Schedule) patch() (p harness.ConfigPatch) {
	if s.Model != "" {
		p.Model = &s.Model
	}
	if s.Mode != "" {
		p.PermissionMode = &s.Mode
	}
	return p
}

// Next is when the schedule happens next after now, as far as it is known.
func (s *Schedule) Next(now time.Time) time.Time {
	spec, err := s.spec()
	if err != nil {
		return time.Time{}
	}
	return spec.Next(now)
}

// late is how much later than planned a time may begin and not count as missed:
// longer than a restart.
const late = time.Minute

// due is the time to see to now: the latest that has come and was not seen to.
// If it came while no server ran, it is missed.
func (s *Schedule) due(spec Spec, now time.Time) (at time.Time, missed bool) {
	for next := spec.Next(s.Done); !next.IsZero() && !next.After(now); next = spec.Next(next) {
		at = next
		if spec.every > 0 { // there may be very many
			at = spec.anchor.Add(now.Sub(spec.anchor) / spec.every * spec.every)
			break
		}
		if now.Sub(at) > 48*time.Hour { // so may there be of every minute: go on from yesterday
			next = now.Add(-48 * time.Hour)
		}
	}
	return at, !at.IsZero() && now.Sub(at) > late
}

// session is the id of the session for a time, a function of both.
func (s *Schedule) session(at time.Time) harness.SessionID {
	return harness.KeyedSession("schedule "+s.ID, at.UTC().Format(time.RFC3339Nano))
}
