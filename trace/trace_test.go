package trace_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"harness"
	"harness/engine/script"
	"harness/kernel"
	"harness/store/memory"
	"harness/trace"
)

const play = `think canary
say "canary "
call bash {"command":"canary"} => canary
usage 100 20 0.5
tool read {"path":"canary"}
outcome error 5ms canary
usage 250 50 0.75
say canary
`

// collector is an OTLP receiver: it decodes what it is sent.
func collector(t testing.TB, answers ...int) (*httptest.Server, chan *otlp.TracesData) {
	t.Helper()
	heard := make(chan *otlp.TracesData, 16) // more than any test sends
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if len(answers) > 0 {
			status := answers[0]
			answers = answers[1:]
			w.WriteHeader(status)
			return
		}
		d := new(otlp.TracesData)
		if err := proto.Unmarshal(body, d); err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" || r.Header.Get("X-Key") != "k" {
			t.Errorf("%s %v: %v", r.URL.Path, r.Header, err)
		}
		heard <- d
	}))
	t.Cleanup(s.Close)
	return s, heard
}

// run plays the script with a tracer that tells the collector at url.
func run(t testing.TB, url string, content bool) (harness.SessionID, *memory.Store) {
	t.Helper()
	parsed, err := script.Parse(play)
	if err != nil {
		t.Fatal(err)
	}
	mem := memory.New()
	k := kernel.New(mem, map[string]harness.Engine{"e": script.New(parsed, nil)}, &kernel.Options{Engine: "e"})
	t.Cleanup(func() { k.Close() })
	tr, err := trace.Open(k, url, &trace.Options{Content: content, Headers: map[string]string{"X-Key": "k"}, Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	k.OnCommit(tr.Committed)
	id, err := k.Create(t.Context(), harness.NewSession{})
	if err == nil {
		_, err = k.Do(t.Context(), id, harness.Submit{Parts: harness.TextPart("canary prompt"), Source: harness.FromTurn})
	}
	if err != nil {
		t.Fatal(err)
	}
	return id, mem
}

func next(t testing.TB, heard chan *otlp.TracesData) []*otlp.Span {
	t.Helper()
	select {
	case d := <-heard:
		return d.ResourceSpans[0].ScopeSpans[0].Spans
	case <-time.After(time.Minute):
		t.Fatal("nothing is traced")
	}
	return nil
}

func facts(list []*common.KeyValue) map[string]string {
	m := map[string]string{}
	for _, kv := range list {
		switch v := kv.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			m[kv.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			m[kv.Key] = fmt.Sprint(v.IntValue)
		case *common.AnyValue_DoubleValue:
			m[kv.Key] = fmt.Sprint(v.DoubleValue)
		}
	}
	return m
}

func TestATurnItsAnswersAndItsCallsAreSpans(t *testing.T) {
	t.Parallel()
	s, heard := collector(t)
	id, _ := run(t, s.URL, false)
	spans := next(t, heard)
	var names []string
	for i, sp := range spans {
		names = append(names, sp.Name)
		if sp.EndTimeUnixNano < sp.StartTimeUnixNano || string(sp.TraceId) != string(spans[0].TraceId) || (i == 0) != (len(sp.ParentSpanId) == 0) || i > 0 && string(sp.ParentSpanId) != string(spans[0].SpanId) {
			t.Errorf("%v", sp)
		}
	}
	if want := []string{"invoke_agent e", "execute_tool bash", "chat ", "execute_tool read", "chat "}; !slices.Equal(names, want) {
		t.Fatalf("%q", names)
	}
	for i, want := range []map[string]string{
		{"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": string(id), "gen_ai.usage.input_tokens": "250", "gen_ai.usage.output_tokens": "50", "harness.cost_usd": "0.75", "harness.turn.status": "completed"},
		{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "bash", "harness.tool.outcome": "ok"},
		{"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": "100", "gen_ai.usage.output_tokens": "20"},
		{"gen_ai.tool.name": "read", "error.type": "error"},
		{"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": "150", "gen_ai.usage.output_tokens": "30"},
	} {
		got := facts(spans[i].Attributes)
		for k, v := range want {
			if got[k] != v {
				t.Errorf("%s: %s is %q, want %q", names[i], k, got[k], v)
			}
		}
	}
	if spans[3].Status.Code != otlp.Status_STATUS_CODE_ERROR || spans[0].Status.Code == otlp.Status_STATUS_CODE_ERROR {
		t.Error("status")
	}
	if text := fmt.Sprint(spans); strings.Contains(text, "canary") {
		t.Errorf("something that was said is told: %s", text)
	}
}

func TestWhatWasSaidIsToldIfAskedFor(t *testing.T) {
	t.Parallel()
	s, heard := collector(t)
	run(t, s.URL+"/v1/traces", true)
	spans := next(t, heard)
	if got := facts(spans[0].Attributes)["gen_ai.input.messages"]; !strings.Contains(got, `"content":"canary prompt"`) {
		t.Error(got)
	}
	if got := facts(spans[1].Attributes); got["gen_ai.tool.call.arguments"] != `{"command":"canary"}` {
		t.Error(got)
	}
	if got := facts(spans[2].Attributes)["gen_ai.output.messages"]; !strings.Contains(got, `"content":"canary "`) {
		t.Error(got)
	}
}

func TestACollectorThatIsBusyIsAskedAgain(t *testing.T) {
	t.Parallel()
	s, heard := collector(t, 503)
	run(t, s.URL, false)
	next(t, heard)
}

// The same events are the same spans, ids and all, and half of them are none.
func TestSpansAreAFunctionOfTheLog(t *testing.T) {
	t.Parallel()
	s, heard := collector(t)
	id, mem := run(t, s.URL, false)
	told := next(t, heard)
	var events []harness.Event
	for e, err := range mem.Read(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	spans := trace.Of(events, false)
	if len(spans) != len(told) || string(spans[0].ID[:]) != string(told[0].SpanId) || string(spans[4].Trace[:]) != string(told[4].TraceId) {
		t.Errorf("%d spans, %d were told", len(spans), len(told))
	}
	for n := range events {
		for _, sp := range trace.Of(events[n:], false) { // from the middle: whole, or nothing
			if sp.End.Before(sp.Start) {
				t.Errorf("from %d: %+v", n, sp)
			}
		}
		if got := trace.Of(events[:n], false); len(got) > 0 && n < len(events)-2 {
			t.Errorf("%d of %d events are %d spans", n, len(events), len(got))
		}
	}
}

func TestOnlyAnAddressIsACollector(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "localhost:4318", "grpc://x:4317", "http://"} {
		if _, err := trace.Open(nil, bad, nil); harness.AsError(err) != harness.ErrInvalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// BenchmarkCommitted is what tracing adds to a commit of one word.
func BenchmarkCommitted(b *testing.B) {
	tr, err := trace.Open(nil, "http://127.0.0.1:1", nil)
	if err != nil {
		b.Fatal(err)
	}
	defer tr.Close()
	c := harness.Commit{Events: []harness.Event{harness.NewEvent("ses_1", 1, time.Now(), "trn_1", &harness.Token{Text: "word"})}}
	for b.Loop() {
		tr.Committed(c, 0, nil)
	}
}
