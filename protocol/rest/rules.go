package rest

import (
	"context"
	"net/http"
	"time"

	"harness"
)

type (
	ruleQuery struct {
		Directory string `json:"directory" rule:"max=4096"`
		Limit     int64  `json:"limit" rule:"min=1 max=1000"`
		Cursor    string `json:"cursor" rule:"id"` // the last rule of the page before
	}
	rulePage struct {
		Rules []rule `json:"rules"`
		Next  string `json:"next_cursor,omitempty"`
	}
	// rule is a standing allowance that an answer with scope always left behind.
	rule struct {
		RuleID    harness.RuleID     `json:"rule_id"`
		Directory string             `json:"directory"`
		ToolName  string             `json:"tool_name"`
		Pattern   string             `json:"pattern,omitempty"` // which calls of it; every one if it is left out
		SessionID harness.SessionID  `json:"session_id"`
		RequestID harness.ApprovalID `json:"request_id"`
		Actor     string             `json:"actor,omitempty"`
		CreatedAt time.Time          `json:"created_at"`
	}
	onRule struct {
		RuleID harness.RuleID `json:"rule_id" rule:"required id"`
	}
)

// listRules is a page of the rules that stand, oldest first. A cursor whose
// rule was revoked meanwhile is refused: the list has to be read again.
func (s *Server) listRules(ctx context.Context, p *ruleQuery) (rulePage, error) {
	page, limit := rulePage{Rules: []rule{}}, pageLimit(p.Limit)
	after := harness.RuleID(p.Cursor)
	for r, err := range s.k.Rules(ctx, p.Directory) {
		switch {
		case err != nil:
			return rulePage{}, err
		case after != "":
			if r.ID == after {
				after = ""
			}
		case len(page.Rules) == limit:
			page.Next = string(page.Rules[limit-1].RuleID)
			return page, nil
		default:
			page.Rules = append(page.Rules, rule{r.ID, r.Directory, r.Tool, r.Pattern, r.Session, r.Request, r.Actor, r.Created})
		}
	}
	if after != "" {
		return rulePage{}, badField("cursor", "names a rule that does not stand")
	}
	return page, nil
}

func (s *Server) revokeRule(w http.ResponseWriter, r *http.Request, p *onRule, _ *none) error {
	if err := s.k.Revoke(r.Context(), p.RuleID); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
