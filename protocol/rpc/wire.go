package rpc

import (
	"encoding/json"

	"harness"
)

// The shapes of S4. Fields that S4 does not name are additive.

type thread struct {
	ThreadID  harness.SessionID `json:"threadId"`
	Title     string            `json:"title"`
	Directory string            `json:"directory"`
	Time      threadTime        `json:"time"`
	Status    harness.Status    `json:"status"`
	Seq       harness.Seq       `json:"seq"`
	Parent    harness.SessionID `json:"parentThreadId,omitempty"`
}

type threadTime struct {
	Created int64 `json:"created"`
	Updated int64 `json:"updated"`
}

func asThread(s harness.Summary) thread {
	return thread{s.Session, s.Title, s.Directory, threadTime{s.Created.UnixMilli(), s.Updated.UnixMilli()}, s.Status, s.Seq, s.Parent}
}

type turnTime struct {
	Started   int64  `json:"started"`
	Completed *int64 `json:"completed,omitempty"`
}

type item struct {
	ItemID   harness.ItemID    `json:"itemId"`
	ThreadID harness.SessionID `json:"threadId"`
	TurnID   harness.TurnID    `json:"turnId"`
	Type     string            `json:"type" rule:"words=user_message|assistant_message|tool_exec|tool_log|approval|artifact"`
	Data     any               `json:"data,omitempty"`
}

// turn is a turn in the middle: its items as far as they have come.
type turn struct {
	TurnID   harness.TurnID    `json:"turnId"`
	ThreadID harness.SessionID `json:"threadId"`
	Status   string            `json:"status" rule:"words=running"`
	Time     turnTime          `json:"time"`
	Items    []item            `json:"items"`
}

// The params of the notifications.
type (
	threadCreated struct {
		ThreadID harness.SessionID `json:"threadId"`
		Title    string            `json:"title"`
		Seq      harness.Seq       `json:"seq"`
	}
	threadSpawned struct {
		ThreadID harness.SessionID `json:"threadId"`
		Spawned  harness.SessionID `json:"spawnedThreadId"`
		Task     string            `json:"task"`
		Seq      harness.Seq       `json:"seq"`
	}
	turnStarted struct {
		TurnID   harness.TurnID    `json:"turnId"`
		ThreadID harness.SessionID `json:"threadId"`
		Time     turnTime          `json:"time"`
		Seq      harness.Seq       `json:"seq"`
	}
	turnEnded struct {
		TurnID   harness.TurnID    `json:"turnId"`
		ThreadID harness.SessionID `json:"threadId"`
		Status   string            `json:"status" rule:"words=completed|cancelled|error"`
		Error    string            `json:"error,omitempty"`
		Reason   string            `json:"reason,omitempty"`
		Time     turnTime          `json:"time"`
		Usage    *usage            `json:"usage,omitempty"`
		Seq      harness.Seq       `json:"seq"`
	}
	itemStarted struct {
		Item item        `json:"item"`
		Seq  harness.Seq `json:"seq"`
	}
	itemDelta struct {
		ItemID    harness.ItemID    `json:"itemId"`
		ThreadID  harness.SessionID `json:"threadId"`
		TurnID    harness.TurnID    `json:"turnId"`
		Type      string            `json:"type" rule:"words=user_message|assistant_message|tool_exec|tool_log|approval|artifact"`
		Delta     string            `json:"delta"`
		Reasoning bool              `json:"reasoning,omitempty"`
		Data      *logData          `json:"data,omitempty"`
		Seq       harness.Seq       `json:"seq"`
	}
	itemCompleted struct {
		ItemID   harness.ItemID    `json:"itemId"`
		ThreadID harness.SessionID `json:"threadId"`
		TurnID   harness.TurnID    `json:"turnId"`
		Type     string            `json:"type" rule:"words=user_message|assistant_message|tool_exec|tool_log|approval|artifact"`
		Data     any               `json:"data,omitempty"`
		Seq      harness.Seq       `json:"seq"`
	}
	approvalRequested struct {
		RequestID  harness.ApprovalID `json:"requestId"`
		ThreadID   harness.SessionID  `json:"threadId"`
		TurnID     harness.TurnID     `json:"turnId"`
		ItemID     harness.ItemID     `json:"itemId"`
		Permission string             `json:"permission"`
		Patterns   []string           `json:"patterns"`
		Metadata   approvalMeta       `json:"metadata"`
		Tool       approvalTool       `json:"tool"`
		Seq        harness.Seq        `json:"seq"`
	}
)

