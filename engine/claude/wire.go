package claude

import (
	"encoding/json"
	"fmt"
	"time"
)

// Messages of the program, one a line. Fields that nobody reads are left out;
// unknown ones are ignored.
type (
	// head is what every message begins with.
	head struct {
		Type    string `json:"type"`
		Subtype string `json:"subtype"`
		Session string `json:"session_id"`
		UUID    string `json:"uuid"`
		Parent  string `json:"parent_tool_use_id"` // the call of the subagent that says it
	}

	// streamed is a piece of an answer on its way.
	streamed struct {
		head
		Event struct {
			Type    string `json:"type"`
			Index   int    `json:"index"`
			Message struct {
				ID    string `json:"id"`
				Model string `json:"model"`
				Usage usage  `json:"usage"`
			} `json:"message"`
			Delta struct {
				Type       string `json:"type"`
				Text       string `json:"text"`
				Thinking   string `json:"thinking"`
				StopReason string `json:"stop_reason"`
			} `json:"delta"`
			Usage usage `json:"usage"`
		} `json:"event"`
	}

	// spoken is a block of an answer, or what comes back to the model.
	spoken struct {
		head
		Message struct {
			ID      string          `json:"id"`
			Model   string          `json:"model"`
			Content json.RawMessage `json:"content"`
		} `json:"message"`
		Error         json.RawMessage `json:"error"` // why it is no answer
		Timestamp     string          `json:"timestamp"`
		Replay        bool            `json:"isReplay"`
		ToolUseResult json.RawMessage `json:"tool_use_result"`
	}

	// block is a piece of content of any kind.
	block struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
		ToolUseID string          `json:"tool_use_id"`
		Content   json.RawMessage `json:"content"`
		IsError   bool            `json:"is_error"`
	}

	// notice is a message about the program's own state.
	notice struct {
		head
		Tools           []string        `json:"tools"`
		Model           string          `json:"model"`
		Attempt         int             `json:"attempt"`
		MaxRetries      int             `json:"max_retries"`
		ErrorStatus     int             `json:"error_status"`
		Error           json.RawMessage `json:"error"`
		ToolUseID       string          `json:"tool_use_id"`
		Message         json.RawMessage `json:"message"`
		TaskType        string          `json:"task_type"`
		Description     string          `json:"description"`
		Tasks           []any           `json:"tasks"`
		CompactMetadata struct {
			PreTokens  int64 `json:"pre_tokens"`
			PostTokens int64 `json:"post_tokens"`
		} `json:"compact_metadata"`
	}

	usage struct {
		InputTokens  int64 `json:"input_tokens"`
		OutputTokens int64 `json:"output_tokens"`
		CacheRead    int64 `json:"cache_read_input_tokens"`
		CacheWritten int64 `json:"cache_creation_input_tokens"`
	}

	// result ends a turn of the program.
	result struct {
		head
		IsError        bool     `json:"is_error"`
		TerminalReason string   `json:"terminal_reason"`
		APIErrorStatus int      `json:"api_error_status"`
		Result         string   `json:"result"`
		Errors         []string `json:"errors"`
		StopReason     string   `json:"stop_reason"`
		Usage          usage    `json:"usage"`
		CostUSD        float64  `json:"total_cost_usd"` // of the process
		ModelUsage     map[string]struct {
			ContextWindow int64 `json:"contextWindow"`
		} `json:"modelUsage"`
		UserMessages []string `json:"user_message_uuids"`
		Origin       any      `json:"origin"` // of a turn that nobody asked for
	}

	// request is something the program wants of us.
	request struct {
		head
		RequestID string `json:"request_id"`
		Request   struct {
			Subtype     string            `json:"subtype"`
			ToolName    string            `json:"tool_name"`
			Input       json.RawMessage   `json:"input"`
			Description string            `json:"description"`
			Title       string            `json:"title"`
			Suggestions []json.RawMessage `json:"permission_suggestions"`
			BlockedPath string            `json:"blocked_path"`
			Reason      string            `json:"decision_reason"`
			ToolUseID   string            `json:"tool_use_id"`
		} `json:"request"`
	}

	// response is the program's answer to a request of ours.
	response struct {
		head
		Response struct {
			Subtype   string          `json:"subtype"`
			RequestID string          `json:"request_id"`
			Error     string          `json:"error"`
			Response  json.RawMessage `json:"response"`
		} `json:"response"`
	}

	// other is a message that this build does not know, or a notice that it
	// cannot read.
	other struct{ head }
)

