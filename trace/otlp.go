package trace

import (
	"strings"
	"time"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	otlp "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Encode is the body of an OTLP request: spans of a service of a version.
func Encode(service, version string, spans []Span) ([]byte, error) {
	list := make([]*otlp.Span, 0, len(spans))
	for i := range spans {
		list = append(list, encodeSpan(&spans[i]))
	}
	return proto.Marshal(&otlp.TracesData{ResourceSpans: []*otlp.ResourceSpans{{ // the same bytes as ExportTraceServiceRequest
		Resource:   &resource.Resource{Attributes: attributes([]Attribute{{"service.name", service}, {"service.version", version}})},
		ScopeSpans: []*otlp.ScopeSpans{{Scope: &common.InstrumentationScope{Name: "harness/trace", Version: version}, Spans: list}},
	}}})
}

func encodeSpan(s *Span) *otlp.Span {
	out := &otlp.Span{
		TraceId: s.Trace[:], SpanId: s.ID[:], Name: text(s.Name), Kind: otlp.Span_SPAN_KIND_INTERNAL,
		StartTimeUnixNano: nano(s.Start), EndTimeUnixNano: max(nano(s.Start), nano(s.End)), Attributes: attributes(s.Attributes),
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
		out.Attributes = append(out.Attributes, attributes([]Attribute{{"error.type", s.Error}})...)
	}
	for _, m := range s.Moments {
		out.Events = append(out.Events, &otlp.Span_Event{TimeUnixNano: nano(m.Time), Name: m.Name, Attributes: attributes(m.Attributes)})
	}
	return out
}

func nano(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(max(0, t.UnixNano()))
}

func attributes(list []Attribute) (out []*common.KeyValue) {
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
