package rpc

import (
	"encoding/json"

	"harness"
)

// The shapes of S4. Fields that S4 does not name are additive.

type thread4 struct {
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

func asThread(s harness.Summary) thread4 {
	return thread4{s.Session, s.Title, s.Directory, threadTime{s.Created.UnixMilli(), s.Updated.UnixMilli()}, s.Status, s.Seq, s.Parent}
}

type turnTime struct {
	Started   int64  `json:"started"`
	Completed *int64 `json:"completed,omitempty"`
}

type item4 struct {
	ItemID   harness.ItemID    `json:"itemId"`
	ThreadID harness.SessionID `json:"threadId"`
	TurnID   harness.TurnID    `json:"turnId"`
	Type     string            `json:"type"`
	Data     any               `json:"data,omitempty"`
}

type (
	threadCreated struct {
		ThreadID harness.SessionID `json:"threadId"`
		Title    string            `json:"title"`
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
		Status   string            `json:"status"`
		Error    string            `json:"error,omitempty"`
		Reason   string            `json:"reason,omitempty"`
		Time     turnTime          `json:"time"`
		Usage    *harness.Usage    `json:"usage,omitempty"`
		Seq      harness.Seq       `json:"seq"`
	}
	itemStarted struct {
		Item item4       `json:"item"`
		Seq  harness.Seq `json:"seq"`
	}
	itemDelta struct {
		ItemID    harness.ItemID    `json:"itemId"`
		ThreadID  harness.SessionID `json:"threadId"`
		TurnID    harness.TurnID    `json:"turnId"`
		Type      string            `json:"type"`
		Delta     string            `json:"delta"`
		Reasoning bool              `json:"reasoning,omitempty"`
		Data      *logData          `json:"data,omitempty"`
		Seq       harness.Seq       `json:"seq"`
	}
	itemCompleted struct {
		ItemID   harness.ItemID    `json:"itemId"`
		ThreadID harness.SessionID `json:"threadId"`
		TurnID   harness.TurnID    `json:"turnId"`
		Type     string            `json:"type"`
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

type (
	userData struct {
		Parts  []harness.Part `json:"parts"`
		Source harness.Source `json:"source,omitempty"`
	}
	textData struct {
		Text       string `json:"text"`
		StopReason string `json:"stopReason,omitempty"`
	}
	toolData struct {
		CallID     harness.CallID  `json:"callId"`
		Tool       string          `json:"tool"`
		Input      json.RawMessage `json:"input,omitempty"`
		Status     string          `json:"status"`
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
	}
	replyData struct {
		RequestID harness.ApprovalID `json:"requestId"`
		Reply     string             `json:"reply"`
		Decision  harness.Verdict    `json:"decision"`
		Scope     harness.Scope      `json:"scope,omitempty"`
		Reason    string             `json:"reason,omitempty"`
		Source    harness.Decider    `json:"source"`
	}
	approvalMeta struct {
		Description string          `json:"description,omitempty"`
		Reason      string          `json:"reason,omitempty"`
		Input       json.RawMessage `json:"input,omitempty"`
	}
	approvalTool struct {
		CallID harness.CallID `json:"callId"`
		Name   string         `json:"name"`
	}
)
