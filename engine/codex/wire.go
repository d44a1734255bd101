package codex

import (
	"encoding/json"

	"harness"
)

// Messages of the program. Fields that nobody reads are left out; unknown ones
// are ignored.
type (
	// place is where something happens.
	place struct {
		Thread string `json:"threadId"`
		Turn   string `json:"turnId"`
		Item   string `json:"itemId"`
	}

	threadAnswer struct {
		Thread struct {
			ID string `json:"id"`
		} `json:"thread"`
		Model string `json:"model"`
	}

	turnNotice struct {
		Thread string `json:"threadId"`
		Turn   struct {
			ID     string  `json:"id"`
			Status string  `json:"status"`
			Error  *failed `json:"error"`
		} `json:"turn"`
	}

	failed struct {
		Message string          `json:"message"`
		Info    json.RawMessage `json:"codexErrorInfo"`
		Details string          `json:"additionalDetails"`
	}

	errorNotice struct {
		place
		Error     failed `json:"error"`
		WillRetry bool   `json:"willRetry"`
	}

	delta struct {
		place
		Delta   string `json:"delta"`
		Message string `json:"message"` // of a progress
		Index   int    `json:"summaryIndex"`
	}

	itemNotice struct {
		place
		Item item `json:"item"`
	}

	usageNotice struct {
		place
		Usage struct {
			Last   tokens `json:"last"`
			Window int64  `json:"modelContextWindow"`
		} `json:"tokenUsage"`
	}
	tokens struct {
		Total  int64 `json:"totalTokens"`
		Input  int64 `json:"inputTokens"`
		Cached int64 `json:"cachedInputTokens"`
		Output int64 `json:"outputTokens"`
	}

	planNotice struct {
		place
		Plan []struct {
			Step   string `json:"step"`
			Status string `json:"status"`
		} `json:"plan"`
	}

	rerouted struct {
		place
		From   string `json:"fromModel"`
		To     string `json:"toModel"`
		Reason string `json:"reason"`
	}
)

// item is a thing of a turn. Which fields there are depends on its type.
type item struct {
	Type     string `json:"type"`
	ID       string `json:"id"`
	Status   string `json:"status"`
	Duration *int64 `json:"durationMs"`

	Text    string   `json:"text"`
	Summary []string `json:"summary"`

	Command string  `json:"command"`
	Dir     string  `json:"cwd"`
	Output  *string `json:"aggregatedOutput"`
	Exit    *int    `json:"exitCode"`

	Changes []change `json:"changes"`

	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"`
	Error     json.RawMessage `json:"error"`
	Content   json.RawMessage `json:"contentItems"`
	Success   *bool           `json:"success"`

	Query string `json:"query"`
	Path  string `json:"path"`

	Receivers []string `json:"receiverThreadIds"`
	Prompt    string   `json:"prompt"`
	Agent     string   `json:"agentThreadId"`
	Kind      string   `json:"kind"`
}

type change struct {
	Path string `json:"path"`
	Kind struct {
		Type string  `json:"type"`
		Move *string `json:"move_path"`
	} `json:"kind"`
	Diff string `json:"diff"`
}

// input is a piece of what the program is told.
type input struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
	URL  string `json:"url,omitempty"`
}

// inputs is what a person said, as the program takes it. before goes in front.
func inputs(parts []harness.Part, before string) (all []input) {
	var rest []harness.Part
	for _, p := range parts {
		if isImage(p.URL) {
			all = append(all, input{Type: "image", URL: p.URL})
			continue
		}
		rest = append(rest, p)
	}
	if text := before + harness.PlainText(rest); text != "" {
		all = append(all, input{Type: "text", Text: text})
	}
	return all
}

func isImage(url string) bool { return len(url) > 11 && url[:11] == "data:image/" }
