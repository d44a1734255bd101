package harness

import "time"

// Type names a kind of event, in S3's words.
type Type string

// Tier says who an event is for: every operator, or somebody debugging.
type Tier string

// The tiers of S3.
const (
	Default Tier = "default"
	Debug   Tier = "debug"
)

// Event is one fact of a session's log. Events are values and never change;
// make one with [NewEvent] or [DecodeEvent].
type Event struct {
	Seq     Seq
	Session SessionID
	Turn    TurnID // empty outside a turn
	Time    time.Time
	Payload Payload
	// Followed is how far a run that can outlive the server was read when this
	// was said; nil for everything else.
	Followed *Followed
	raw      []byte // the envelope, exactly as it is stored
}

// Followed is a place in the frames of a run: everything up to Frame was taken,
// but for the ends of texts that may turn out to be secrets.
type Followed struct {
	Frame uint64 `json:"frame"`
	Held  []Held `json:"held,omitempty"`
}

// Held is a frame of which only the first Shown bytes of text are in the log.
type Held struct {
	Frame uint64 `json:"frame"`
	Shown int    `json:"shown,omitempty"`
}

// Type is the event's kind.
func (e Event) Type() Type { return e.Payload.Type() }

// JSON is the event's envelope: the very bytes of the log. Callers must not
// change them.
func (e Event) JSON() []byte { return e.raw }

// Stored is how many bytes e adds to what its session stores: its envelope, and
// the content of an artifact.
func (e Event) Stored() int64 {
	n := int64(len(e.raw))
	if a, ok := e.Payload.(*Artifact); ok {
		n += max(a.Size, 0)
	}
	return n
}

// Payload is the body of an event. Only this package declares kinds; one that
// this build does not know is an [*Unknown].
type Payload interface {
	Type() Type
	payload()
}

// Info is a row of the inventory.
type Info struct {
	Type      Type
	Source    string // who emits it
	Persisted bool
	Role      string // what a front end does with it
	Tier      Tier
	Stream    string         // "events" or "health"
	New       func() Payload // an empty payload of this kind
}

// Inventory is the table of every kind of event: S3's, by S3's names, and the
// four the other texts need. The codec, the fold's test, GET /stream-events
// and the console all read it.
func Inventory() []Info { return inventory }

func row[P any, T interface {
	*P
	Payload
}](source, role string, tier Tier) Info {
	return Info{Type: T(new(P)).Type(), Source: source, Persisted: true, Role: role, Tier: tier, Stream: "events", New: func() Payload { return T(new(P)) }}
}

func unpersisted(i Info) Info { i.Persisted = false; return i }

func health(i Info) Info { i.Stream = "health"; i.Persisted = false; return i }

var inventory = []Info{
	unpersisted(row[Session]("serve chat bootstrap", "assign session id", Default)),
	row[SessionState]("serve chat + background runtime", "runtime/status card", Default),
	row[SessionCheckpoint]("background runtime", "checkpoint panel", Default),
	row[UserMessage]("client command", "user text", Default),
	row[PolicyDecision]("serve chat + background runtime", "governance timeline and diagnostics", Debug),
	row[HookEvent]("harness callbacks", "hook lifecycle trace", Debug),
	row[SandboxNotice]("serve chat + background runtime", "execution-isolation notice", Debug),
	row[TransportDiagnostic]("serve chat finalizer", "provider fallback / degraded-runtime diagnostics", Debug),
	row[SubagentEvent]("subagent registry + tool callbacks", "delegated-work lifecycle", Debug),
	row[TurnStart]("harness callbacks", "turn framing", Debug),
	row[TurnStartTools]("harness callbacks", "turn framing", Debug),
	row[Token]("provider streaming + harness", "assistant text", Default),
	row[Response]("provider streaming + harness", "assistant text", Default),
	row[Thinking]("harness/reflection engine", "reasoning surface", Default),
	row[Reflection]("harness/reflection engine", "reasoning surface", Default),
	row[ToolCall]("harness callback", "live tool row start", Default),
	row[ToolLog]("tool process", "live tool output", Debug),
	row[ToolResult]("post-hook success path", "rendered tool result", Default),
	row[ToolOutcome]("typed ToolOutcome path", "terminal tool status", Default),
	row[ToolBatch]("harness scheduler", "wave diagnostics", Debug),
	row[ToolSelected]("semantic tool selection", "selection diagnostics", Debug),
	row[ToolValidationError]("arg validation / repair loop", "diagnostics", Debug),
	row[ContextWarning]("context warning tracker", "warning banner/timeline", Default),
	row[ContextCompacted]("compactor", "compaction marker", Default),
	row[StepProgress]("native agentic background runtime", "background step timeline", Default),
	row[Usage]("turn finalizer", "token metrics", Debug),
	row[Retrieval]("serve chat completion", "citations/context panel", Default),
	row[Antahkarana]("serve chat cognition summary", "cognition/guardrail panel", Default),
	row[ApprovalRequired]("serve chat + background runtime", "approval UX", Default),
	row[ApprovalApplied]("serve chat + background runtime", "approval UX", Default),
	row[Artifact]("runtime", "artifact panel", Default),
	row[Rewound]("workspace", "files taken back", Default),
	row[TurnEnd]("serve chat + background runtime", "turn final state", Default),
	row[Completed]("serve chat + background runtime", "turn final state", Default),
	row[Failure]("serve chat + background runtime", "turn final state", Default),
	health(row[HealthSnapshot]("health fold", "health panel", Default)),
}

// Lookup finds the inventory's row for a kind.
func Lookup(t Type) (Info, bool) {
	i, ok := byType[t]
	return i, ok
}

var byType = func() map[Type]Info {
	m := make(map[Type]Info, len(inventory))
	for _, i := range inventory {
		m[i.Type] = i
	}
	return m
}()

// Streamed is the text of an event that is a piece of something being said. Such
// events come in any number and cut where the engine cut them: neighbours may
// be merged before they are stored, and showing one may wait for the next.
func Streamed(p Payload) (text string, ok bool) {
	switch p := p.(type) {
	case *Token:
		return p.Text, true
	case *Thinking:
		return p.Text, true
	case *ToolLog:
		return p.Text, true
	}
	return "", false
}

// TierOf is the tier of a kind; kinds from the future are for debugging.
func TierOf(t Type) Tier {
	if i, ok := byType[t]; ok {
		return i.Tier
	}
	return Debug
}
