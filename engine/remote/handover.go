package remote

import (
	"encoding/json"
	"fmt"
	"io"

	"harness"
)

// Handover is what a local runner is told on its standard input before it does
// anything, because neither a command line nor an environment keeps a secret.
type Handover struct {
	Token   string            `json:"token"`             // what its callers bring
	Keys    map[string]string `json:"keys,omitempty"`    // of its engine, by the variables that usually hold them
	Custody string            `json:"custody,omitempty"` // the book of its processes
	Data    string            `json:"data,omitempty"`    // where what outlives a session is kept
}

// maxHandover bounds it: a few keys.
const maxHandover = 1 << 20

// Ready is what a runner prints when it listens.
const Ready = "ready\n"

// ReadHandover waits for it. A server that died before it wrote it leaves
// nothing to read, and the runner must end.
func ReadHandover(r io.Reader) (Handover, error) {
	var h Handover
	b, err := io.ReadAll(io.LimitReader(r, maxHandover))
	if err == nil {
		err = json.Unmarshal(b, &h)
	}
	if err != nil || h.Token == "" {
		return h, fmt.Errorf("nothing was handed over: %w", harness.ErrInvalid)
	}
	return h, nil
}
