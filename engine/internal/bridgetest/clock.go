package bridgetest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"harness"
	"harness/engine/enginetest"
)

// deltas is how many pieces an answer of a clock has, gap the time between them.
const (
	deltas = 200
	gap    = 3 * time.Millisecond
)

// Clock is a model that says what time it is, piece by piece, in the words of
// Anthropic's Messages and OpenAI's Responses and Chat Completions.
func Clock(tb testing.TB) (url string) {
	tb.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		send := func(kind, data string) {
			if kind != "" {
				fmt.Fprintf(w, "event: %s\n", kind)
			}
			fmt.Fprintf(w, "data: %s\n\n", data)
			w.(http.Flusher).Flush()
		}
		switch {
		case strings.HasSuffix(r.URL.Path, "/messages"):
			converse(send)
		case strings.HasSuffix(r.URL.Path, "/responses"):
			respond(send)
		case strings.HasSuffix(r.URL.Path, "/chat/completions"):
			chat(send)
		default:
			http.NotFound(w, r)
		}
	}))
	tb.Cleanup(s.Close)
	return s.URL
}

func converse(send func(kind, data string)) {
	tell := func(kind, rest string) { send(kind, fmt.Sprintf(`{"type":%q%s}`, kind, rest)) }
	tell("message_start", `,"message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`)
	tell("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`)
	tick(func(now string) {
		tell("content_block_delta", fmt.Sprintf(`,"index":0,"delta":{"type":"text_delta","text":%q}`, now))
	})
	tell("content_block_stop", `,"index":0`)
	tell("message_delta", `,"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":9}`)
	tell("message_stop", "")
}

func respond(send func(kind, data string)) {
	tell := func(kind, rest string) { send(kind, fmt.Sprintf(`{"type":%q%s}`, kind, rest)) }
	tell("response.created", `,"response":{"id":"resp_1"}`)
	tell("response.output_item.added", `,"output_index":0,"item":{"type":"message","id":"msg_1","role":"assistant","content":[]}`)
	all := strings.Builder{}
	tick(func(now string) {
		all.WriteString(now)
		tell("response.output_text.delta", fmt.Sprintf(`,"item_id":"msg_1","output_index":0,"content_index":0,"delta":%q`, now))
	})
	tell("response.output_item.done", fmt.Sprintf(`,"output_index":0,"item":{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":%q}]}`, all.String()))
	tell("response.completed", `,"response":{"id":"resp_1","usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}`)
}

func chat(send func(kind, data string)) {
	piece := func(delta, reason string) {
		send("", fmt.Sprintf(`{"id":"c","object":"chat.completion.chunk","created":1,"model":"mock","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`, delta, reason))
	}
	piece(`{"role":"assistant","content":""}`, "null")
	tick(func(now string) { piece(fmt.Sprintf(`{"content":%q}`, now), "null") })
	piece("{}", `"stop"`)
	send("", "[DONE]")
}

func tick(say func(string)) {
	t := time.NewTicker(gap)
	defer t.Stop()
	for range deltas {
		<-t.C
		say(strconv.FormatInt(time.Now().UnixNano(), 10) + " ")
	}
}

// Median is the middle of some times, in milliseconds.
func Median(all []time.Duration) float64 {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return float64(all[len(all)/2].Microseconds()) / 1000
}

// Timed is a host that notes when pieces of a clock's answer are emitted.
type Timed struct {
	*enginetest.Host
	At    map[string]time.Time
	First time.Time
}

// Emit notes the time at which the host has taken text.
func (h *Timed) Emit(ctx context.Context, p harness.Payload) error {
	err := h.Host.Emit(ctx, p)
	if t, ok := p.(*harness.Token); ok {
		now := time.Now()
		if h.First.IsZero() {
			h.First = now
		}
		for _, text := range piece.FindAllString(t.Text, -1) {
			h.At[text] = now
		}
	}
	return err
}

// Resident is the memory of processes in MB, but for what watches one.
func Resident(pids []int) (mb float64) {
	for _, pid := range pids {
		if e, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err == nil && slices.Contains(strings.Split(string(e), "\x00"), "HARNESS_TEST_ROLE=tap") {
			continue
		}
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); len(f) == 3 && f[0] == "VmRSS:" {
				if kb, err := strconv.Atoi(f[1]); err == nil {
					mb += float64(kb) / 1024
				}
			}
		}
	}
	return mb
}
