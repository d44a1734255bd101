package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// writeJSON answers with v.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	if v == nil {
		w.WriteHeader(status)
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encode %T: %w", v, err)
	}
	if made, ok := v.(interface{ location() string }); ok && status == http.StatusCreated {
		w.Header().Set("Location", made.location())
	}
	w.Header().Set("Content-Type", mediaJSON)
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	defer patient(w)()
	w.Write(b.Bytes()) // a client that is gone needs no answer
	return nil
}

// takesFor is how long a client may take no bytes of an answer.
const takesFor = 30 * time.Second

// patient bounds how long what is written to w may take from now on; call what
// it returns when all is written, for the connection's next request.
func patient(w http.ResponseWriter) (done func()) {
	c := http.NewResponseController(w) // one without deadlines has nobody on the other side
	c.SetWriteDeadline(time.Now().Add(takesFor))
	return func() {
		c.Flush()
		c.SetWriteDeadline(time.Time{})
	}
}

// rolling gives every write a time of its own.
type rolling struct{ http.ResponseWriter }

func (w rolling) Write(b []byte) (int, error) {
	http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(takesFor))
	return w.ResponseWriter.Write(b)
}
