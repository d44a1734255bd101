package health

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Essence is what a snapshot says, without the place and the time that it says
// it of: two snapshots with the same essence look the same to an operator.
func (s Snapshot) Essence() []byte {
	s.Seq, s.AsOf = 0, time.Time{}
	s.Liveness.LastEventAt, s.Liveness.LastProgressAt, s.Liveness.SilentMS = time.Time{}, nil, 0
	return s.JSON()
}

// JSON is the snapshot, the same bytes for the same log.
func (s Snapshot) JSON() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(fmt.Sprintf("health: encode a snapshot of %s at %d: %v", s.SessionID, s.Seq, err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