// decode reads a line: one of the structs above, or nil for what is known and
// has nothing to tell.
func decode(line []byte) (any, error) {
	var h head
	if err := json.Unmarshal(line, &h); err != nil {
		return nil, fmt.Errorf("a line that is no message: %q: %w", short(line), err)
	}
	var m any
	switch h.Type {
	case "stream_event":
		m = new(streamed)
	case "assistant", "user":
		m = new(spoken)
	case "result":
		m = new(result)
	case "control_request", "control_cancel_request":
		m = new(request)
	case "control_response":
		m = new(response)
	case "system":
		n := new(notice)
		switch {
		case silent[h.Subtype]:
			return nil, nil
		case !telling[h.Subtype] || json.Unmarshal(line, n) != nil:
			h.Type += "/" + h.Subtype
			return &other{h}, nil
		}
		return n, nil
	default:
		if silent[h.Type] {
			return nil, nil
		}
		return &other{h}, nil
	}
	if err := json.Unmarshal(line, m); err != nil {
		return nil, fmt.Errorf("a %s message that cannot be read: %w", h.Type, err)
	}
	return m, nil
}

// silent are the kinds and subkinds of messages that tell nothing the log needs.
var silent = map[string]bool{
	"command_lifecycle": true, "keep_alive": true, "conversation_reset": true, "rate_limit_event": true, "prompt_suggestion": true,
	"tool_progress": true, "auth_status": true, "files_persisted": true, "elicitation_complete": true,
	"status": true, "thinking_tokens": true, "session_state_changed": true, "task_progress": true, "task_updated": true, "task_notification": true,
	"hook_started": true, "hook_progress": true, "hook_response": true,
}

// telling are the notices that the log needs.
var telling = map[string]bool{
	"init": true, "api_retry": true, "permission_denied": true, "compact_boundary": true, "task_started": true, "background_tasks_changed": true,
}

// short is a piece of a line for an error.
func short(line []byte) []byte { return line[:min(len(line), 120)] }

// when is the time of a message, or none.
func when(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t
}

// blocks are the pieces of a content, which may be a plain text.
func blocks(content json.RawMessage) []block {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	var all []block
	_ = json.Unmarshal(content, &all) // what cannot be read says nothing
	return all
}

// word is a JSON string, or the JSON itself.
func word(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// Messages to the program.
type (
	said struct {
		Type    string  `json:"type"`
		UUID    string  `json:"uuid"`
		Parent  *string `json:"parent_tool_use_id"`
		Message struct {
			Role    string `json:"role"`
			Content any    `json:"content"`
		} `json:"message"`
	}

	control struct {
		Type      string `json:"type"`
		RequestID string `json:"request_id"`
		Request   any    `json:"request"`
	}

	reply struct {
		Type     string    `json:"type"`
		Response replyBody `json:"response"`
	}
	replyBody struct {
		Subtype   string `json:"subtype"`
		RequestID string `json:"request_id"`
		Response  any    `json:"response,omitempty"`
		Error     string `json:"error,omitempty"`
	}

	// verdict answers a question about a call.
	verdict struct {
		Behavior           string            `json:"behavior"`
		UpdatedInput       json.RawMessage   `json:"updatedInput,omitempty"`
		UpdatedPermissions []json.RawMessage `json:"updatedPermissions,omitempty"`
		Message            string            `json:"message,omitempty"`
	}
)
