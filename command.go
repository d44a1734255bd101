package harness

import (
	"fmt"
	"time"
)

// Command is an intent of a client. Every command is answered with a [Receipt]
// once its effect is durable, or with an error and no effect.
type Command interface{ command() }

// OnBusy says what a submit does while a turn runs.
type OnBusy string

// The answers to a busy session.
const (
	Reject    OnBusy = "reject"
	Enqueue   OnBusy = "queue"
	Interrupt OnBusy = "interrupt" // cancel the running turn, then run
)

type (
	// Submit starts a turn. The same ClientKey again returns the first receipt.
	Submit struct {
		Parts     []Part
		Source    Source // FromSubmit, FromResume or FromTurn
		OnBusy    OnBusy
		ClientKey string
		Actor     string
	}
	// Steer says something to the running turn.
	Steer struct {
		Parts     []Part
		ClientKey string
		Actor     string
	}
	// Cancel ends the running turn; with Turn set, only that one. The same
	// ClientKey again returns the first receipt and cancels nothing.
	Cancel struct {
		Turn      TurnID
		ClientKey string
		Actor     string
	}
	// Answer decides an approval, named by its id or by its tool call.
	Answer struct {
		Approval ApprovalID
		Call     CallID
		Decision Decision
	}
	// Configure changes the fields that are set, and the title if there is one.
	// ClientKey is Cancel's.
	Configure struct {
		Patch      ConfigPatch
		Title      *string
		MaxRetries *int       // see NewSession; also of the turn that runs
		Expires    *time.Time // see NewSession; only of a background session
		ClientKey  string
		Actor      string
	}
	// Rewind reverts files to their state at a message: before the turn that the
	// message belongs to. Named by its own item, a rewind is undone. ClientKey is
	// Cancel's.
	Rewind struct {
		Message   ItemID
		DryRun    bool // only say what it would do
		Force     bool // also what somebody else has changed since
		ClientKey string
		Actor     string
	}
	// Pause holds a session before its next turn. ClientKey is Cancel's.
	Pause struct {
		ClientKey string
		Actor     string
	}
	// Resume lets a paused session go on. ClientKey is Cancel's.
	Resume struct {
		ClientKey string
		Actor     string
	}
)

func (Submit) command()    {}
func (Steer) command()     {}
func (Cancel) command()    {}
func (Answer) command()    {}
func (Configure) command() {}
func (Rewind) command()    {}
func (Pause) command()     {}
func (Resume) command()    {}

// By is cmd in the name of who sends it.
func By(cmd Command, actor string) Command {
	switch cmd := cmd.(type) {
	case Submit:
		cmd.Actor = actor
		return cmd
	case Steer:
		cmd.Actor = actor
		return cmd
	case Cancel:
		cmd.Actor = actor
		return cmd
	case Answer:
		cmd.Decision.Actor = actor
		return cmd
	case Configure:
		cmd.Actor = actor
		return cmd
	case Rewind:
		cmd.Actor = actor
		return cmd
	case Pause:
		cmd.Actor = actor
		return cmd
	case Resume:
		cmd.Actor = actor
		return cmd
	}
	return cmd
}

// Receipt says where in the log a command took effect.
type Receipt struct {
	Seq  Seq    // the log ended here, or later, when the command was accepted
	Turn TurnID // the turn it concerns, if any
	Item ItemID // the user message it made, if any

	Rewound *Rewound // what a Rewind came to
}

// MaxPrompt bounds the text of one prompt: more than any model's window takes
// as instructions, less than the protocols' frame limits.
const MaxPrompt = 512 << 10

// MaxTitle bounds a session's title: a line of a list.
const MaxTitle = 1024

// CheckParts refuses input that is empty, oversized or of an unknown kind.
func CheckParts(parts []Part) error {
	size := 0
	for i, p := range parts {
		switch {
		case p.Type == "text":
		case p.Type == "file" && (p.Path != "" || p.URL != ""):
		case p.Type == "file":
			return fmt.Errorf("input part %d: a file needs a path or a url: %w", i, ErrInvalid)
		default:
			return fmt.Errorf("input part %d: unknown type %q: %w", i, p.Type, ErrInvalid)
		}
		size += len(p.Text) + len(p.Path) + len(p.URL)
	}
	switch {
	case size == 0:
		return fmt.Errorf("the prompt is empty: %w", ErrInvalid)
	case size > MaxPrompt:
		return fmt.Errorf("the prompt has %d bytes, more than %d: %w", size, MaxPrompt, ErrTooLarge)
	}
	return nil
}