// usage is what a turn cost; costUsd is null if the price is unknown.
type usage struct {
	InputTokens  int64    `json:"inputTokens"`
	OutputTokens int64    `json:"outputTokens"`
	CachedTokens int64    `json:"cachedTokens,omitempty"`
	CostUSD      *float64 `json:"costUsd"`
	ContextPct   *float64 `json:"contextPct,omitempty"`
	Model        string   `json:"model,omitempty"`
}

func asParts(list []harness.Part) []part {
	parts := []part{}
	for _, p := range list {
		parts = append(parts, part{p.Type, p.Text, p.URL, p.Path, p.MediaType})
	}
	return parts
}

// The data of items, by their type.
type (
	userData struct {
		Parts  []part         `json:"parts"`
		Source harness.Source `json:"source,omitempty"`
	}
	part struct {
		Type string `json:"type" rule:"words=text|file"`
		Text string `json:"text,omitempty"`
		URL  string `json:"url,omitempty"`
		Path string `json:"path,omitempty"`
		Mime string `json:"mime,omitempty"`
	}
	artifactData struct {
		ArtifactID   string          `json:"artifactId"`
		ArtifactType string          `json:"artifactType"`
		Title        string          `json:"title,omitempty"`
		URI          string          `json:"uri,omitempty"`
		Size         int64           `json:"size,omitempty"`
		SHA256       string          `json:"sha256,omitempty"`
		Metadata     json.RawMessage `json:"metadata,omitempty"`
	}
	assistantData struct {
		Text       string `json:"text"`
		Reasoning  string `json:"reasoning,omitempty"`
		StopReason string `json:"stopReason,omitempty"`
	}
	toolData struct {
		CallID     harness.CallID  `json:"callId"`
		Tool       string          `json:"tool"`
		Input      json.RawMessage `json:"input,omitempty"`
		Status     string          `json:"status" rule:"words=pending|running|ok|error|timeout|denied|artifact"`
		Output     *string         `json:"output,omitempty"`
		Error      string          `json:"error,omitempty"`
		Reason     string          `json:"reason,omitempty"`
		ArtifactID string          `json:"artifactId,omitempty"`
		ElapsedMS  *int64          `json:"elapsedMs,omitempty"`
	}
	logData struct {
		CallID harness.CallID `json:"callId"`
		Tool   string         `json:"tool"`
		Stream string         `json:"stream,omitempty"`
	}
	approvalData struct {
		RequestID   harness.ApprovalID `json:"requestId"`
		CallID      harness.CallID     `json:"callId"`
		Tool        string             `json:"tool"`
		Description string             `json:"description,omitempty"`
		Input       json.RawMessage    `json:"input,omitempty"`
		Reason      string             `json:"reason,omitempty"`
		Redacted    bool               `json:"redacted,omitempty"` // a part of it is not shown: it can be allowed once only
	}
	replyData struct {
		RequestID harness.ApprovalID `json:"requestId"`
		Reply     string             `json:"reply" rule:"words=once|always|reject"`
		Decision  harness.Verdict    `json:"decision"`
		Scope     harness.Scope      `json:"scope,omitempty"`
		Reason    string             `json:"reason,omitempty"`
		Source    harness.Decider    `json:"source"`
		RuleID    harness.RuleID     `json:"ruleId,omitempty"`
	}
	approvalMeta struct {
		Description string          `json:"description,omitempty"`
		Reason      string          `json:"reason,omitempty"`
		Input       json.RawMessage `json:"input,omitempty"`
		Redacted    bool            `json:"redacted,omitempty"` // a part of it is not shown: it can be allowed once only
	}
	approvalTool struct {
		CallID harness.CallID `json:"callId"`
		Name   string         `json:"name"`
	}
)
