package notify

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"harness"
)

// Hook is somebody to tell: a URL, or a command.
type Hook struct {
	Name    string         `json:"name"`
	URL     string         `json:"url,omitempty"`
	Command []string       `json:"command,omitempty"`
	Secret  string         `json:"secret,omitempty"`  // of a URL: signs what is sent; see [Sign]
	On      []Kind         `json:"on,omitempty"`      // none: the usual ones
	Only    []harness.Kind `json:"only,omitempty"`    // of sessions; none: of every kind
	User    string         `json:"user,omitempty"`    // whose sessions; empty: everybody's
	Private bool           `json:"private,omitempty"` // the URL may be at an address that is not public
	Actor   string         `json:"actor,omitempty"`   // who made it
	Created time.Time      `json:"created,omitzero"`
}

// MaxURL bounds an address, and a command with its arguments.
const MaxURL = 4096

// Check refuses a hook that could never be told anything.
func (h Hook) Check() error {
	if err := harness.CheckID("name of the hook", h.Name); err != nil {
		return err
	}
	for _, k := range h.On {
		if err := checkKind(k); err != nil {
			return fmt.Errorf("hook %s: %w", h.Name, err)
		}
	}
	for _, k := range h.Only {
		if k != harness.Chat && k != harness.Background {
			return fmt.Errorf("hook %s: kind %q is neither chat nor background: %w", h.Name, k, harness.ErrInvalid)
		}
	}
	switch {
	case (h.URL == "") == (len(h.Command) == 0):
		return fmt.Errorf("hook %s: it has a url or a command: %w", h.Name, harness.ErrInvalid)
	case len(h.Command) > 0:
		if h.Command[0] == "" || len(strings.Join(h.Command, " ")) > MaxURL || h.Secret != "" || h.Private {
			return fmt.Errorf("hook %s: a command is a program and its arguments, without a secret or addresses: %w", h.Name, harness.ErrInvalid)
		}
		return nil
	}
	u, err := url.Parse(h.URL)
	if err != nil || len(h.URL) > MaxURL || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return fmt.Errorf("hook %s: a url begins with https:// or http:// and has no password: %w", h.Name, harness.ErrInvalid)
	}
	if _, err := key(h.Secret); err != nil {
		return fmt.Errorf("hook %s: %w", h.Name, err)
	}
	return nil
}

// Wants reports whether the hook is told of a notice about a session. Of one
// that does another's task, only what a person must decide is told: the rest is
// the other's business.
func (h Hook) Wants(n Notice, s harness.Summary) bool {
	if s.SpawnedBy != "" && n.Kind != NeedsApproval {
		return false
	}
	on := h.On
	if len(on) == 0 {
		on = Usual()
	}
	return slices.Contains(on, n.Kind) && (h.User == "" || h.User == s.User) && (len(h.Only) == 0 || slices.Contains(h.Only, s.Kind))
}
