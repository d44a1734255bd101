package codex

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"harness"
)

// judge says whether a turn of the program ended well.
func (t *turnNotice) judge() error {
	switch t.Turn.Status {
	case "completed":
		return nil
	case "failed":
		if t.Turn.Error == nil {
			return errors.New("the turn failed")
		}
		return t.Turn.Error.judge()
	}
	return fmt.Errorf("the turn ended as %s", t.Turn.Status)
}

// passing are failures that may be gone later. The program has tried again by
// itself.
var passing = map[string]bool{
	"serverOverloaded": true, "rateLimitExceeded": true, "internalServerError": true, "flexUnavailable": true, "policyCapacityUnavailable": true,
	"responseStreamConnectionFailed": true, "responseStreamDisconnected": true, "responseTooManyFailedAttempts": true, "httpConnectionFailed": true,
}

func (f *failed) judge() error {
	kind, status := f.kind()
	err := errors.New(f.Message)
	if f.Details != "" {
		err = fmt.Errorf("%s: %s", f.Message, f.Details)
	}
	if status >= 400 && status < 500 && status != 408 && status != 429 {
		return err
	}
	if passing[kind] || kind == "other" && strings.HasPrefix(f.Message, "stream disconnected") {
		return fmt.Errorf("%w: %w", err, harness.ErrRetry)
	}
	return err
}

// kind is what the program takes a failure for, and the status of its server's
// answer, if it says.
func (f *failed) kind() (name string, status int) {
	if json.Unmarshal(f.Info, &name) == nil {
		return name, 0
	}
	var detailed map[string]struct {
		Status int `json:"httpStatusCode"`
	}
	_ = json.Unmarshal(f.Info, &detailed) // one that says nothing
	for name, d := range detailed {
		return name, d.Status
	}
	return "", 0
}
