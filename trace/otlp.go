package trace

import (
	"strings"
	"time"
)

// Encode is the body of an OTLP request: spans of a service of a version.
func Encode(service, version string, spans []Span) []byte {
	var request message // ExportTraceServiceRequest
	request.message(1, func(m *message) {
		m.message(1, func(resource *message) {
			resource.attributes(1, []Attribute{{"service.name", service}, {"service.version", version}})
		})
		m.message(2, func(m *message) {
			m.message(1, func(scope *message) {
				scope.text(1, "harness/trace")
				scope.text(2, version)
			})
			for i := range spans {
				m.message(2, func(m *message) { m.span(&spans[i]) })
			}
		})
	})
	return request
}

// Words of OTLP that are numbers.
const (
	kindInternal = 1
	kindClient   = 3
	statusError  = 2
)

func (m *message) span(s *Span) {
	m.bytes(1, s.Trace[:])
	m.bytes(2, s.ID[:])
	if s.Parent != [8]byte{} {
		m.bytes(4, s.Parent[:])
	}
	m.text(5, s.Name)
	kind := uint64(kindInternal)
	if s.Client {
		kind = kindClient
	}
	m.varint(6, kind)
	m.fixed(7, nano(s.Start))
	m.fixed(8, max(nano(s.Start), nano(s.End)))
	m.attributes(9, s.Attributes)
	if s.Error != "" {
		m.attributes(9, []Attribute{{"error.type", s.Error}})
	}
	for _, e := range s.Moments {
		m.message(11, func(m *message) {
			m.fixed(1, nano(e.Time))
			m.text(2, e.Name)
			m.attributes(3, e.Attributes)
		})
	}
	m.message(15, func(status *message) {
		if s.Error != "" {
			status.text(2, s.Error)
			status.varint(3, statusError)
		}
	})
}

func (m *message) attributes(field int, list []Attribute) {
	for _, a := range list {
		m.message(field, func(m *message) {
			m.text(1, a.Key)
			m.message(2, func(value *message) {
				switch x := a.Value.(type) { // one of several: it is written also if it is zero
				case string:
					value.bytes(1, valid(x))
				case int64:
					value.always(3, uint64(x))
				case float64:
					value.double(4, x)
				}
			})
		})
	}
}

func nano(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(max(0, t.UnixNano()))
}

// valid is a text as protobuf takes it.
func valid(s string) []byte { return []byte(strings.ToValidUTF8(s, "\uFFFD")) }
