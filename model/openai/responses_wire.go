package openai

import "encoding/json"

// The messages of Responses, as far as we send and read them. A test compares
// what we send with what the types of its makers become.

type responseRequest struct {
	Model             string         `json:"model"`
	Instructions      string         `json:"instructions,omitempty"`
	Input             []inputItem    `json:"input"`
	Tools             []functionTool `json:"tools,omitempty"`
	ToolChoice        string         `json:"tool_choice,omitempty"`
	ParallelToolCalls bool           `json:"parallel_tool_calls"`
	Reasoning         *reasoning     `json:"reasoning,omitempty"`
	Temperature       *float64       `json:"temperature,omitempty"`
	MaxOutputTokens   int64          `json:"max_output_tokens,omitempty"`
	PromptCacheKey    string         `json:"prompt_cache_key,omitempty"`
	Include           []string       `json:"include"`
	Store             bool           `json:"store"`
	Stream            bool           `json:"stream"`
}

type reasoning struct {
	Effort  string `json:"effort"`
	Summary string `json:"summary,omitempty"`
}

type functionTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

// inputItem is a message (which has no type), a thought, a call or its result.
type inputItem struct {
	Type             string     `json:"type,omitempty"`
	Role             string     `json:"role,omitempty"`
	Content          any        `json:"content,omitempty"` // a text, or a list of inputPart
	ID               string     `json:"id,omitempty"`
	Summary          *[]summary `json:"summary,omitempty"`
	EncryptedContent string     `json:"encrypted_content,omitempty"`
	CallID           *string    `json:"call_id,omitempty"`
	Name             *string    `json:"name,omitempty"`
	Arguments        *string    `json:"arguments,omitempty"`
	Output           any        `json:"output,omitempty"` // likewise
}

type summary struct {
	Text string `json:"text"`
	Type string `json:"type"`
}

type inputPart struct {
	Text     *string `json:"text,omitempty"`
	Detail   string  `json:"detail,omitempty"`
	ImageURL string  `json:"image_url,omitempty"`
	FileData string  `json:"file_data,omitempty"`
	Filename *string `json:"filename,omitempty"`
	Type     string  `json:"type"`
}

// responseEvent is one of an answer's stream, of any type.
type responseEvent struct {
	Type         string         `json:"type"`
	ItemID       string         `json:"item_id"`
	Delta        string         `json:"delta"`
	SummaryIndex int64          `json:"summary_index"`
	Code         string         `json:"code"`
	Message      string         `json:"message"`
	Item         outputItem     `json:"item"`
	Response     responseObject `json:"response"`
}

type outputItem struct {
	Type             string `json:"type"`
	ID               string `json:"id"`
	CallID           string `json:"call_id"`
	Name             string `json:"name"`
	Arguments        string `json:"arguments"`
	EncryptedContent string `json:"encrypted_content"`
	Content          []struct {
		Text string `json:"text"`
	} `json:"content"`
}

type responseObject struct {
	ID     string `json:"id"`
	Model  string `json:"model"`
	Status string `json:"status"`
	Error  struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	IncompleteDetails struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage struct {
		InputTokens        int64 `json:"input_tokens"`
		InputTokensDetails struct {
			CachedTokens int64 `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		OutputTokens        int64 `json:"output_tokens"`
		OutputTokensDetails struct {
			ReasoningTokens int64 `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	} `json:"usage"`
}
