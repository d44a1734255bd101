package jsonl

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"harness"
)

// schema is the form of meta.json and of the log beside it.
const schema = 1

// meta is meta.json: S4's Thread, what lists show besides, and up to where the
// log is known.
type meta struct {
	Thread    harness.SessionID `json:"threadId"`
	Title     string            `json:"title"`
	Directory string            `json:"directory"`
	Created   int64             `json:"created"` // milliseconds, as in S4
	Updated   int64             `json:"updated"`
	Kind      harness.Kind      `json:"kind"`
	Schema    int               `json:"schema"`

	Status   harness.Status    `json:"status"`
	Reason   string            `json:"reason,omitempty"`
	User     string            `json:"user,omitempty"`
	Engine   string            `json:"engine,omitempty"`
	Parent   harness.SessionID `json:"parent,omitempty"`
	Branched string            `json:"branchedAt,omitempty"`
	Cursor   string            `json:"branchCursor,omitempty"`
	Messages int               `json:"messages"`
	Pending  int               `json:"pendingApprovals,omitempty"`
	Bytes    int64             `json:"bytes,omitempty"`
	Score    int               `json:"healthScore,omitempty"`
	Grade    string            `json:"healthGrade,omitempty"`
	Stuck    bool              `json:"stuck,omitempty"`
	CostUSD  float64           `json:"costUsd,omitempty"`
	Spent    []harness.Day     `json:"spent,omitempty"`
	Changes  harness.Changes   `json:"changes,omitzero"`

	SpawnedBy  harness.SessionID `json:"spawnedBy,omitempty"`
	Attempts   int               `json:"attempts,omitempty"`
	MaxRetries int               `json:"maxRetries,omitempty"`
	Queued     time.Time         `json:"queuedAt,omitzero"`
	Retry      time.Time         `json:"retryAt,omitzero"`
	Started    time.Time         `json:"startedAt,omitzero"`
	Ended      time.Time         `json:"endedAt,omitzero"`
	Expires    time.Time         `json:"expiresAt,omitzero"`

	From *origin     `json:"from,omitempty"`
	Seq  harness.Seq `json:"seq"`  // the log's last event when this was written
	Size int64       `json:"size"` // and its length
}

// origin is where a branch's history continues.
type origin struct {
	Thread harness.SessionID `json:"threadId"`
	Seq    harness.Seq       `json:"seq"`
}

func newMeta(r harness.Summary, from *harness.Branch, known place) meta {
	m := meta{
		Thread: r.Session, Title: r.Title, Directory: r.Directory, Created: r.Created.UnixMilli(), Updated: r.Updated.UnixMilli(), Kind: r.Kind, Schema: schema,
		Status: r.Status, Reason: r.Reason, User: r.User, Engine: r.Engine, Parent: r.Parent, Branched: r.Branched, Cursor: r.Cursor,
		Messages: r.Messages, Pending: r.Pending, Bytes: r.Bytes, Score: r.Score, Grade: r.Grade, Stuck: r.Stuck, CostUSD: r.CostUSD, Spent: r.Spent, Changes: r.Changes,
		Seq: known.seq, Size: known.at,
		SpawnedBy: r.SpawnedBy, Attempts: r.Attempts, MaxRetries: r.MaxRetries, Queued: r.Queued, Retry: r.Retry, Started: r.Started, Ended: r.Ended, Expires: r.Expires,
	}
	if from != nil {
		m.From = &origin{from.Session, from.Seq}
	}
	return m
}

func (m meta) row() harness.Summary {
	return harness.Summary{
		Session: m.Thread, Title: m.Title, Directory: m.Directory, Created: time.UnixMilli(m.Created).UTC(), Updated: time.UnixMilli(m.Updated).UTC(), Kind: m.Kind,
		Status: m.Status, Reason: m.Reason, User: m.User, Engine: m.Engine, Parent: m.Parent, Branched: m.Branched, Cursor: m.Cursor,
		Messages: m.Messages, Pending: m.Pending, Bytes: m.Bytes, Score: m.Score, Grade: m.Grade, Stuck: m.Stuck, CostUSD: m.CostUSD, Spent: m.Spent, Changes: m.Changes,
		Seq:       m.Seq,
		SpawnedBy: m.SpawnedBy, Attempts: m.Attempts, MaxRetries: m.MaxRetries, Queued: m.Queued, Retry: m.Retry, Started: m.Started, Ended: m.Ended, Expires: m.Expires,
	}
}

func (m meta) from() *harness.Branch {
	if m.From == nil {
		return nil
	}
	return &harness.Branch{Session: m.From.Thread, Seq: m.From.Seq}
}

func (m meta) write(dir string) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return replace(filepath.Join(dir, metaFile), data, []byte("\n"))
}

// readMeta returns nil for a file that is missing or makes no sense: it can be
// made again from the log. A newer build's is ErrUnsupported.
func readMeta(dir string) (*meta, error) {
	data, err := os.ReadFile(filepath.Join(dir, metaFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", err, harness.ErrStorage)
	}
	m := new(meta)
	if err != nil || json.Unmarshal(data, m) != nil || m.Thread == "" || m.Schema < 1 || m.Size < 0 {
		return nil, nil
	}
	if m.Schema > schema {
		return nil, fmt.Errorf("meta.json has schema %d, this build reads up to %d: %w", m.Schema, schema, harness.ErrUnsupported)
	}
	if m.From != nil && (m.From.Seq == 0 || harness.CheckID("parent", string(m.From.Thread)) != nil) {
		return nil, nil
	}
	return m, nil
}
