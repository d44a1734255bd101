package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// burstMark in a prompt makes the model answer with the burst.
const burstMark = "[[burst]]"

// serveModel is the least of the Responses API that a turn needs, on loopback.
// It answers with one word, and with the burst if the prompt asks for it; both
// were encoded before and are written as fast as they are taken.
func serveModel(tb testing.TB, tokens []string) *httptest.Server {
	tb.Helper()
	short, burst := responses([]string{"hello"}), responses(tokens)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/responses", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		stream := short
		if bytes.Contains(body, []byte(burstMark)) {
			stream = burst
		}
		w.Write(stream) // a client that hung up has said so itself
	})
	s := httptest.NewServer(mux)
	tb.Cleanup(s.Close)
	return s
}

// responses is a streamed answer of one message, a delta for each token.
func responses(tokens []string) []byte {
	var b bytes.Buffer
	event := func(kind string, fields string) {
		fmt.Fprintf(&b, "event: %s\ndata: {\"type\":%q,%s}\n\n", kind, kind, fields)
	}
	quote := func(s string) string {
		q, err := json.Marshal(s)
		if err != nil {
			panic(err) // a string
		}
		return string(q)
	}
	event("response.created", `"response":{"id":"resp_1"}`)
	event("response.output_item.added", `"output_index":0,"item":{"type":"message","id":"msg_1","role":"assistant","content":[]}`)
	for _, t := range tokens {
		event("response.output_text.delta", `"item_id":"msg_1","output_index":0,"content_index":0,"delta":`+quote(t))
	}
	event("response.output_item.done", `"item":{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":`+quote(strings.Join(tokens, ""))+`}]}`)
	event("response.completed", fmt.Sprintf(`"response":{"id":"resp_1","usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":0},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":%d}}`,
		len(tokens), 100+len(tokens)))
	return b.Bytes()
}
