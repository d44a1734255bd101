package anthropic

import "encoding/json"

// The messages of the protocol, as far as we send and read them. A test compares
// what we send with what the types of its makers become.

// version is that of the protocol.
const version = "2023-06-01"

type request struct {
	Model        string    `json:"model"`
	MaxTokens    int64     `json:"max_tokens,omitempty"`
	Tools        []tool    `json:"tools,omitempty"`
	System       []block   `json:"system,omitempty"`
	Messages     []message `json:"messages"`
	ToolChoice   *kind     `json:"tool_choice,omitempty"`
	Thinking     *thinking `json:"thinking,omitempty"`
	OutputConfig *output   `json:"output_config,omitempty"`
	Temperature  *float64  `json:"temperature,omitempty"`
	Stream       bool      `json:"stream,omitempty"`
}

// kind is an object that only says what it is.
type kind struct {
	Type string `json:"type"`
}

type tool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema"`
	CacheControl *kind           `json:"cache_control,omitempty"`
}

type thinking struct {
	Type         string `json:"type"`
	BudgetTokens int64  `json:"budget_tokens,omitempty"`
	Display      string `json:"display,omitempty"`
}

type output struct {
	Effort string `json:"effort"`
}

// Roles.
const (
	user      = "user"
	assistant = "assistant"
)

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// block is a piece of a message, of any type.
type block struct {
	CacheControl *kind           `json:"cache_control,omitempty"`
	Type         string          `json:"type"`
	Text         string          `json:"text,omitempty"`
	Thinking     *string         `json:"thinking,omitempty"`
	Signature    string          `json:"signature,omitempty"`
	Data         string          `json:"data,omitempty"`
	ID           string          `json:"id,omitempty"`
	Name         string          `json:"name,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	ToolUseID    string          `json:"tool_use_id,omitempty"`
	IsError      bool            `json:"is_error,omitempty"`
	Content      []block         `json:"content,omitempty"`
	Source       *source         `json:"source,omitempty"`
	Title        string          `json:"title,omitempty"`
}

// Types of blocks.
const (
	aText     = "text"
	aThought  = "thinking"
	aRedacted = "redacted_thinking"
	aCall     = "tool_use"
	aResult   = "tool_result"
	anImage   = "image"
	aDocument = "document"
)

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

// event is one of an answer's stream, of any type.
type event struct {
	Type    string `json:"type"`
	Index   int64  `json:"index"`
	Message struct {
		ID    string `json:"id"`
		Model string `json:"model"`
		Usage usage  `json:"usage"`
	} `json:"message"`
	ContentBlock begun `json:"content_block"`
	Delta        delta `json:"delta"`
	Usage        usage `json:"usage"`
}

// begun is a block that begins.
type begun struct {
	Type string `json:"type"`
	Text string `json:"text"`
	Data string `json:"data"`
	ID   string `json:"id"`
	Name string `json:"name"`
}

// delta is more of a block, or of the message.
type delta struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Thinking    string `json:"thinking"`
	Signature   string `json:"signature"`
	PartialJSON string `json:"partial_json"`
	StopReason  string `json:"stop_reason"`
}

type usage struct {
	InputTokens              *int64 `json:"input_tokens"` // nil: not told
	CacheReadInputTokens     int64  `json:"cache_read_input_tokens"`
	CacheCreationInputTokens int64  `json:"cache_creation_input_tokens"`
	OutputTokens             int64  `json:"output_tokens"`
	OutputTokensDetails      struct {
		ThinkingTokens int64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// complaint is what is said instead of an answer, or in the midst of one.
type complaint struct {
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}
