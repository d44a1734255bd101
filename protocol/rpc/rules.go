package rpc

import (
	"context"
	"errors"

	"harness"
)

type (
	ruleListParams struct {
		Directory string `json:"directory" rule:"max=4096"`
	}
	ruleListResult struct {
		Rules []rule `json:"rules"`
	}
	rule struct {
		RuleID    harness.RuleID     `json:"ruleId"`
		Directory string             `json:"directory"`
		Tool      string             `json:"tool"`
		Pattern   string             `json:"pattern,omitempty"` // which calls of it; every one if it is left out
		ThreadID  harness.SessionID  `json:"threadId"`
		RequestID harness.ApprovalID `json:"requestId"`
		Actor     string             `json:"actor,omitempty"`
		Created   int64              `json:"created"`
	}
	ruleRevokeParams struct {
		RuleID harness.RuleID `json:"ruleId" rule:"required id"`
	}
)

// ruleList answers with what "always" stands for, oldest first. A client that is
// somebody sees what that one has decided.
func (c *conn) ruleList(ctx context.Context, _ *exchange, p *ruleListParams) (ruleListResult, error) {
	list := ruleListResult{[]rule{}}
	for r, err := range c.k.Rules(ctx, p.Directory) {
		if err != nil {
			return ruleListResult{}, err
		}
		if c.opts.User == "" || r.Actor == c.opts.User {
			list.Rules = append(list.Rules, rule{r.ID, r.Directory, r.Tool, r.Pattern, r.Session, r.Request, r.Actor, r.Created.UnixMilli()})
		}
	}
	return list, nil
}

// ruleRevoke ends a rule that ruleList shows.
func (c *conn) ruleRevoke(ctx context.Context, _ *exchange, p *ruleRevokeParams) (okResult, error) {
	none := &rpcError{Code: codeInvalidParams, Message: "ruleId: no such rule", Data: &errorData{Code: harness.ErrNotFound.Code, Field: "ruleId"}}
	if c.opts.User != "" {
		mine := false
		for r, err := range c.k.Rules(ctx, "") {
			if err != nil {
				return okResult{}, err
			}
			mine = mine || r.ID == p.RuleID && r.Actor == c.opts.User
		}
		if !mine {
			return okResult{}, none
		}
	}
	if err := c.k.Revoke(ctx, p.RuleID); errors.Is(err, harness.ErrNotFound) {
		return okResult{}, none
	} else if err != nil {
		return okResult{}, err
	}
	return okResult{true}, nil
}
