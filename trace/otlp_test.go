package trace_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	otlp "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"harness/trace"
)

// TestSpansAreWrittenAsTheLibraryWritesThem: byte for byte.
func TestSpansAreWrittenAsTheLibraryWritesThem(t *testing.T) {
	t.Parallel()
	when := time.Unix(1_700_000_000, 123)
	for _, spans := range [][]trace.Span{
		nil,
		{{}},
		{{Trace: [16]byte{1}, ID: [8]byte{2}, Name: "turn", Start: when, End: when.Add(time.Second)}},
		{{
			Trace: [16]byte{15: 1}, ID: [8]byte{7: 2}, Parent: [8]byte{3}, Name: "bad \xff text", Client: true, Start: when, End: when.Add(-time.Hour), Error: "timeout",
			Attributes: []trace.Attribute{{"a", "text"}, {"b", ""}, {"c", int64(-7)}, {"d", int64(0)}, {"e", 1.5}, {"f", 0.0}, {"", "no key"}, {"long", string(bytes.Repeat([]byte("x"), 300))}},
			Moments:    []trace.Moment{{Name: "first", Time: when}, {Attributes: []trace.Attribute{{"n", int64(1 << 40)}}}},
		}, {Name: "another"}},
	} {
		want, err := proto.MarshalOptions{Deterministic: true}.Marshal(asTheLibraryHasIt("harness", "1.2", spans))
		if err != nil {
			t.Fatal(err)
		}
		if got := trace.Encode("harness", "1.2", spans); !bytes.Equal(got, want) {
			t.Errorf("%+v:\n%x, want\n%x", spans, got, want)
		}
	}
}

func asTheLibraryHasIt(service, version string, spans []trace.Span) *otlp.TracesData {
	list := make([]*otlp.Span, 0, len(spans))
	for i := range spans {
		list = append(list, librarySpan(&spans[i]))
	}
	return &otlp.TracesData{ResourceSpans: []*otlp.ResourceSpans{{ // the same bytes as ExportTraceServiceRequest
		Resource:   &resource.Resource{Attributes: libraryFacts([]trace.Attribute{{"service.name", service}, {"service.version", version}})},
		ScopeSpans: []*otlp.ScopeSpans{{Scope: &common.InstrumentationScope{Name: "harness/trace", Version: version}, Spans: list}},
	}}}
}
func librarySpan(s *trace.Span) *otlp.Span {
	out := &otlp.Span{
		TraceId: s.Trace[:], SpanId: s.ID[:], Name: text(s.Name), Kind: otlp.Span_SPAN_KIND_INTERNAL,
		StartTimeUnixNano: nano(s.Start), EndTimeUnixNano: max(nano(s.Start), nano(s.End)), Attributes: libraryFacts(s.Attributes),
		Status: &otlp.Status{},
	}
	if s.Parent != [8]byte{} {
		out.ParentSpanId = s.Parent[:]
	}
	if s.Client {
		out.Kind = otlp.Span_SPAN_KIND_CLIENT
	}
	if s.Error != "" {
		out.Status = &otlp.Status{Code: otlp.Status_STATUS_CODE_ERROR, Message: text(s.Error)}
		out.Attributes = append(out.Attributes, libraryFacts([]trace.Attribute{{"error.type", s.Error}})...)
	}
	for _, m := range s.Moments {
		out.Events = append(out.Events, &otlp.Span_Event{TimeUnixNano: nano(m.Time), Name: m.Name, Attributes: libraryFacts(m.Attributes)})
	}
	return out
}

func nano(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(max(0, t.UnixNano()))
}

func libraryFacts(list []trace.Attribute) (out []*common.KeyValue) {
	for _, a := range list {
		v := &common.AnyValue{}
		switch x := a.Value.(type) {
		case string:
			v.Value = &common.AnyValue_StringValue{StringValue: text(x)}
		case int64:
			v.Value = &common.AnyValue_IntValue{IntValue: x}
		case float64:
			v.Value = &common.AnyValue_DoubleValue{DoubleValue: x}
		}
		out = append(out, &common.KeyValue{Key: a.Key, Value: v})
	}
	return out
}

// text is a text as protobuf takes it.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
