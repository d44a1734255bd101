package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"harness"
)

// servedRules is the rules of a running server, over S4.
type servedRules struct {
	conn    *rpcConn
	answers *json.Decoder
	calls   int
}

func (s *servedRules) Close() error { return s.conn.Close() }

// call asks one thing and waits for its answer.
func (s *servedRules) call(ctx context.Context, method string, params, into any) error {
	defer context.AfterFunc(ctx, func() { s.conn.Close() })()
	s.calls++
	if err := json.NewEncoder(s.conn).Encode(map[string]any{"jsonrpc": "2.0", "id": s.calls, "method": method, "params": params}); err != nil {
		return err
	}
	for {
		var m message
		if err := s.answers.Decode(&m); err != nil {
			return fmt.Errorf("the server ended the connection: %w", err)
		}
		switch {
		case m.ID == nil || *m.ID != s.calls:
		case m.Error != nil && m.Error.Data.Code == harness.ErrNotFound.Code:
			return fmt.Errorf("%s: %w", m.Error.Message, harness.ErrNotFound)
		case m.Error != nil:
			return m.Error
		default:
			return json.Unmarshal(m.Result, into)
		}
	}
}

// Rules implements [harness.Rulebook].
func (s *servedRules) Rules(ctx context.Context, directory string) iter.Seq2[harness.Rule, error] {
	return func(yield func(harness.Rule, error) bool) {
		var list struct {
			Rules []struct {
				RuleID    harness.RuleID
				Directory string
				Tool      string
				Pattern   string
				ThreadID  harness.SessionID
				RequestID harness.ApprovalID
				Actor     string
				Created   int64
			}
		}
		if err := s.call(ctx, "rule.list", map[string]any{"directory": directory}, &list); err != nil {
			yield(harness.Rule{}, err)
			return
		}
		for _, r := range list.Rules {
			rule := harness.Rule{
				ID: r.RuleID, Directory: r.Directory, Tool: r.Tool, Pattern: r.Pattern, Session: r.ThreadID, Request: r.RequestID, Actor: r.Actor,
				Created: time.UnixMilli(r.Created).UTC(),
			}
			if !yield(rule, nil) {
				return
			}
		}
	}
}

// RevokeRule implements [harness.Rulebook].
func (s *servedRules) RevokeRule(ctx context.Context, id harness.RuleID) error {
	return s.call(ctx, "rule.revoke", map[string]any{"ruleId": id}, new(struct{}))
}