// Config is what a client may set about how turns run.
type Config struct {
	PermissionMode Mode   `json:"permission_mode,omitempty"`
	MaxTurns       int    `json:"max_turns,omitempty"` // 0: no limit
	Model          string `json:"model,omitempty"`
	SystemPrompt   string `json:"system_prompt,omitempty"`
	Effort         Effort `json:"think_level,omitempty"`
	Agent          string `json:"agent_profile,omitempty"` // which of the engine's agents
}

// ConfigPatch changes the fields of a [Config] that are not nil.
type ConfigPatch struct {
	PermissionMode *Mode
	MaxTurns       *int
	Model          *string
	SystemPrompt   *string
	Effort         *Effort
	Agent          *string
	Health         *HealthPolicy // all of it
}

// Check refuses values outside the texts.
func (p ConfigPatch) Check() error {
	if m := p.PermissionMode; m != nil && *m != Normal && *m != AcceptEdits && *m != FullAuto {
		return fmt.Errorf("permission mode %q: %w", *m, ErrInvalid)
	}
	if n := p.MaxTurns; n != nil && (*n < 0 || *n > 1_000_000) {
		return fmt.Errorf("max turns %d: must be 0 to 1000000: %w", *n, ErrInvalid)
	}
	if e := p.Effort; e != nil && *e != EffortLow && *e != EffortMedium && *e != EffortHigh && *e != EffortMax {
		return fmt.Errorf("effort %q: %w", *e, ErrInvalid)
	}
	if m := p.Model; m != nil && len(*m) > MaxID {
		return fmt.Errorf("model: longer than %d bytes: %w", MaxID, ErrInvalid)
	}
	if a := p.Agent; a != nil && len(*a) > MaxID {
		return fmt.Errorf("agent: longer than %d bytes: %w", MaxID, ErrInvalid)
	}
	if s := p.SystemPrompt; s != nil && len(*s) > MaxPrompt {
		return fmt.Errorf("system prompt: longer than %d bytes: %w", MaxPrompt, ErrTooLarge)
	}
	return p.Health.Check()
}

// Empty reports whether the patch changes nothing.
func (p ConfigPatch) Empty() bool { return p == ConfigPatch{} }

// NewSession describes a session to create. The zero value is a chat session
// with a minted id.
type NewSession struct {
	ID        SessionID
	Kind      Kind
	User      string
	Title     string
	Engine    string
	Directory string
	Config    ConfigPatch
	From      *Branch   // nil: an empty history
	Wary      bool      // a branch trusts no more than its source does now, whatever it did then
	Parent    SessionID // whose task it does; empty for none
	Isolated  *bool     // it works in a directory of its own, made of Directory; nil: a background session does, where that can be

	Prompt     []Part    // what it begins with, durable with the session itself; only of a background session
	MaxRetries *int      // how often a turn is tried again; nil: as its history says, else never
	Expires    time.Time // no turn begins, and none is tried again, from then on; zero: no such time
	Actor      string    // who asks
}

// MaxRetries bounds how often a turn may be tried again: with the longest wait
// between two tries that is most of an hour.
const MaxRetries = 100

// CheckRetries refuses a number of retries that no session can have; nil is none
// of them.
func CheckRetries(n *int) error {
	if n != nil && (*n < 0 || *n > MaxRetries) {
		return fmt.Errorf("max retries %d: must be 0 to %d: %w", *n, MaxRetries, ErrInvalid)
	}
	return nil
}

// Check refuses what no session can be.
func (n NewSession) Check() error {
	if n.Kind != "" && n.Kind != Chat && n.Kind != Background {
		return fmt.Errorf("kind %q: %w", n.Kind, ErrInvalid)
	}
	if err := CheckRetries(n.MaxRetries); err != nil {
		return err
	}
	if len(n.Prompt) > 0 {
		if err := CheckParts(n.Prompt); err != nil {
			return err
		}
	}
	return n.Config.Check()
}

// Branch is a place in another session's log.
type Branch struct {
	Session SessionID
	Seq     Seq
	Cursor  string `json:",omitempty"` // how it was named, if by a [Cursor]; see [BranchAt]
}
