package claude

import (
	"errors"
	"fmt"
	"strings"

	"harness"
)

// judge says whether a turn of the program ended well. terminal_reason counts
// first, is_error second; subtype says success for a refused request.
func (m *result) judge() error {
	switch m.TerminalReason {
	case "api_error":
		return m.apiError()
	case "max_turns":
		return errors.New("the turn reached the limit of max_turns")
	case "budget_exhausted":
		return errors.New("the turn has used up its budget")
	case "aborted_streaming", "aborted_tools":
		if m.IsError {
			return errors.New("the turn was interrupted")
		}
	}
	if !m.IsError {
		return nil
	}
	return errors.New(m.words())
}

// apiError is a failure of the model's server. The program has tried again by
// itself; later may be better, if the request was not at fault.
func (m *result) apiError() error {
	switch s := m.APIErrorStatus; {
	case s == 0, s == 408, s == 409, s == 429, s >= 500:
		return fmt.Errorf("%s: %w", m.words(), harness.ErrRetry)
	}
	return errors.New(m.words())
}

// lost reports whether a process that was to go on with a session ended its
// first turn because it has none.
func (m *result) lost() bool { return m.IsError && m.TerminalReason == "" && m.Result == "" }

// words is what the program says went wrong.
func (m *result) words() string {
	s := m.Result
	if s == "" {
		s = strings.Join(m.Errors, "; ")
	}
	if s == "" {
		s = strings.TrimSpace("the turn failed: " + m.Subtype + " " + m.TerminalReason)
	}
	return s
}
