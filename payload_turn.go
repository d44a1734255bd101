package harness

import "encoding/json"

// Part is a piece of a user's input.
type Part struct {
	Type      string `json:"type"` // text or file
	Text      string `json:"text,omitempty"`
	Path      string `json:"path,omitempty"`
	URL       string `json:"url,omitempty"`
	MediaType string `json:"media_type,omitempty"`
}

// TextPart is the usual input: plain text.
func TextPart(s string) []Part { return []Part{{Type: "text", Text: s}} }

// PlainText is what parts say, with files named in brackets.
func PlainText(parts []Part) string {
	s := ""
	for _, p := range parts {
		if s != "" {
			s += "\n"
		}
		switch {
		case p.Type == "text":
			s += p.Text
		case p.Path != "":
			s += "[" + p.Path + "]"
		default:
			s += "[" + p.URL + "]"
		}
	}
	return s
}

// Source says which intent brought a user message.
type Source string

// The sources of user messages.
const (
	FromSubmit Source = "submit" // a prompt with a fresh agent context
	FromResume Source = "resume" // a prompt that continues the conversation
	FromSteer  Source = "steer"  // a word to the running turn
	FromTurn   Source = "turn"   // a prompt of a thread (S4) or chat session (S3): continues it
)

// UserMessage is what a person said. It is durable before anything acts on it.
type UserMessage struct {
	ItemID    ItemID `json:"item_id"`
	Source    Source `json:"source"`
	Parts     []Part `json:"parts"`
	ClientKey string `json:"client_key,omitempty"`
	Actor     string `json:"actor,omitempty"`
}

// TurnStart begins an attempt at a turn and names the assistant message that
// its output goes to.
type TurnStart struct {
	TurnID  TurnID `json:"turn_id"`
	ItemID  ItemID `json:"item_id"`
	Attempt int    `json:"attempt"`
	Engine  string `json:"engine,omitempty"`
	Model   string `json:"model,omitempty"`
	Fresh   bool   `json:"fresh,omitempty"`      // without the conversation so far
	Kept    bool   `json:"files_kept,omitempty"` // files are kept before it changes them

	Continues bool `json:"continues,omitempty"` // what was stopped on purpose: not another try
}

// TurnStartTools lists what the engine may call in this turn, and as whom.
type TurnStartTools struct {
	Tools          []ToolInfo `json:"tools"`
	PermissionMode Mode       `json:"permission_mode,omitempty"`
	Agent          string     `json:"agent_profile,omitempty"`
}

// ToolInfo describes a tool to a reader.
type ToolInfo struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema,omitempty"`
}

// Token is assistant text as it streams, several tokens merged where they came
// faster than the store commits.
type Token struct {
	ItemID ItemID `json:"item_id,omitempty"`
	Text   string `json:"text"`
}

// Response is the whole, authoritative text of an assistant message.
type Response struct {
	ItemID     ItemID `json:"item_id,omitempty"`
	Text       string `json:"text"`
	StopReason string `json:"stop_reason,omitempty"`
}

// Thinking is reasoning that the engine itself streamed.
type Thinking struct {
	ItemID ItemID `json:"item_id,omitempty"`
	Text   string `json:"text"`
}

// Reflection is a summary of reasoning that the engine itself gave.
type Reflection struct {
	ItemID ItemID `json:"item_id,omitempty"`
	Text   string `json:"text"`
}

// Ways a turn ends.
const (
	TurnCompleted = "completed"
	TurnCancelled = "cancelled"
	TurnError     = "error"
)

// TurnEnd is the one terminal event of a turn.
type TurnEnd struct {
	TurnID TurnID `json:"turn_id"`
	Status string `json:"status"` // completed, cancelled or error
	Reason string `json:"reason,omitempty"`
}

// Completed carries a turn's result.
type Completed struct {
	Result string `json:"result,omitempty"`
}

// Failure says what went wrong; its type on the wire is "error".
type Failure struct {
	Message   string `json:"message"`
	Code      string `json:"code,omitempty"`
	Retryable bool   `json:"retryable,omitempty"`
}

// Usage counts what a turn cost so far.
type Usage struct {
	InputTokens  int64    `json:"input_tokens"`
	OutputTokens int64    `json:"output_tokens"`
	CachedTokens int64    `json:"cached_tokens,omitempty"`
	CostUSD      *float64 `json:"cost_usd"` // null when the price is unknown
	ContextPct   *float64 `json:"context_pct,omitempty"`
	Model        string   `json:"model,omitempty"`
}

// Retrieval says which sources the turn used.
type Retrieval struct {
	Query       string          `json:"query"`
	Chunks      []Chunk         `json:"chunks"`
	ContextPack json.RawMessage `json:"context_pack,omitempty"`
}

// Chunk is one retrieved passage.
type Chunk struct {
	Source string  `json:"source"`
	Lines  string  `json:"lines,omitempty"`
	Score  float64 `json:"score,omitempty"`
}

// Antahkarana is the turn's guardrail summary, a pure function of its events.
type Antahkarana struct {
	Manas      json.RawMessage `json:"manas,omitempty"`
	Chitta     json.RawMessage `json:"chitta,omitempty"`
	Ahamkara   json.RawMessage `json:"ahamkara,omitempty"`
	Buddhi     json.RawMessage `json:"buddhi,omitempty"`
	Guardrails []string        `json:"guardrails,omitempty"`
	Confidence *float64        `json:"confidence,omitempty"`
	TraceID    string          `json:"trace_id,omitempty"`
}

// ContextWarning says that the model's window fills up.
type ContextWarning struct {
	UsedTokens  int64   `json:"used_tokens"`
	LimitTokens int64   `json:"limit_tokens"`
	Pct         float64 `json:"pct"`
}

// ContextCompacted says what a compaction kept.
type ContextCompacted struct {
	OriginalCount     int     `json:"original_count"`
	CompactedCount    int     `json:"compacted_count"`
	TokensSaved       int64   `json:"tokens_saved"`
	Summary           string  `json:"summary"`
	PreservedMessages int     `json:"preserved_messages"`
	ResumeCursor      *string `json:"resume_cursor"`
}

func (*UserMessage) Type() Type      { return "user_message" }
func (*TurnStart) Type() Type        { return "turn_start" }
func (*TurnStartTools) Type() Type   { return "turn_start_tools" }
func (*Token) Type() Type            { return "token" }
func (*Response) Type() Type         { return "response" }
func (*Thinking) Type() Type         { return "thinking" }
func (*Reflection) Type() Type       { return "reflection" }
func (*TurnEnd) Type() Type          { return "turn_end" }
func (*Completed) Type() Type        { return "completed" }
func (*Failure) Type() Type          { return "error" }
func (*Usage) Type() Type            { return "usage" }
func (*Retrieval) Type() Type        { return "retrieval" }
func (*Antahkarana) Type() Type      { return "antahkarana" }
func (*ContextWarning) Type() Type   { return "context_warning" }
func (*ContextCompacted) Type() Type { return "context_compacted" }

func (*UserMessage) payload()      {}
func (*TurnStart) payload()        {}
func (*TurnStartTools) payload()   {}
func (*Token) payload()            {}
func (*Response) payload()         {}
func (*Thinking) payload()         {}
func (*Reflection) payload()       {}
func (*TurnEnd) payload()          {}
func (*Completed) payload()        {}
func (*Failure) payload()          {}
func (*Usage) payload()            {}
func (*Retrieval) payload()        {}
func (*Antahkarana) payload()      {}
func (*ContextWarning) payload()   {}
func (*ContextCompacted) payload() {}
