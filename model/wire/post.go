package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// NewRequest is a POST of body as JSON, as it is written: equal values become
// equal bytes.
func NewRequest(ctx context.Context, provider, url, accept string, body any) (*http.Request, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, &b)
	if err != nil {
		return nil, fmt.Errorf("address of %s: %w", provider, err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", accept)
	r.Header.Set("User-Agent", "harness")
	return r, nil
}

// What is asked for.
const (
	WantEvents = "text/event-stream"
	WantJSON   = "application/json"
)
