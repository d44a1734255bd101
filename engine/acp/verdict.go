package acp

import (
	"encoding/json"
	"errors"
	"fmt"

	"harness/engine/internal/talk"
)

// judge reads how the agent's turn ended, and says whether that was well. Why an
// agent fails it does not say in a way that others can go by, so nothing is
// taken for temporary.
func (p *promptAnswer) judge(m *talk.Message) error {
	if m.Error != nil {
		return m.Error
	}
	if err := json.Unmarshal(m.Result, p); err != nil {
		return fmt.Errorf("an answer to the prompt that cannot be read: %w", err)
	}
	switch p.Stop {
	case "max_turn_requests":
		return errors.New("the turn reached the agent's limit of requests")
	case "cancelled":
		return errors.New("the agent cancelled the turn")
	}
	return nil
}
